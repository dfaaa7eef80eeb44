import { LIMITS } from '../../kernel/limits.ts';
import type { FenceState, SessionRecord } from '../session/record.ts';
import type { OperationKind, OperationRecord } from './record.ts';

/**
 * Why a session is to be maintained (M-13): `usage` and `steps` at the end of a turn, `full` when the next
 * request would not fit, `too_long` when the provider said so.
 */
export type Cause = 'usage' | 'steps' | 'full' | 'too_long';

/**
 * What the end of a turn makes of a session that is to be maintained: a new operation, the last one anew with
 * one failure more because nothing has come of it yet (M-19), or nothing. Of whichever session of the
 * conversation: two that never fit would otherwise begin operations for ever, one behind the other.
 */
export function judgeOpening(
  last: Pick<OperationRecord, 'state'> | undefined,
  of: {
    readonly fence: FenceState;
    readonly cause: Cause;
    /** Whether the turn came to something. */
    readonly completes: boolean;
  },
): 'begin' | 'reopen' | 'leave' {
  const { fence, cause, completes } = of;
  if (fence !== 'passed' || completes || last === undefined) return 'begin';
  // What is only filling up is looked at again once a turn has been completed.
  const isStuck = cause === 'full' || cause === 'too_long';
  return isStuck && last.state === 'done' ? 'reopen' : 'leave';
}

/**
 * A session is compacted a few times, so that what was said last stands word for word, and then handed over, so
 * that an archived one stays small enough to be read. Work that was cut in the middle keeps its last results.
 */
export function planKind(
  { compactions }: Pick<SessionRecord, 'compactions'>,
  cause: Cause,
): OperationKind {
  const isBetween = cause === 'usage' || cause === 'steps';
  return isBetween && compactions >= LIMITS.compactionsPerSession ? 'handover' : 'compact';
}
