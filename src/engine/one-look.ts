/** Makes one look at a time: what is asked for during one is one more behind it, and never a second beside it. */
export class OneLook {
  readonly #once: () => Promise<void>;
  readonly #mayGoOn: () => boolean;
  #running: Promise<void> | null = null;
  #isAgain = false;

  /** `mayGoOn` is asked before each further look. */
  constructor(once: () => Promise<void>, mayGoOn: () => boolean) {
    this.#once = once;
    this.#mayGoOn = mayGoOn;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Resolves when the look that runs, and what was asked for during it, is over; rejects with its fault. */
  async look(): Promise<void> {
    if (this.#running !== null) {
      this.#isAgain = true;
      return this.#running;
    }
    this.#running = this.#lookOver();
    try {
      await this.#running;
    } finally {
      this.#running = null;
    }
  }

  /** Resolves when no look runs, whatever it came to. */
  async whenIdle(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  async #lookOver(): Promise<void> {
    do {
      this.#isAgain = false;
      await this.#once();
    } while (this.#isAgain && this.#mayGoOn());
  }
}
