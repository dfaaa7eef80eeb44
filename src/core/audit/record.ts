import type { Instant } from '../../kernel/time.ts';

/** One admin action; each entry carries the hash of the one before it. */
export interface AuditRecord {
  /** 1, 2, 3 … without a gap. */
  readonly seq: number;
  readonly at: Instant;
  /** `principalName`. */
  readonly principal: string;
  readonly channel: string;
  /** `task.extend`, `approval.decide`, … */
  readonly action: string;
  readonly subjectId: string;
  /** JSON of what the action changed, as it was and as it became. */
  readonly before: string;
  readonly after: string;
  /** Empty for the first entry. */
  readonly previousHash: string;
  readonly hash: string;
}
