import { setTimeout as pause } from 'node:timers/promises';
import { SECOND, type Millis } from '../kernel/time.ts';
import type { Store } from '../ports/store.ts';

/** A store that says nothing for so long is as good as away. */
const QUIET_MS = 2 * SECOND;

/**
 * Asks a store that is reached over a connection whether it answers (L-8). Whoever asks meanwhile shares the
 * question: a probe needs no key, and must not take connections from the work.
 */
export class StoreLook {
  readonly #store: Pick<Store, 'traits' | 'query'>;
  readonly #quietMs: Millis;
  #asking: Promise<boolean> | undefined;

  constructor(store: Pick<Store, 'traits' | 'query'>, quietMs: Millis = QUIET_MS) {
    this.#store = store;
    this.#quietMs = quietMs;
  }

  /** True at once where the store is this process's own. Never rejects. */
  async answers(): Promise<boolean> {
    if (this.#store.traits.exclusive) return true;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const answer = this.#store.query('conversation.newestRead', {}).then(
      () => true,
      () => false,
    );
    return Promise.race([answer, pause(this.#quietMs, false, { ref: false })]);
  }
}
