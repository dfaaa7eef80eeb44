import { invariant } from '../../kernel/invariant.ts';
import { readObject, type Json } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import { serves } from '../dispatch/decide.ts';
import type { ExecutionRecord } from '../dispatch/record.ts';
import type { MessageRecord } from '../inbox/record.ts';
import { needAssessment } from '../recovery/decide.ts';
import { dueOf, moveTask } from '../task/decide.ts';
import { hasEnded, type WaitKind } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import type { TurnRecord } from '../turn/record.ts';

/** What is known of an old task; all of it may hold records of other tasks too. */
export interface BoundaryFacts {
  /** Messages that are not done. */
  readonly messages: readonly MessageRecord[];
  /** Turns without an end. */
  readonly turns: readonly TurnRecord[];
  readonly workers: readonly ExecutionRecord[];
}

/** What proves that an old task is ongoing work (B-3): a person's unfinished input, or a worker of it. */
export type Proof = 'input' | 'worker';

type Owner = Pick<TaskRecord, 'id' | 'mandateHash'>;

/**
 * What proves that a task is ongoing work, or that nothing does (B-3). Its age is no criterion (B-7), nor
 * is anything that it says of itself: only a person's input that no turn has finished, and a worker that
 * was accepted or runs and was bound to this very task and mandate (B-6).
 */
export function proofOf(task: Owner, facts: BoundaryFacts): Proof | undefined {
  const { messages, turns, workers } = facts;
  if (messages.some((message) => isUnfinished(task, message, turns))) return 'input';
  return workers.some((worker) => serves(worker, task)) ? 'worker' : undefined;
}

/** A claim whose turn has its end was finished, whatever became of it. */
function isUnfinished(
  { id }: Owner,
  message: MessageRecord,
  turns: readonly TurnRecord[],
): boolean {
  if (message.taskId !== id || message.kind !== 'genuine') return false;
  if (message.state === 'unclaimed') return true;
  const turn = turns.find((one) => one.id === message.turnId);
  return message.state === 'claimed' && turn !== undefined && turn.state !== 'ended';
}

/**
 * The task as history: blocked until an admin wakes it (B-4). Deadline, budgets, checkpoint and attempts stay
 * as they are, how it stood is kept in `outcomeData.was`, and nothing of it comes due.
 */
export function holdTask(task: TaskRecord, now: Instant): TaskRecord {
  invariant(isUnmarked(task), 'only an old, open task becomes history');
  const outcomeData = JSON.stringify({ was: standingOf(task) });
  const blocked = moveTask(task, { to: 'blocked', reason: 'held_legacy', now, outcomeData });
  return { ...blocked, enrollment: 'held-legacy', dueAt: null };
}

/** How a task stood before the boundary, for whoever reads it later. */
function standingOf(task: TaskRecord): Json {
  // One that was history already keeps how it stood before the first boundary.
  const { was } = task.reason === 'held_legacy' ? readObject(task.outcomeData) : {};
  if (was !== undefined) return was;
  const { state, reason, waitKind, waitId, waitUntil, waitQuestion, changedAt } = task;
  const wait = { waitKind, waitId, waitUntil, waitQuestion };
  const { outcomeData } = task;
  return {
    state,
    reason,
    ...wait,
    since: changedAt,
    outcomeData: outcomeData === null ? null : readObject(outcomeData),
  };
}

/**
 * The task as ongoing work. What was going on in it was interrupted, unless a message or a turn of it
 * says what is next. A wait that would end by itself becomes a polling window (T-6).
 */
export function keepTask(task: TaskRecord, facts: BoundaryFacts, now: Instant): TaskRecord {
  invariant(isUnmarked(task), 'only an old, open task is judged');
  const kept: TaskRecord = { ...task, enrollment: 'current' };
  if (isCutOff(task, facts)) return needAssessment(kept, now, { tools: [] });
  const { state, waitUntil } = task;
  const waitKind = isPolling(task.waitKind) ? null : task.waitKind;
  const recoveryState = task.waitKind === 'assessment' ? 'needed' : task.recoveryState;
  const dueAt = dueOf(task, state, waitUntil);
  const version = task.version + 1;
  return { ...kept, version, waitKind, recoveryState, dueAt };
}

/** Whether an old, open task is still to be judged. */
function isUnmarked({ enrollment, state }: TaskRecord): boolean {
  return enrollment === 'unmarked' && !hasEnded(state);
}

/** Whether nothing that is recorded makes the task go on, though it says that it is at work. */
function isCutOff(task: TaskRecord, { messages, turns }: BoundaryFacts): boolean {
  // The account that it waited for may not exist here, and no window of its own brings it back.
  if (task.state === 'waiting') return task.waitKind === 'provider';
  // Of what was history before, nobody knows any more how it went on.
  if (task.reason === 'held_legacy') return true;
  if (task.state !== 'active') return false;
  if (turns.some(({ taskId, state }) => taskId === task.id && state !== 'ended')) return false;
  return !messages.some(({ taskId, state }) => taskId === task.id && state === 'unclaimed');
}

/** Waits whose end would wake the task by itself: of an import they are looked at and no more (T-6). */
function isPolling(kind: WaitKind | null): boolean {
  return kind === 'instant' || kind === 'quota';
}

/**
 * The worker as it is after the boundary (B-9): one that was accepted or runs for a task that goes on stays
 * current, every other is kept as it is and fenced. `owner` is the task that it names, judged before.
 */
export function enrolWorker(
  worker: ExecutionRecord,
  owner: TaskRecord | undefined,
  now: Instant,
): ExecutionRecord {
  const isCurrent =
    owner !== undefined &&
    owner.enrollment === 'current' &&
    !hasEnded(owner.state) &&
    serves(worker, owner);
  return {
    ...worker,
    enrollment: isCurrent ? 'current' : 'held-legacy',
    version: worker.version + 1,
    changedAt: now,
  };
}
