// Hosts that die within a few steps of what hurts most: a stop, or the call of an assessment.
import type { Random } from '../../src/testing/sim-random.ts';

export class Doom {
  readonly #random: Random;
  #doomed: { readonly host: string; steps: number } | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The host dies before one of its next steps. */
  doom(host: string): void {
    this.#doomed = { host, steps: this.#random.between(1, 8) };
  }

  /** Whether this is the step before which a doomed host dies. */
  isDoomed(host: string): boolean {
    const doomed = this.#doomed;
    if (doomed?.host !== host) return false;
    doomed.steps -= 1;
    if (doomed.steps > 0) return false;
    this.#doomed = undefined;
    return true;
  }
}
