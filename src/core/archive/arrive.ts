import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { OperationRecord } from '../maintenance/record.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Archived } from './record.ts';

/**
 * A record as an import brings it in: it loses its enrollment mark, so that the boundary of the next
 * start judges it, and what had not left may have left from where it was (B-2). A permission to go on and
 * a command were given to the host that wrote the file: neither counts here. Counts are kept (M-15).
 */
export function arrive(archived: Archived, now: Instant): Archived {
  const { kind, record } = archived;
  if (kind === 'task')
    return { kind, record: withoutGrant({ ...record, enrollment: 'unmarked' }, now) };
  if (kind === 'execution') return { kind, record: { ...record, enrollment: 'unmarked' } };
  if (kind === 'operation') return { kind, record: withoutNotice(record, now) };
  if (isUnanswered(archived)) return { kind, record: { ...record, state: 'done' } } as Archived;
  if (kind === 'outbox' && record.state === 'pending') {
    return { kind, record: { ...record, state: 'uncertain' } };
  }
  return archived;
}

/** Whether it is a command that the host of the file had not answered. */
export function isUnanswered({ kind, record }: Archived): boolean {
  return kind === 'message' && record.kind === 'command' && record.state === 'unclaimed';
}

/** Whatever lets it go on leads to its assessment, which waits no longer than a provider may ask. */
function withoutGrant(task: TaskRecord, now: Instant): TaskRecord {
  const { recoveryState, recoveryNextAt: nextAt } = task;
  const recoveryNextAt = nextAt === null ? null : Math.min(nextAt, now + LIMITS.recoveryRetryMaxMs);
  return recoveryState === 'granted'
    ? { ...task, recoveryNextAt, recoveryState: 'needed', recoveryGrantedAt: null }
    : { ...task, recoveryNextAt };
}

/**
 * A notice that was still to leave is not this host's: whoever is to know that the operation waits is told anew
 * at its next failure. That is no further away than a provider may ask.
 */
function withoutNotice(operation: OperationRecord, now: Instant): OperationRecord {
  const { nextAttemptAt: nextAt, noticeAt } = operation;
  const nextAttemptAt = nextAt === null ? null : Math.min(nextAt, now + LIMITS.recoveryRetryMaxMs);
  const notice = noticeAt === null ? {} : { noticeId: null, noticeAt: null };
  return { ...operation, nextAttemptAt, ...notice };
}
