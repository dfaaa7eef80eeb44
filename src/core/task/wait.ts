import { LIMITS } from '../../kernel/limits.ts';
import { MINUTE, type Instant } from '../../kernel/time.ts';
import type { LimiterRecord } from '../budget/record.ts';
import { dueOf } from './decide.ts';
import type { TaskRecord } from './record.ts';

/**
 * The time before this host's start in which no host ran: from the former host's clean stop, or of
 * unknown beginning when it did not stop cleanly. Null when there was no such time.
 */
export type Absence = {
  /** The start of this host. */
  readonly until: Instant;
  /** The former host's clean stop; null when it had none. */
  readonly from: Instant | null;
} | null;

/**
 * What becomes of a task that is looked at: nothing, its end, its return, its assessment, or a block.
 * `late`: an order whose own time is past its grace (T-15). `tell`: its assessment has waited for the
 * provider for long. `reassess`: that provider is back. `renew`: its window is set again (T-6).
 */
export type DueVerdict =
  | 'leave'
  | 'expire'
  | 'wake'
  | 'interrupt'
  | 'block'
  | 'late'
  | 'tell'
  | 'reassess'
  | 'renew';

type Due = Pick<
  TaskRecord,
  | 'state'
  | 'reason'
  | 'enrollment'
  | 'waitKind'
  | 'waitUntil'
  | 'orderAt'
  | 'deadline'
  | 'changedAt'
  | 'endedAt'
>;

/**
 * Judges what a task came to whose wait or deadline may be over (T-6, T-7). A passed deadline ends it
 * in whatever state it is; only what it waited for itself wakes it, any other window that runs out blocks,
 * or is set again while a worker of this very task is at work (`hasChild`, by `isChild`).
 */
export function judgeDue(task: Due, now: Instant, absence: Absence, hasChild = false): DueVerdict {
  // What an admin has to wake does not expire meanwhile (B-4).
  if (task.endedAt !== null || task.enrollment !== 'current') return 'leave';
  if (task.deadline !== null && task.deadline <= now) return 'expire';
  if (task.state !== 'waiting' || task.waitUntil === null || task.waitUntil > now) return 'leave';
  const polled = hasChild ? 'renew' : 'block';
  return judgeWindow(task, task.waitUntil, { now, absence, polled });
}

interface Window {
  readonly now: Instant;
  readonly absence: Absence;
  /** What a window that something else was to end comes to. */
  readonly polled: DueVerdict;
}

function judgeWindow(task: Due, due: Instant, { now, absence, polled }: Window): DueVerdict {
  switch (task.waitKind) {
    case 'instant':
      return judgeInstant(task, due, { now, absence });
    case 'quota':
      return judgeOver(task, due, absence);
    // Its return ends it; what has a window is an assessment that waits for it.
    case 'provider':
      return task.reason === 'interrupted' ? 'tell' : 'leave';
    case 'assessment':
      return 'leave';
    // The question itself has expired with it (E-4).
    case 'approval':
      return 'block';
    // A wait without its kind is a polling window (T-6).
    case 'answer':
    case 'worker':
    case null:
      return polled;
  }
}

/** An order past its grace is a person's to carry out (T-15). */
function judgeInstant(
  task: Due,
  due: Instant,
  { now, absence }: Pick<Window, 'now' | 'absence'>,
): DueVerdict {
  return isLate(task, now) ? 'late' : judgeOver(task, due, absence);
}

/** A wait that is over by itself wakes its task, if a host has seen it through. */
function judgeOver(task: Due, due: Instant, absence: Absence): DueVerdict {
  return wasInterrupted(task, due, absence) ? 'interrupt' : 'wake';
}

/** Judges a task that waits for this account's provider: it returns unless the account is unreachable. */
export function judgeReturn(
  task: Due & Pick<TaskRecord, 'waitId'>,
  limiter: Pick<LimiterRecord, 'account' | 'state'>,
  at: { readonly now: Instant; readonly absence: Absence },
): DueVerdict {
  const judged = judgeDue(task, at.now, at.absence);
  if (judged !== 'leave' && judged !== 'tell') return judged;
  const waits = task.state === 'waiting' && task.waitKind === 'provider';
  if (!waits || task.waitId !== limiter.account || limiter.state === 'down') return 'leave';
  if (task.reason === 'interrupted') return 'reassess';
  return judgeOver(task, at.now, at.absence);
}

/**
 * Whether a wait was interrupted: it became due while no host ran, or it stood already at this
 * start and the former host did not stop cleanly. A wait that this host has seen begin never was.
 */
function wasInterrupted(task: Due, due: Instant, absence: Absence): boolean {
  if (absence === null || task.changedAt >= absence.until) return false;
  return absence.from === null || (due > absence.from && due <= absence.until);
}

/** Whether an order's own time is past its grace: then only a person has it carried out (T-15). */
export function isLate(task: Pick<TaskRecord, 'orderAt'>, now: Instant): boolean {
  return task.orderAt !== null && now - task.orderAt > LIMITS.orderGraceMs;
}

/**
 * The task with its window set again for the same length, from now on (T-6). One that was shortened or came
 * with an import is looked at after a minute at the earliest.
 */
export function renewWindow(task: TaskRecord, now: Instant): TaskRecord {
  const { waitUntil, changedAt } = task;
  const length = waitUntil === null ? 0 : waitUntil - changedAt;
  const until = now + Math.max(length, MINUTE);
  const dueAt = dueOf(task, task.state, until);
  return { ...task, version: task.version + 1, waitUntil: until, dueAt, changedAt: now };
}
