// V17: what every record says of its state equals the replay of its events and step rows. It knows
// the table of a task's moves and nothing else of the product.
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type { ConversationRecord, EventRecord } from '../../src/core/session/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { dataOf, type Dump } from './dump.ts';
import { Problems } from './problems.ts';
import { compare, evidenceOf, fold, type Fold } from './replay-fold.ts';
import { fenceOf, judgeMaintenanceReplay } from './replay-maintenance.ts';
import { judgeTasks, type Given } from './replay-task.ts';

/** Where replay and record differ, each as one sentence. */
export function judgeReplay(dump: Dump, given: Given): readonly string[] {
  const problems = new Problems();
  const evidence = evidenceOf(dump);
  judgeTasks(problems, dump, { ...given, evidence });
  for (const run of dump.runs) {
    compare(problems, run, fold(evidence.ofRun.get(run.id) ?? [], FRESH_RUN, RUN_FOLD, evidence));
  }
  for (const turn of dump.turns) {
    const events = evidence.ofTurn.get(turn.id) ?? [];
    compare(problems, turn, fold(events, FRESH_TURN, TURN_FOLD, evidence));
  }
  for (const one of dump.conversations) {
    const events = evidence.ofConversation.get(one.id) ?? [];
    compare(problems, one, fold(events, FRESH_CONVERSATION, CONVERSATION_FOLD, evidence));
  }
  const decided = dump.events.filter(({ type }) => type.startsWith('approval.'));
  const ofApproval = Map.groupBy(decided, (event) => dataOf(event)['approvalId']);
  for (const approval of dump.approvals) {
    const events = ofApproval.get(approval.id) ?? [];
    compare(problems, approval, fold(events, FRESH_APPROVAL, APPROVAL_FOLD, evidence));
  }
  judgeMaintenanceReplay(problems, dump, evidence);
  judgeTries(problems, dump);
  judgeQueued(problems, dump);
  return problems.found;
}

type RunReplay = Record<'state' | 'createdAt' | 'endedAt' | 'outcomeCode' | 'outcomeId', unknown>;
const FRESH_RUN: RunReplay = {
  state: 'unmade',
  createdAt: 'never',
  endedAt: null,
  outcomeCode: null,
  outcomeId: null,
};

const endOfRun =
  (end: RunRecord['state']) =>
  (run: RunReplay, event: EventRecord): RunReplay => ({
    ...run,
    state: run.state === 'open' ? end : 'ended twice',
    endedAt: event.at,
    outcomeCode: dataOf(event)['code'] ?? null,
    outcomeId: dataOf(event)['outboxId'] ?? null,
  });

const RUN_FOLD: Fold<RunReplay> = {
  'run.queued': (run, event) => ({ ...run, state: 'open', createdAt: event.at }),
  'run.completed': endOfRun('completed'),
  'run.failed': endOfRun('failed'),
  'run.cancelled': endOfRun('cancelled'),
};

type TurnReplay = Record<
  keyof Pick<TurnRecord, 'state' | 'end' | 'token' | 'firstSeq' | 'startedAt' | 'endedAt'>,
  unknown
>;
const FRESH_TURN: TurnReplay = {
  state: 'unmade',
  end: null,
  token: 0,
  firstSeq: 0,
  startedAt: 'never',
  endedAt: null,
};

const TURN_FOLD: Fold<TurnReplay> = {
  'turn.started': (turn, event) => ({
    ...turn,
    state: 'running',
    token: dataOf(event)['token'],
    firstSeq: event.seq,
    startedAt: event.at,
  }),
  'turn.stopping': (turn) => ({ ...turn, state: 'stopping' }),
  'turn.ended': (turn, event) => ({
    ...turn,
    state: 'ended',
    end: dataOf(event)['end'],
    endedAt: event.at,
  }),
};

interface ConversationReplay {
  readonly token: number;
  readonly turnId: string | null;
  readonly model: string | null;
  readonly fence: ConversationRecord['fence'];
  readonly operationId: ConversationRecord['operationId'];
  /** The running turn's task, and whether the turn has lost its right to write. */
  readonly $taskId: string | null;
  readonly $isFenced: boolean;
}
const FRESH_CONVERSATION: ConversationReplay = {
  token: 0,
  turnId: null,
  model: null,
  fence: 'none',
  operationId: null,
  $taskId: null,
  $isFenced: false,
};

