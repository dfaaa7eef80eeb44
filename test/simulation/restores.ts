// When an operator stops the hosts of a run and restores their store.
import { SECOND, type Millis } from '../../src/kernel/time.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Host } from './host.ts';

export interface RestoresParts {
  readonly scheduler: Scheduler;
  readonly epoch: Epoch;
  readonly random: Random;
  readonly hosts: () => readonly Host[];
  readonly kill: (host: Host) => void;
  /** Writes what the import leaves; no host has the store. */
  readonly restore: () => void;
}

const STOPPED_AFTER = 30 * SECOND;

export class Restores {
  readonly #parts: RestoresParts;
  #isOver = false;
  /** While the store is the operator's, no host is started. */
  isBusy = false;

  constructor(parts: RestoresParts) {
    this.#parts = parts;
  }

  begin(count: number, span: Millis): void {
    for (let number = 0; number < count; number += 1) {
      const delay = Math.floor(this.#parts.random.next() * span);
      void this.#later('a restore', delay, () => this.#begin());
    }
  }

  calm(): void {
    this.#isOver = true;
  }

  /** One now; for scenarios that are written by hand. */
  now(): void {
    if (!this.isBusy) this.#begin();
  }

  #begin(): void {
    if (this.#isOver || this.isBusy) return;
    const { random, hosts } = this.#parts;
    this.isBusy = true;
    const isClean = random.chance(0.5);
    if (isClean)
      for (const host of hosts()) if (host.isUp) void host.stop(random.pick([0, SECOND]));
    void this.#later('restore', isClean ? STOPPED_AFTER : 0, () => this.#end());
  }

  #end(): void {
    const { hosts, kill, restore } = this.#parts;
    for (const host of hosts()) if (host.state !== 'dead') kill(host);
    restore();
    this.isBusy = false;
  }

  #later(label: string, delay: Millis, act: () => void): Promise<void> {
    const { scheduler, epoch } = this.#parts;
    return scheduler.call({ epoch, label, delay }, act);
  }
}
