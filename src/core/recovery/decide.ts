import { LIMITS } from '../../kernel/limits.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { moveTask } from '../task/decide.ts';
import { isLate } from '../task/wait.ts';
import type { TaskRecord } from '../task/record.ts';
import type { AssessmentOutcome } from './record.ts';

/**
 * The task as it waits for its assessment, which alone lets it go on. What was granted before is
 * void; its attempts stay counted.
 */
export function needAssessment(task: TaskRecord, now: Instant, data: JsonObject): TaskRecord {
  const moved = moveTask(task, {
    to: 'waiting',
    reason: 'interrupted',
    now,
    wait: { kind: 'assessment', id: null, until: null },
    outcomeData: JSON.stringify(data),
  });
  const { recoveryNextAt: nextAt } = task;
  const recoveryNextAt = nextAt === null ? null : Math.min(nextAt, now + LIMITS.recoveryRetryMaxMs);
  return { ...moved, recoveryState: 'needed', recoveryGrantedAt: null, recoveryNextAt };
}

/** Whether the task waits for its assessment and may be judged at all (R-10, B-5). */
export function isAssessable(task: TaskRecord): boolean {
  const { enrollment, state, waitKind } = task;
  return enrollment === 'current' && state === 'waiting' && waitKind === 'assessment';
}

/**
 * `block`: its attempts are used up, whatever became of the last one. `late`: only a person has it
 * carried out now (T-15). `wait`: not due yet.
 */
export type AttemptVerdict = 'leave' | 'late' | 'wait' | 'block' | 'reserve';

/**
 * Judges whether the next attempt of a task may be reserved now. Where other hosts may live
 * (`isShared`) the last attempt's call may still be out on one of them until its spacing is over.
 */
export function judgeAttempt(task: TaskRecord, now: Instant, isShared = false): AttemptVerdict {
  if (!isAssessable(task)) return 'leave';
  // Its end is the deadline's own (T-7).
  if (task.deadline !== null && task.deadline <= now) return 'leave';
  if (isLate(task, now)) return 'late';
  const isEarly = isSpaced(task, now);
  if (task.recoveryAttempts >= LIMITS.recoveryAttempts)
    return isShared && isEarly ? judgeLast(task) : 'block';
  return isEarly ? 'wait' : 'reserve';
}

/** Whether the spacing from its last reservation is not over. */
function isSpaced({ recoveryNextAt }: TaskRecord, now: Instant): boolean {
  return recoveryNextAt !== null && recoveryNextAt > now;
}

/** The call of a last attempt whose outcome is not known may still be out. */
function judgeLast({ recoveryOutcome }: TaskRecord): 'wait' | 'block' {
  return recoveryOutcome === 'reserved' ? 'wait' : 'block';
}

/** The task with one attempt more, counted before it is made: nothing gives it back (R-3, V5). */
export function reserveAttempt(task: TaskRecord, now: Instant, spacingMs: Millis): TaskRecord {
  return {
    ...task,
    version: task.version + 1,
    recoveryAttempts: task.recoveryAttempts + 1,
    recoveryLifetimeAttempts: task.recoveryLifetimeAttempts + 1,
    recoveryNextAt: now + spacingMs,
    recoveryOutcome: 'reserved',
  };
}

/** Why a task with all its attempts used is blocked. */
export function usedUpReason(
  task: Pick<TaskRecord, 'recoveryOutcome'>,
): 'recovery_no_progress' | 'recovery_assessment_failed' {
  return task.recoveryOutcome === 'continue'
    ? 'recovery_no_progress'
    : 'recovery_assessment_failed';
}

/**
 * The next epoch: its attempts are whole again, the lifetime count, the spacing, every deadline and every
 * budget stay. Only an admission opens one, or a turn completed after a `continue`.
 */
export function openEpoch(task: TaskRecord): TaskRecord {
  return {
    ...task,
    recoveryEpoch: task.recoveryEpoch + 1,
    recoveryAttempts: 0,
    recoveryOutcome: null,
  };
}

/** How a turn may begin for this task: at once, only after an assessment, or by an order to be late (T-15). */
export type BeginVerdict = 'begin' | 'assess' | 'late';

/**
 * Whether a turn of the task may begin (V6): never of interrupted work without a `continue`, and not on
 * one that no turn has followed within `LIMITS.recoveryGrantMs`.
 */
export function judgeBegin(task: TaskRecord, now: Instant, startedAt: Instant = 0): BeginVerdict {
  if (isLate(task, now)) return 'late';
  return isUnassessed(task, now, startedAt) ? 'assess' : 'begin';
}

function isUnassessed(
  { recoveryState, recoveryGrantedAt }: TaskRecord,
  now: Instant,
  startedAt: Instant = 0,
): boolean {
  if (recoveryState !== 'granted') return recoveryState === 'needed';
  if (recoveryGrantedAt === null || recoveryGrantedAt < startedAt) return true;
  // One of an instant that has not come was given under a clock that was set back since.
  const age = now - recoveryGrantedAt;
  return age < 0 || age > LIMITS.recoveryGrantMs;
}

/** The task as whatever lets it go on leaves it: active, or waiting for the assessment that it still needs. */
export function goOn(task: TaskRecord, now: Instant): TaskRecord {
  return isUnassessed(task, now)
    ? needAssessment(task, now, { tools: [] })
    : moveTask(task, { to: 'active', reason: null, now });
}

/** What a turn's begin does to a granted task. */
export function followGrant(task: TaskRecord): TaskRecord {
  if (task.recoveryState !== 'granted') return task;
  return { ...task, recoveryState: 'followed', recoveryGrantedAt: null };
}

/** What a completed turn does: after a `continue` the count starts anew. */
export function passRecovery(task: TaskRecord): TaskRecord {
  if (task.recoveryState !== 'followed') return task;
  return { ...openEpoch(task), recoveryState: 'none' };
}

/**
 * The task after the outcome of its attempt was recorded; the next is due not before the instant that the
 * provider named, `LIMITS.recoveryRetryMaxMs` away at most: nobody is told of a longer wait.
 */
export function recordOutcome(
  task: TaskRecord,
  outcome: AssessmentOutcome,
  named: { readonly retryAt: Instant | null; readonly now: Instant },
): TaskRecord {
  const retryAt = Math.min(named.retryAt ?? 0, named.now + LIMITS.recoveryRetryMaxMs);
  const nextAt = Math.max(task.recoveryNextAt ?? 0, retryAt);
  return { ...task, recoveryOutcome: outcome, recoveryNextAt: nextAt };
}

/** The task that a `continue` lets go on: active, until a turn follows or it is void. */
export function grantTask(task: TaskRecord, now: Instant): TaskRecord {
  const moved = moveTask(task, { to: 'active', reason: null, now });
  return { ...moved, recoveryState: 'granted', recoveryGrantedAt: now };
}
