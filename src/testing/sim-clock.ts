import type { Instant, Millis } from '../kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Epoch, Scheduler } from './scheduler.ts';

/**
 * The wall clock of a simulated machine: the scheduler's time since `startAt`, moved by whatever an
 * operator or a time server did to it.
 */
export class WallClock {
  readonly #scheduler: Scheduler;
  readonly #startAt: Instant;
  /** How far the clock stands from the truth. */
  offset: Millis = 0;

  constructor(scheduler: Scheduler, startAt: Instant) {
    this.#scheduler = scheduler;
    this.#startAt = startAt;
  }

  now(): Instant {
    return this.#startAt + this.#scheduler.elapsed + this.offset;
  }
}

/** The clock port of one simulated process: its timers run by uptime, and never once it is dead. */
export function virtualClock(scheduler: Scheduler, wall: WallClock, epoch: Epoch): Clock {
  return {
    now: () => wall.now(),
    uptime: () => scheduler.elapsed,
    sleep: (ms, signal) =>
      scheduler.call({ epoch, label: `clock.sleep ${ms}`, delay: ms, signal }, () => undefined),
  };
}
