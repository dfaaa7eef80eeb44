import type { Instant } from '../../kernel/time.ts';

/**
 * `open`: calls go out. `limited`: until `until`, then one probe at a time (T-18). `down`: known to be
 * unreachable, probed cheaply. `refused`: key, account or balance, until `until` (T-12).
 */
export const LIMITER_MOVES = {
  open: ['limited', 'down', 'refused'],
  limited: ['open', 'down', 'refused'],
  down: ['open', 'limited', 'refused'],
  refused: ['limited'],
} as const satisfies Record<string, readonly string[]>;
export type LimiterState = keyof typeof LIMITER_MOVES;

/** The one limiter of a provider and account, kept over restarts (T-18). */
export interface LimiterRecord {
  /** Provider, address and a digest of the key: never the key. */
  readonly account: string;
  readonly state: LimiterState;
  readonly until: Instant | null;
  /** Whether the provider itself named `until` (T-12). */
  readonly isNamed: 'yes' | 'no';
  /** Failures in a row. */
  readonly failures: number;
  readonly code: string | null;
  /** One call is out to find out; others wait until then at the latest. */
  readonly probeUntil: Instant | null;
  readonly version: number;
  readonly since: Instant;
}
