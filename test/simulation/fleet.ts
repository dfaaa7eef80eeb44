// The hosts of a run: a supervisor that starts what died, and hosts that sleep past their lease.
import type { Engine } from '../../src/engine/engine.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Epoch } from '../../src/testing/scheduler.ts';
import { Host } from './host.ts';
import { voidStops } from './notes.ts';
import type { World } from './world.ts';

export class Fleet {
  readonly #world: World;
  /** Requests go to other hosts than this one. */
  avoided = '';
  /** So much later the next host starts. */
  away = 0;
  lastDiedUncleanly = false;
  #hosts: Host[] = [];
  #hostNumber = 0;
  #isStarting = false;

  constructor(world: World) {
    this.#world = world;
  }

  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  has(name: string): boolean {
    return this.#hosts.some((one) => one.epoch.name === name);
  }

  /** The living host of a step. */
  of(epoch: Epoch): Host | undefined {
    return this.#hosts.find((one) => one.epoch === epoch && isAlive(one));
  }

  /** A host that takes requests now, if any. */
  someHost(): Engine | undefined {
    const up = this.#hosts.filter((host) => host.isUp && host.epoch.name !== this.avoided);
    return up.length === 0 ? undefined : this.#world.random.workload.pick(up).engine;
  }

  /** A supervisor: whatever died is started again. */
  keep(): void {
    if (!this.#hosts.every(isAlive)) this.#hosts = this.#hosts.filter(isAlive);
    const alive = this.#hosts.filter((host) => host.epoch.state === 'running').length;
    this.#thin();
    if (this.#isStarting || this.#world.restores.isBusy || alive >= this.#world.options.hosts)
      return;
    if (!this.#world.options.shared && this.#hosts.length > 0) return;
    this.#isStarting = true;
    const delay =
      this.#hostNumber === 0 ? 0 : this.#world.random.pace.below(3 * SECOND) + this.#absence();
    void this.#world.scheduler.call(
      { epoch: this.#world.epoch, label: 'start a host', delay },
      async () => {
        // Once is enough: it is the slowest thing that a run does.
        if (!this.#world.options.shared && this.#hostNumber === 1) await this.#world.reopen();
        this.#hostNumber += 1;
        const host = new Host(this.#world, `host${this.#hostNumber}`, this.lastDiedUncleanly);
        this.#hosts.push(host);
        this.#isStarting = false;
        void host.start();
      },
    );
  }

  /** Sleepers that woke are one host too many: each is stopped in the end. */
  #thin(): void {
    const up = this.#hosts.filter((host) => host.isUp);
    const [first] = up;
    if (up.length > this.#world.options.hosts + 1) void first?.stop(0);
  }

  /** How long nobody starts what died: now and then until orders with their own time are late (T-15). */
  #absence(): number {
    const { judge } = this.#world.random;
    const planned = this.away;
    this.away = 0;
    const { hasFaults, look, options } = this.#world;
    const isLate = hasFaults && options.faults.crashEvery > 0 && judge.chance(0.5);
    // Only where something can be late: the wait is long for whoever asks meanwhile.
    const hasOrder = isLate && look.tasks().some(({ orderAt }) => orderAt !== null);
    return hasOrder ? judge.between(16, 40) * MINUTE : planned;
  }

  pause(host: Host): void {
    const { faults } = this.#world.random;
    const isLong = faults.chance(0.7);
    const { leaseMs } = this.#world.options;
    const delay = isLong ? leaseMs * 1.2 + faults.below(MINUTE) : faults.below(leaseMs);
    const { interrupts } = this.#world.notes;
    host.epoch.state = 'paused';
    voidStops(this.#world.notes, host.epoch.name);
    this.#world.trace(`${host.epoch.name} sleeps for ${delay}`);
    void this.#world.scheduler.call(
      { epoch: this.#world.epoch, label: 'wake a host', delay },
      () => {
        if (host.epoch.state !== 'paused') return;
        host.epoch.state = 'running';
        if (this.#world.notes.interrupts === interrupts) return;
        host.isZombie = true;
        this.#world.reached('zombie_woke');
      },
    );
  }
}

/** Asked anew: it may have died meanwhile. */
export function isAlive({ state }: Host): boolean {
  return state !== 'dead';
}
