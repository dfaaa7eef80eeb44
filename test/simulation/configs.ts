// What the hosts of a run are configured with: a later one may run with another model and other pauses (M-5).
import type { EngineOptions } from '../../src/engine/engine.ts';
import { MINUTE } from '../../src/kernel/time.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Host } from './host.ts';
import type { SimulationOptions } from './options.ts';
import { configured, WIDE_WINDOW } from './options-upkeep.ts';
import type { Sometime } from './sometimes.ts';

export type Config = ReturnType<typeof configured>;

export interface ConfigsParts {
  readonly options: SimulationOptions;
  readonly random: Random;
  readonly hosts: () => readonly Host[];
  readonly reached: (name: Sometime) => void;
}

export class Configs {
  readonly #parts: ConfigsParts;
  readonly #delays: EngineOptions['maintenance'][] = [];
  #isWide = false;

  constructor(parts: ConfigsParts) {
    this.#parts = parts;
  }

  /** The pauses of every host so far. */
  get delays(): readonly EngineOptions['maintenance'][] {
    return this.#delays;
  }

  /** What the next host runs with. */
  next(): Config {
    const { options, random, reached } = this.#parts;
    const drawn = configured(options, random);
    if (drawn.window !== options.window) reached('other_window');
    this.#delays.push(drawn.maintenance);
    return this.#isWide ? { ...drawn, window: WIDE_WINDOW } : drawn;
  }

  /**
   * Hosts run from here on with a model of a large window: what did not fit fits (M-18). One that starts or
   * sleeps is asked to stop when it is up; tells whether none of before is left.
   */
  widen(): boolean {
    this.#isWide = true;
    const old = this.#parts
      .hosts()
      .filter(({ state, window }) => state !== 'dead' && window < WIDE_WINDOW);
    for (const host of old) if (host.isUp) void host.stop(MINUTE);
    return old.length === 0;
  }
}
