import type { Archived, ArchiveRecords } from './record.ts';
import { externalIdProblem, keyProblem } from './cause.ts';
import { operationProblem, sessionProblem } from './upkeep-relations.ts';
import { ARCHIVE_SHAPES } from './shape.ts';
import { fieldProblem, type AnyField } from './field.ts';
import { hasEnded } from '../task/moves.ts';
import { isId, type IdKind } from '../../kernel/ids.ts';
import { isObject, readObject } from '../../kernel/json.ts';

/** What later records of a file are held against, of each kind. */
const FACTS = {
  conversation: ['sessionId', 'turnId', 'token', 'seq', 'fence', 'operationId'],
  session: ['firstSeq', 'endedAt', 'previousId'],
  operation: ['version', 'epoch'],
  task: ['state', 'version', 'mandateAuthority'],
  run: ['taskId'],
  turn: ['taskId', 'runId', 'state', 'firstSeq'],
  message: ['kind', 'state', 'taskId'],
  step: ['turnId', 'taskId', 'state'],
  approval: [],
  execution: [],
} as const satisfies {
  readonly [K in keyof ArchiveRecords]?: readonly (keyof ArchiveRecords[K])[];
};
type FactKind = keyof typeof FACTS;
export type Facts<K extends FactKind> = Pick<
  ArchiveRecords[K],
  (typeof FACTS)[K][number] & keyof ArchiveRecords[K]
>;

/** What is remembered of a record that stood before; undefined when there was none. */
export interface Look {
  record<K extends FactKind>(kind: K, id: string): Facts<K> | undefined;
  /** The line of a message that the host made under this name. */
  made(channel: string, externalId: string): number | undefined;
}

/** The facts of a record, as JSON; empty where none are remembered. */
export function factsOf({ kind, record }: Archived): string {
  if (!(kind in FACTS)) return '';
  const values = record as unknown as Readonly<Record<string, unknown>>;
  const names: readonly string[] = FACTS[kind as FactKind];
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])));
}

/** What `factsOf` wrote of a record of this kind. */
export function readFacts<K extends FactKind>(_kind: K, facts: string): Facts<K> {
  return JSON.parse(facts) as Facts<K>;
}

/** What of a record does not fit those that stood before it, as one sentence; undefined when all does. */
export function relationProblem(archived: Archived, look: Look): string | undefined {
  const judge = RELATIONS[archived.kind] as Relation<unknown> | undefined;
  return ofRun(archived, look) ?? judge?.(archived.record, look);
}

type Relation<R> = (record: R, look: Look) => string | undefined;

const RELATIONS: { readonly [K in keyof ArchiveRecords]?: Relation<ArchiveRecords[K]> } = {
  session: sessionProblem,
  operation: operationProblem,
  run: ({ taskId, state }, look) =>
    state === 'open' && hasEnded(look.record('task', taskId)?.state ?? 'active')
      ? 'The run is open and its task has ended.'
      : undefined,
  turn: ofTurn,
  message: ofMessage,
  step: ofStep,
  approval: ofApproval,
  outbox: keyProblem,
  receipt: ofReceipt,
};

/** Records of a run are of its task. */
function ofRun({ record }: Archived, look: Look): string | undefined {
  if (!('runId' in record) || record.runId === null || record.taskId === null) return undefined;
  const run = look.record('run', record.runId);
  return run === undefined || run.taskId === record.taskId
    ? undefined
    : `It is of the run ${record.runId}, whose task is another.`;
}

function ofTurn(turn: ArchiveRecords['turn'], look: Look): string | undefined {
  const conversation = look.record('conversation', turn.conversationId);
  if (conversation === undefined) return undefined;
  const holds = conversation.turnId === turn.id;
  if (turn.state === 'ended' && holds)
    return 'The turn has ended and its conversation still has it.';
  if (turn.state !== 'ended' && !holds) return 'The turn is open and its conversation has it not.';
  return turn.token > conversation.token
    ? `The token of the turn is above the ${conversation.token} of its conversation.`
    : undefined;
}

function ofMessage(message: ArchiveRecords['message'], look: Look): string | undefined {
  const { taskId, turnId, kind, authority } = message;
  const turn = turnId === null ? undefined : look.record('turn', turnId);
  if (turn !== undefined && turn.taskId !== taskId)
    return 'The message was claimed by a turn of another task.';
  const task = taskId === null ? undefined : look.record('task', taskId);
  if (kind !== 'generated' || task === undefined) return undefined;
  if (authority === 'admin' && task.mandateAuthority !== 'admin')
    return 'The message is generated and has more authority than the mandate of its task.';
  return externalIdProblem(message, look);
}

function ofStep(step: ArchiveRecords['step'], look: Look): string | undefined {
  const turn = look.record('turn', step.turnId);
  if (turn === undefined) return undefined;
  if (turn.taskId !== step.taskId) return 'The step is of a turn of another task.';
  if (turn.state === 'ended' && step.state === 'started')
    return 'The step is not finished and its turn has ended.';
  return step.seq <= turn.firstSeq ? 'The seq of the step is not behind its turn.' : undefined;
}

function ofApproval(approval: ArchiveRecords['approval'], look: Look): string | undefined {
  const { id, taskId, turnId, stepId, state } = approval;
  const step = look.record('step', stepId);
  if (step === undefined) return undefined;
  if (step.taskId !== taskId || step.turnId !== turnId)
    return 'The approval is of a step of another turn.';
  if (state !== 'open') return undefined;
  if (hasEnded(look.record('task', taskId)?.state ?? 'active'))
    return 'The approval is open and its task has ended.';
  const line = look.made('approval', id) ?? look.made('wake', id);
  return line === undefined
    ? undefined
    : `The approval is open and the message of line ${line} says what was answered.`;
}

const SUBJECTS = [
  'task',
  'approval',
  'execution',
  'operation',
] as const satisfies readonly (IdKind & FactKind)[];

/** What an order came to is what whoever gives it again is told. */
function ofReceipt(
  { subjectId, outcome }: ArchiveRecords['receipt'],
  look: Look,
): string | undefined {
  const kind = SUBJECTS.find((one) => isId(one, subjectId));
  if (kind === undefined) return undefined;
  if (look.record(kind, subjectId) === undefined)
    return `It is about the ${kind} ${subjectId}, which is not in the file.`;
  const { outcome: came } = readObject(outcome);
  if (!isObject(came)) return undefined;
  const shape = ARCHIVE_SHAPES[kind] as Readonly<Record<string, AnyField>>;
  for (const [name, value] of Object.entries(came)) {
    const problem = shape[name] && fieldProblem(shape[name], value);
    if (problem !== undefined) return `The ${name} in the outcome of the receipt ${problem}.`;
  }
  return undefined;
}
