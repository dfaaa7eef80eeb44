import type { Committed, ReadName, Reads, Store, Unit, UnitReads } from '../../src/ports/store.ts';

/** How often a store was asked, and how much it gave. */
export interface Counts {
  readonly commits: number;
  /** Reads outside a unit. */
  readonly queries: number;
  /** Rows of all reads, inside units and outside. */
  readonly rows: number;
}

/** A store that counts what is asked of it. */
export class CountingStore implements Store {
  readonly #real: Store;
  #counts = { commits: 0, queries: 0, rows: 0 };

  constructor(real: Store) {
    this.#real = real;
  }

  get traits(): Store['traits'] {
    return this.#real.traits;
  }

  /** What was counted since the last time it was taken. */
  take(): Counts {
    const counts = this.#counts;
    this.#counts = { commits: 0, queries: 0, rows: 0 };
    return counts;
  }

  commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    this.#counts.commits += 1;
    return this.#real.commit({
      name: unit.name,
      reads: unit.reads,
      decide: (rows, at) => {
        for (const found of Object.values(rows)) this.#counts.rows += rowsIn(found);
        return unit.decide(rows, at);
      },
    });
  }

  async query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    this.#counts.queries += 1;
    const found = await this.#real.query(read, args);
    this.#counts.rows += rowsIn(found);
    return found;
  }

  close(): Promise<void> {
    return this.#real.close();
  }
}

function rowsIn(found: unknown): number {
  if (Array.isArray(found)) return found.length;
  return found === undefined ? 0 : 1;
}
