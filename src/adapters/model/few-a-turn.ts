import type { Clock } from '../../ports/clock.ts';

/** So many stay together that what they come to still shares its commits. */
const AT_ONCE = 4;

/**
 * Lets a few go on in each turn of the event loop, in the order in which they came. To make a request takes
 * milliseconds, and the turns that one commit sets going would all make theirs while everybody else waits.
 */
export class FewATurn {
  readonly #clock: Pick<Clock, 'sleep'>;
  #free: Promise<void> = Promise.resolve();
  #begun = 0;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Resolves at once where fewer went on since the loop turned last. */
  next(): Promise<void> {
    const mine = this.#free;
    this.#begun = (this.#begun + 1) % AT_ONCE;
    if (this.#begun === 0) this.#free = mine.then(() => this.#clock.sleep(0));
    return mine;
  }
}
