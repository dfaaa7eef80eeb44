const MEANWHILE_MS = 100;

/** A line of stderr that is written over while something counts; nothing where nobody watches. */
export class Progress {
  readonly #what: string;
  readonly #isShown = process.stderr.isTTY;
  #toldAt = 0;

  constructor(what: string) {
    this.#what = what;
  }

  /** Shows the count, unless one was shown a moment ago. */
  count(done: number): void {
    const now = Date.now();
    if (!this.#isShown || now - this.#toldAt < MEANWHILE_MS) return;
    this.#toldAt = now;
    process.stderr.write(`\r${this.#what}: ${done.toLocaleString('en')}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isShown && this.#toldAt > 0) process.stderr.write('\r\u001B[K');
  }
}
