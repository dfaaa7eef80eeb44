import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { EventRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { wasAsked } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { Doing } from '../../engine/task/doing.ts';
import type { Tool } from '../../ports/tools.ts';
import { readObject, type Json } from '../../kernel/json.ts';
import { USD } from '../../kernel/money.ts';
import type { Instant } from '../../kernel/time.ts';
import type {
  DoingShape,
  EvidenceShape,
  TaskEventItem,
  TaskReply,
  WaitShape,
} from '../../wire/task.ts';
import { iso, isoOrNull } from '../call.ts';

const EVIDENCE_TEXT_CHARS = 2_000;

/** A task as lists show it: without the facts that are read off its steps. */
export function viewTask(task: TaskRecord, doing: Doing | null): TaskReply {
  const { id, conversationId, agent, state, reason, enrollment, version } = task;
  return {
    id,
    conversationId,
    agent,
    state,
    reason,
    enrollment,
    mandate: {
      text: task.mandateText,
      principal: task.mandatePrincipal,
      origin: task.mandateOrigin,
      at: iso(task.mandateAt),
      hash: task.mandateHash,
    },
    checkpoint: null,
    evidence: [],
    doing: doing === null ? null : viewDoing(doing),
    waitsFor: waitOf(task),
    held: heldOf(task),
    deadline: isoOrNull(task.deadline),
    budgets: budgetsOf(task),
    recovery: {
      epoch: task.recoveryEpoch,
      attempts: task.recoveryAttempts,
      lifetimeAttempts: task.recoveryLifetimeAttempts,
      // Of one that waits for no check none is due, whatever its last one had announced.
      nextAttemptAt: task.waitKind === 'assessment' ? isoOrNull(task.recoveryNextAt) : null,
      state: task.recoveryState,
      outcome: task.recoveryOutcome,
    },
    version,
    createdAt: iso(task.createdAt),
    changedAt: iso(task.changedAt),
    endedAt: isoOrNull(task.endedAt),
  };
}

/** What is known of a task beside its own record. */
export interface TaskFacts {
  readonly doing: Doing | null;
  readonly steps: readonly StepRecord[];
  readonly workers: readonly ExecutionRecord[];
}

/** A task with its last saved step and the facts that the host observed for it. */
export function viewTaskWhole(
  task: TaskRecord,
  { doing, steps, workers }: TaskFacts,
  tools: readonly Tool[],
): TaskReply {
  const known = new Map(tools.map((tool) => [tool.name, tool.changes === 'yes']));
  const last = steps.findLast(({ state }) => state === 'finished' || state === 'failed');
  return {
    ...viewTask(task, doing),
    checkpoint:
      last === undefined
        ? null
        : {
            lastStepId: last.id,
            at: iso(last.finishedAt ?? last.startedAt),
            note: task.checkpoint,
          },
    evidence: [
      ...steps.flatMap((step) =>
        evidenceOf(step, known.get(step.tool ?? '') ?? step.repeatable === 'no'),
      ),
      ...workers.map(workerEvidence).toReversed(),
    ],
  };
}

/** What is done for an active task. */
export function viewDoing(doing: Doing): DoingShape {
  const since = iso(doing.since);
  if (doing.kind !== 'model' && doing.kind !== 'retry') return { ...doing, since };
  const { nextAt, ...rest } = doing;
  return { ...rest, since, ...(nextAt === undefined ? {} : { nextAt: iso(nextAt) }) };
}

// Effects are calls that may change something; reading calls prove nothing that could be lost. A tool
// that this version does not have is judged by what its step says.
function evidenceOf(step: StepRecord, changes: boolean): readonly EvidenceShape[] {
  const kind = changes ? evidenceKindOf(step) : undefined;
  if (kind === undefined) return [];
  const { id: stepId } = step;
  const tool = step.tool === null ? {} : { tool: step.tool };
  const at = iso(step.finishedAt ?? step.startedAt);
  const text = (kind === 'uncertain' ? step.input : step.output) ?? '';
  return [{ kind, stepId, ...tool, at, text: text.slice(0, EVIDENCE_TEXT_CHARS) }];
}

/** A worker of the task: how it stands, and its last word or else what it was asked for. */
function workerEvidence({ id, state, job, outcome, changedAt }: ExecutionRecord): EvidenceShape {
  const text = `${id} ${state}: ${outcome ?? job}`;
  return { kind: 'worker', at: iso(changedAt), text: text.slice(0, EVIDENCE_TEXT_CHARS) };
}

function evidenceKindOf(step: StepRecord): EvidenceShape['kind'] | undefined {
  if (step.kind !== 'tool') return undefined;
  if (step.state === 'uncertain') return 'uncertain';
  return step.state === 'finished' && !wasAsked(step) ? 'effect' : undefined;
}

/** What a task waits for; null for one that does not wait. An assessment is due at its next attempt. */
export function waitOf(task: TaskRecord): WaitShape | null {
  const { waitKind: kind, waitId: id, waitUntil, waitQuestion: question } = task;
  if (kind === null) return null;
  return viewWait({
    kind,
    id,
    until: kind === 'assessment' ? task.recoveryNextAt : waitUntil,
    question,
  });
}

function viewWait({
  kind,
  id,
  until,
  question,
}: {
  readonly kind: string;
  readonly id: string | null;
  readonly until: Instant | null;
  readonly question: string | null;
}): WaitShape {
  return {
    kind,
    ...(id === null ? {} : { id }),
    until: isoOrNull(until),
    ...(question === null ? {} : { question }),
  };
}

/** How a held task stood before, as the boundary kept it; null for any other. */
function heldOf({ enrollment, reason, outcomeData }: TaskRecord): TaskReply['held'] {
  if (enrollment !== 'held-legacy' || reason !== 'held_legacy') return null;
  const was = readObject(JSON.stringify(readObject(outcomeData)['was'] ?? {}));
  const kind = textOf(was['waitKind']);
  return {
    state: textOf(was['state']) ?? 'active',
    reason: textOf(was['reason']),
    waitsFor:
      kind === null
        ? null
        : viewWait({
            kind,
            id: textOf(was['waitId']),
            until: typeof was['waitUntil'] === 'number' ? was['waitUntil'] : null,
            question: textOf(was['waitQuestion']),
          }),
  };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function budgetsOf(task: TaskRecord): TaskReply['budgets'] {
  return {
    turns: { limit: task.turnsLimit, used: task.turnsUsed },
    tokens: { limit: task.tokensLimit, used: task.tokensUsed },
    costUsd: { limit: task.costLimit / USD, used: task.costUsed / USD },
    continuations: { limit: task.continuationsLimit, used: task.continuationsUsed },
    deadline: isoOrNull(task.deadline),
  };
}

/** An event row as a line of the timeline. */
export function viewEvent(event: EventRecord): TaskEventItem {
  const { id, type, at, by, fromState, toState, reason, data } = event;
  return {
    id,
    type,
    at: iso(at),
    by,
    ...(fromState === null ? {} : { from: fromState }),
    ...(toState === null ? {} : { to: toState }),
    ...(reason === null ? {} : { reason }),
    data: { ...readObject(data) },
  };
}

/** The one or two lines of the timeline that a step's row stands for (design principle 5). */
export function viewStep(step: StepRecord): readonly { seq: number; item: TaskEventItem }[] {
  const { id, kind, tool, ordinal, finishedId, finishedSeq, finishedAt, errorCode } = step;
  const by = 'host';
  const about = { stepId: id, ordinal, ...(tool === null ? {} : { tool }) };
  const start = { id, type: `${kind}.started`, at: iso(step.startedAt), by, data: about };
  if (finishedId === null || finishedSeq === null) return [{ seq: step.seq, item: start }];
  const error = errorCode === null ? {} : { errorCode };
  const finish = {
    id: finishedId,
    type: `${kind}.finished`,
    at: iso(finishedAt ?? step.startedAt),
    by,
    to: step.state,
    data: { ...about, ...error },
  };
  return [
    { seq: step.seq, item: start },
    { seq: finishedSeq, item: finish },
  ];
}
