import { Fault } from '../../src/kernel/fault.ts';
import type {
  Committed,
  ReadName,
  Reads,
  Store,
  StoreFaultCode,
  Unit,
  UnitReads,
} from '../../src/ports/store.ts';
import { HandClock } from './host.ts';

/** What happens to one commit. `unseen`: it is committed and its outcome stays unknown. */
export type Mishap = StoreFaultCode | 'unseen' | 'hangs' | 'hangs-after' | undefined;

export interface CommitSeen {
  readonly unit: string;
  /** 0 for the first commit that this wrapper saw. */
  readonly index: number;
}

/** A store whose commits can go wrong, and whose commits can be held back. */
export class ShakyStore implements Store {
  readonly #real: Store;
  readonly seen: string[] = [];
  mishap: (seen: CommitSeen) => Mishap | Promise<Mishap>;
  /** Called before each query; what it throws is the query's fault. */
  onQuery: (read: ReadName) => void | Promise<void> = () => {};

  constructor(
    real: Store,
    mishap: (seen: CommitSeen) => Mishap | Promise<Mishap> = () => undefined,
  ) {
    this.#real = real;
    this.mishap = mishap;
  }

  get traits(): Store['traits'] {
    return this.#real.traits;
  }

  async commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    const index = this.seen.push(unit.name) - 1;
    const mishap = await this.mishap({ unit: unit.name, index });
    if (mishap === undefined) return this.#real.commit(unit);
    if (mishap === 'hangs') return new Promise(() => {});
    if (mishap === 'unseen' || mishap === 'hangs-after') {
      await this.#real.commit(unit);
      if (mishap === 'hangs-after') return new Promise(() => {});
    }
    throw storeFault(mishap === 'unseen' ? 'unknown' : mishap);
  }

  async query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    await this.onQuery(read);
    return this.#real.query(read, args);
  }

  async close(): Promise<void> {}
}

export function storeFault(code: StoreFaultCode): Fault {
  return new Fault(code, 'retry', `the store says ${code}`);
}

/** A clock whose short pauses pass by themselves; longer ones wait for `advance`. */
export class QuickClock extends HandClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > 1_000) return super.sleep(ms, signal);
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
