import type { Instant, Millis } from '../kernel/time.ts';

/** Wall time and timers. The store has its own instant inside a unit (`at.now`). */
export interface Clock {
  now(): Instant;
  /** Since the machine started, suspended time included; nobody sets it (design principle 8). */
  uptime(): Millis;
  /**
   * Resolves after `ms`, or at once when `signal` aborts; it never rejects. After 0 once everything else that
   * is ready has had its turn: long work says so between its parts.
   */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}