/** What changes a session takes the next token: what was kept of it in memory is past. */
const takes = (of: ConversationReplay): ConversationReplay => ({ ...of, token: of.token + 1 });

/** A claim, a stop, a pause and a takeover each take the next token. */
const CONVERSATION_FOLD: Fold<ConversationReplay> = {
  'turn.started': (of, event) => ({
    ...of,
    token: of.token + 1,
    turnId: event.turnId,
    $taskId: event.taskId,
    $isFenced: false,
  }),
  'turn.stopping': (of) => ({ ...of, token: of.token + 1, $isFenced: true }),
  'task.moved': (of, event) => {
    const isFenced = event.toState === 'paused' && event.taskId === of.$taskId;
    return isFenced ? { ...of, token: of.token + 1, $isFenced: true } : of;
  },
  'turn.ended': (of, event) => {
    const isTaken = of.$isFenced || dataOf(event)['end'] === 'interrupted';
    return {
      ...of,
      token: of.token + (isTaken ? 1 : 0),
      turnId: null,
      $taskId: null,
      $isFenced: false,
    };
  },
  'conversation.fence': fenceOf,
  'session.compacted': takes,
  'session.seeded': takes,
  'session.started': (of, event) => (dataOf(event)['previousId'] == null ? of : takes(of)),
  'conversation.model': (of, event) => ({
    ...of,
    model: (dataOf(event)['model'] ?? null) as string | null,
  }),
};

type ApprovalReplay = Record<
  keyof Pick<ApprovalRecord, 'state' | 'tool' | 'at' | 'expiresAt' | 'decidedAt'>,
  unknown
>;
const FRESH_APPROVAL: ApprovalReplay = {
  state: 'unmade',
  tool: null,
  at: 'never',
  expiresAt: 'never',
  decidedAt: null,
};

const APPROVAL_FOLD: Fold<ApprovalReplay> = {
  'approval.asked': (approval, event) => ({
    ...approval,
    state: 'open',
    tool: dataOf(event)['tool'],
    at: event.at,
    expiresAt: dataOf(event)['expiresAt'],
  }),
  'approval.decided': (approval, event) => ({
    ...approval,
    state: approval.state === 'open' ? dataOf(event)['state'] : 'decided twice',
    decidedAt: event.at,
  }),
};

/** V5: the tries of a step are those that were reserved, one by one. */
function judgeTries(problems: Problems, dump: Dump): void {
  const retried = dump.events.filter(({ type }) => type === 'model.retried');
  const ofStep = Map.groupBy(retried, (event) => dataOf(event)['stepId']);
  for (const { id, tries } of dump.steps) {
    const events = ofStep.get(id) ?? [];
    const isGapless = events.every((event, index) => dataOf(event)['tries'] === index + 2);
    problems.unless(
      isGapless && tries === events.length + 1,
      () => `V5 step ${id} has ${tries} tries and ${events.length} were reserved`,
    );
  }
}

const QUEUES: ReadonlySet<string> = new Set([
  'reply.queued',
  'notice.queued',
  'notice.prepared',
  'command.answered',
]);

/** Each entry of the outbox stands at the place of the event that queued it, and the other way round. */
function judgeQueued(problems: Problems, dump: Dump): void {
  const queued = new Map<unknown, number>();
  // One that was held back stands where it left (M-10).
  const prepared = new Set<unknown>();
  for (const event of dump.events) {
    if (!QUEUES.has(event.type)) continue;
    const id = dataOf(event)['outboxId'];
    // A stop answers its command with the notice that it queued anyway.
    if (!queued.has(id) || prepared.delete(id)) queued.set(id, event.seq);
    if (event.type === 'notice.prepared') prepared.add(id);
  }
  for (const { id, seq } of dump.outbox) {
    problems.unless(queued.get(id) === seq, () => `V17 ${id} was queued by no event of its place`);
  }
  const isWhole = queued.size === dump.outbox.length;
  problems.unless(isWhole, () => 'V17 an event queued what is not in the outbox');
}
