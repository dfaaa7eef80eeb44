// The real store of one simulated host, with everything between that can go wrong on the way.
import { Fault } from '../../src/kernel/fault.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type {
  Committed,
  ReadName,
  Reads,
  Store,
  StoreFault,
  StoreFaultCode,
  StoreTraits,
  Unit,
  UnitReads,
  Write,
} from '../../src/ports/store.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Faults } from './options.ts';
import type { Sometime } from './sometimes.ts';

/** What was committed, as the journal of a run keeps it. */
export interface CommittedUnit {
  readonly unit: string;
  readonly host: string;
  readonly writes: readonly Write[];
}

/** The disk and the wire, the same for all hosts. */
export interface StoreWeather {
  faults: Faults;
  /** Virtual time until which the disk is full. */
  diskFullUntil: number;
  /** True after a refusal for want of space, until a commit succeeds. */
  diskWasFull: boolean;
}

export interface FaultyStoreParts {
  readonly real: Store;
  readonly shared: boolean;
  readonly scheduler: Scheduler;
  readonly epoch: Epoch;
  readonly faults: Random;
  readonly pace: Random;
  readonly weather: StoreWeather;
  readonly reached: (name: Sometime) => void;
  readonly committed: (unit: CommittedUnit) => void;
  readonly lost: () => void;
}

const LONGER_THAN_A_LEASE = 20 * SECOND;

export function faultyStore(parts: FaultyStoreParts): Store {
  return new FaultyStore(parts);
}

class FaultyStore implements Store {
  readonly traits: StoreTraits;
  readonly #parts: FaultyStoreParts;
  #failed = false;

  constructor(parts: FaultyStoreParts) {
    this.#parts = parts;
    this.traits = { ...parts.real.traits, exclusive: !parts.shared };
  }

  async commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    const { scheduler, epoch, pace } = this.#parts;
    const delay = this.#delay();
    const outcome = await scheduler.call({ epoch, label: `store.commit ${unit.name}`, delay }, () =>
      this.#commitNow(unit),
    );
    // A second answer: between the two a host can die without ever learning of its commit.
    const label = `store.learn ${unit.name}`;
    await scheduler.call({ epoch, label, delay: pace.below(3) }, () => undefined);
    if ('fault' in outcome) throw outcome.fault;
    return outcome;
  }

  async query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    const { scheduler, epoch, pace, real } = this.#parts;
    return scheduler.call({ epoch, label: `store.query ${read}`, delay: pace.below(3) }, () => {
      this.#fail(['busy', 'disconnected', 'io']);
      return real.query(read, args);
    });
  }

  /** The store outlives its host: only the world closes it. */
  async close(): Promise<void> {
    this.#failed = true;
  }

  #delay(): number {
    const { faults, pace, weather, reached } = this.#parts;
    if (!faults.chance(weather.faults.slow)) return pace.below(6);
    const delay = faults.below(120 * SECOND);
    if (delay > LONGER_THAN_A_LEASE) reached('store_slow');
    return delay;
  }

  async #commitNow<R extends UnitReads, V>(
    unit: Unit<R, V>,
  ): Promise<Committed<V> | { readonly fault: StoreFault }> {
    const { faults, weather, reached } = this.#parts;
    try {
      this.#fail(['busy', 'disconnected', 'disk_full', 'io']);
      if (faults.chance(weather.faults.lostRace)) return this.#lost(unit.name);
      const unknown = faults.chance(weather.faults.unknown);
      if (unknown && faults.chance(0.5)) {
        reached('unknown_nothing');
        throw storeFault('unknown');
      }
      const committed = await this.#really(unit);
      if (!unknown) return committed;
      if (committed.kind === 'done') reached('unknown_committed');
      throw storeFault('unknown');
    } catch (fault) {
      if (fault instanceof Fault) return { fault: fault as StoreFault };
      throw fault;
    }
  }

  async #really<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    const { real, scheduler, epoch, weather, reached } = this.#parts;
    let writes: readonly Write[] = [];
    const observed: Unit<R, V> = {
      name: unit.name,
      reads: unit.reads,
      decide(rows, at) {
        const decision = unit.decide(rows, at);
        writes = decision.writes;
        return decision;
      },
    };
    const committed = await real.commit(observed);
    if (committed.kind === 'lost') return this.#lost(unit.name);
    if (weather.diskWasFull) reached('disk_full_recovered');
    weather.diskWasFull = false;
    scheduler.note(`committed ${unit.name}: ${writes.map(briefly).join(', ')}`);
    this.#parts.committed({ unit: unit.name, host: epoch.name, writes });
    return committed;
  }

  #lost(unit: string): { readonly kind: 'lost' } {
    const { scheduler, reached } = this.#parts;
    scheduler.note(`lost ${unit}`);
    reached('lost_race');
    this.#parts.lost();
    return { kind: 'lost' };
  }

  /** Throws when the weather says so; every code of `codes` draws, so that odds do not reshuffle. */
  #fail(codes: readonly StoreFaultCode[]): void {
    const { faults, weather, reached, scheduler } = this.#parts;
    if (this.#failed) throw storeFault('closed');
    const { busy, disconnected, diskFull, io } = weather.faults;
    const [isBusy, isGone, fills, breaks] = [busy, disconnected, diskFull, io].map((odds) =>
      faults.chance(odds),
    );
    if (codes.includes('io') && breaks === true) {
      this.#failed = true;
      reached('store_io');
      throw storeFault('io');
    }
    if (codes.includes('disk_full')) {
      if (fills === true) weather.diskFullUntil = scheduler.elapsed + faults.below(60 * SECOND);
      if (scheduler.elapsed < weather.diskFullUntil) {
        weather.diskWasFull = true;
        reached('disk_full');
        throw storeFault('disk_full');
      }
    }
    if (isBusy === true) {
      reached('store_busy');
      throw storeFault('busy');
    }
    if (isGone === true) {
      reached('store_disconnected');
      throw storeFault('disconnected');
    }
  }
}

/** A fault as an adapter throws it. */
export function storeFault(code: StoreFaultCode): StoreFault {
  const remedy = code === 'io' || code === 'closed' ? 'stop' : 'retry';
  return new Fault(code, remedy, `injected: ${code}`) as StoreFault;
}

function briefly(write: Write): string {
  if (!('row' in write)) return `${write.write} ${'id' in write ? write.id : write.turnId}`;
  if (write.write === 'event.insert') return `event ${write.row.type}`;
  return 'id' in write.row ? `${write.write} ${write.row.id}` : write.write;
}
