import type { Instant } from '../../kernel/time.ts';
import type { LimiterRecord } from '../budget/record.ts';
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

/** What becomes of a task that is looked at: nothing, its end, its return, its assessment, or a block. */
export type DueVerdict = 'leave' | 'expire' | 'wake' | 'interrupt' | 'block';

type Due = Pick<
  TaskRecord,
  'state' | 'enrollment' | 'waitKind' | 'waitUntil' | 'deadline' | 'changedAt' | 'endedAt'
>;

/**
 * Judges what a task came to whose wait or deadline may be over (T-6, T-7). A passed deadline ends it
 * in whatever state it is; only what it waited for itself wakes it, any other window that runs out blocks.
 */
export function judgeDue(task: Due, now: Instant, absence: Absence): DueVerdict {
  // What an admin has to wake does not expire meanwhile (B-4).
  if (task.endedAt !== null || task.enrollment === 'held-legacy') return 'leave';
  if (task.deadline !== null && task.deadline <= now) return 'expire';
  if (task.state !== 'waiting' || task.waitUntil === null || task.waitUntil > now) return 'leave';
  return judgeWindow(task, task.waitUntil, absence);
}

function judgeWindow(task: Due, due: Instant, absence: Absence): DueVerdict {
  switch (task.waitKind) {
    case 'instant':
    case 'quota':
      return wasInterrupted(task, due, absence) ? 'interrupt' : 'wake';
    // These have no window of their own: the provider's return or the assessment ends them.
    case 'provider':
    case 'assessment':
      return 'leave';
    // A wait without its kind is a polling window (T-6).
    case 'answer':
    case 'approval':
    case 'worker':
    case null:
      return 'block';
  }
}

/** Judges a task that waits for this account's provider: it returns unless the account is unreachable. */
export function judgeReturn(
  task: Due & Pick<TaskRecord, 'waitId'>,
  limiter: Pick<LimiterRecord, 'account' | 'state'>,
  at: { readonly now: Instant; readonly absence: Absence },
): DueVerdict {
  const judged = judgeDue(task, at.now, at.absence);
  if (judged !== 'leave') return judged;
  const waits = task.state === 'waiting' && task.waitKind === 'provider';
  if (!waits || task.waitId !== limiter.account || limiter.state === 'down') return 'leave';
  return wasInterrupted(task, at.now, at.absence) ? 'interrupt' : 'wake';
}

/**
 * Whether a wait was interrupted: it became due while no host ran, or it stood already at this
 * start and the former host did not stop cleanly. A wait that this host has seen begin never was.
 */
function wasInterrupted(task: Due, due: Instant, absence: Absence): boolean {
  if (absence === null || task.changedAt >= absence.until) return false;
  return absence.from === null || (due > absence.from && due <= absence.until);
}
