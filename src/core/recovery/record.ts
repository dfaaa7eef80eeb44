import type { OutboxId, ReportId, StormId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/**
 * Whether interrupted work may go on. `needed`: only a `continue` lets a turn of it begin.
 * `granted`: it was said and no turn has begun yet. `followed`: a turn has begun; once one is completed
 * the count starts anew (`none`, the next epoch), interrupted before that it is `needed` again.
 */
export const RECOVERY_MOVES = {
  none: ['needed'],
  needed: ['granted'],
  granted: ['followed', 'needed'],
  followed: ['none', 'needed'],
} as const satisfies Record<string, readonly string[]>;
export type RecoveryState = keyof typeof RECOVERY_MOVES;

/**
 * What the last attempt came to. `reserved`: not known, the call is out or its host died. `failed`: a
 * technical failure. `invalid`: no answer by the schema. The others are the verdicts.
 */
export const ASSESSMENT_OUTCOMES = [
  'reserved',
  'failed',
  'invalid',
  'continue',
  'end',
  'inconclusive',
] as const;
export type AssessmentOutcome = (typeof ASSESSMENT_OUTCOMES)[number];

/** A restart storm, from the start that was one too many until its end. At most one is open. */
export interface StormRecord {
  readonly id: StormId;
  readonly since: Instant;
  /** The newest start that found an unclean end. */
  readonly lastAt: Instant;
  readonly endedAt: Instant | null;
  /** `principalName` of the admin, or of the host after an hour of calm. */
  readonly endedBy: string | null;
}

/** A restart report that was told: what has changed since then is told by the next. */
export interface ReportRecord {
  readonly id: ReportId;
  readonly at: Instant;
  readonly outboxId: OutboxId;
}
