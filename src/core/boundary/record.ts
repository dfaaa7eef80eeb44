import type { BoundaryId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/**
 * `current` belongs to ongoing work, `held-legacy` sleeps until an admin wakes it, `unmarked` came with
 * an import and waits for the boundary; one that had ended stays so.
 */
export const ENROLLMENT_MOVES = {
  unmarked: ['current', 'held-legacy'],
  'held-legacy': ['current'],
  current: [],
} as const satisfies Record<string, readonly string[]>;
export type Enrollment = keyof typeof ENROLLMENT_MOVES;

/** One run of the boundary over restored records, however many starts it took (B-2). */
export interface BoundaryRecord {
  readonly id: BoundaryId;
  readonly startedAt: Instant;
  /** Null until all records are marked. */
  readonly endedAt: Instant | null;
  /** Counted by each commit that marks, for the summary (B-10). */
  readonly held: number;
  readonly kept: number;
  readonly workersHeld: number;
  /** When its summary was told; null where nobody could be told yet. */
  readonly toldAt: Instant | null;
}
