import type { Instant, Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';

/** Resolves when everything that could go on by itself has gone on. */
export type AtRest = () => Promise<void>;

interface Sleeper {
  readonly at: Instant;
  readonly wake: () => void;
}

/** Time as the record has it: it stands still until it is moved, and sleepers wake one by one. */
export class ReplayClock {
  readonly #atRest: AtRest;
  readonly #begun: Instant;
  #sleepers = new Set<Sleeper>();
  /** What hosts read. */
  at: Instant;
  /** The recorded instant of the commit that comes next: the store's own. */
  commitAt: Instant;
  /** Rises whenever somebody begins to wait. */
  moves = 0;

  constructor(begun: Instant, atRest: AtRest) {
    this.#begun = begun;
    this.at = begun;
    this.commitAt = begun;
    this.#atRest = atRest;
  }

  /** Of the store and of ids. */
  now(): Instant {
    return this.commitAt;
  }

  /** Wakes the first sleeper who is due until then, at its time; false when there is none. */
  wakeNext(until: Instant): boolean {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers)
      if (sleeper.at <= until && sleeper.at < (first?.at ?? Infinity)) first = sleeper;
    if (first === undefined) return false;
    this.at = Math.max(this.at, first.at);
    this.#sleepers.delete(first);
    first.wake();
    return true;
  }

  /** The clock of one host. */
  ofHost(): Clock {
    return {
      now: () => this.at,
      uptime: () => this.at - this.#begun,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    };
  }

  /** A host is gone: nothing that it waits for comes. */
  forget(): void {
    this.#sleepers = new Set();
  }

  #sleep(ms: Millis, signal: AbortSignal | undefined): Promise<void> {
    this.moves += 1;
    if (signal?.aborted === true) return Promise.resolve();
    if (ms <= 0) return this.#atRest();
    return new Promise((resolve) => {
      const sleeper = { at: this.at + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
