// What an operator or a time server does to the wall clock of a run.
import { HOUR, MINUTE, type Millis } from '../../src/kernel/time.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { WallClock } from '../../src/testing/sim-clock.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { SimulationOptions } from './options.ts';
import type { Sometime } from './sometimes.ts';

const STEP_MAX = 50 * MINUTE;
/** Nobody believes such a step; a key of a day's time still holds (surface: HTTP). */
const LEAP_MAX = 9 * HOUR;

export interface ClockStepsParts {
  readonly options: SimulationOptions;
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  readonly epoch: Epoch;
  readonly random: Random;
  readonly reached: (name: Sometime) => void;
}

export class ClockSteps {
  readonly #parts: ClockStepsParts;
  #isOver = false;
  #highest: Millis = 0;

  constructor(parts: ClockStepsParts) {
    this.#parts = parts;
  }

  /** Plans all steps of the run. */
  begin(): void {
    const { clockSteps, clockLeaps } = this.#parts.options.faults;
    for (let count = 0; count < clockSteps; count += 1) this.#plan(STEP_MAX);
    for (let count = 0; count < clockLeaps; count += 1) this.#plan(LEAP_MAX);
  }

  /** Forward only: what was written ahead of the truth must not be waited for. */
  calm(): void {
    this.#isOver = true;
    this.#parts.wall.offset = this.#highest;
  }

  #plan(most: Millis): void {
    const { random, options, scheduler, epoch } = this.#parts;
    const delay = random.below(options.span * 2);
    const by = random.between(-most, most);
    void scheduler.call({ epoch, label: 'step the clock', delay }, () => this.#step(by, most));
  }

  #step(by: Millis, most: Millis): void {
    const { wall, reached } = this.#parts;
    if (this.#isOver) return;
    const offset = Math.min(most, Math.max(-most, wall.offset + by));
    reached(offset > wall.offset ? 'clock_forward' : 'clock_back');
    if (Math.abs(offset - wall.offset) > HOUR) reached('clock_leap');
    wall.offset = offset;
    this.#highest = Math.max(this.#highest, offset);
  }
}
