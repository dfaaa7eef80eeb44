/**
 * Lets the orders of admins pass one after the other: on a shared store each takes the next place of
 * one log, and those of one host need not race for it.
 */
export class AdminLane {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when what came before has ended, well or not. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}
