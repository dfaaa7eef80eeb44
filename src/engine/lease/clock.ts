import {
  confirmed,
  distrustLeft,
  driftOf,
  observe,
  startGuard,
  type ClockGuard,
  type Clocks,
  type Observed,
} from '../../core/lease/clock-guard.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { ClockTrust, EngineParts } from '../engine.ts';

/** Something that a person is to be told of the clock, once. */
export interface ClockNews {
  readonly code: 'clock_distrusted' | 'clock_trusted';
  readonly drift: Millis;
}

/**
 * Watches the wall clock of this process (design principle 8). While it is not believed nothing expires,
 * wakes or is probed. Whoever acts on the wall clock asks it first: it judges at each question.
 */
export class ClockWatch {
  readonly #parts: EngineParts;
  #guard: ClockGuard;
  readonly #news: ClockNews[] = [];

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#guard = startGuard(this.#seen(), null).guard;
  }

  /** Measures from here; `lastCommit` is the newest instant of the store. */
  begin(lastCommit: Instant | null): void {
    this.#take(startGuard(this.#seen(), lastCommit));
  }

  isTrusted(): boolean {
    this.#take(observe(this.#guard, this.#seen()));
    return this.#guard.distrust === null;
  }

  trust(): ClockTrust {
    const isTrusted = this.isTrusted();
    const seen = this.#seen();
    const until = isTrusted ? null : seen.wall + this.distrustLeftMs();
    return { isTrusted, driftMs: driftOf(this.#guard, seen), until };
  }

  /** Until it is believed as it stands; 0 when it is. */
  distrustLeftMs(): Millis {
    return distrustLeft(this.#guard, this.#seen());
  }

  /** An admin says that it is right; false when nobody doubts it. */
  confirm(): boolean {
    if (this.isTrusted()) return false;
    const seen = this.#seen();
    const drift = driftOf(this.#guard, seen);
    this.#guard = confirmed(seen);
    this.#news.push({ code: 'clock_trusted', drift });
    return true;
  }

  /** What nobody was told yet; it stays until `told`. */
  get untold(): ClockNews | undefined {
    return this.#news[0];
  }

  told(): void {
    this.#news.shift();
  }

  #take({ guard, news }: Observed): void {
    const drift = driftOf(guard, this.#seen());
    this.#guard = guard;
    if (news === 'none') return;
    const code = news === 'trusted' ? 'clock_trusted' : 'clock_distrusted';
    this.#news.push({ code, drift });
    this.#parts.log.warn(`the wall clock is ${news}`, { driftMs: drift });
  }

  #seen(): Clocks {
    const { clock } = this.#parts;
    return { wall: clock.now(), uptime: clock.uptime() };
  }
}
