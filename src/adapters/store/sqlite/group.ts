import { invariant } from '../../../kernel/invariant.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import type {
  At,
  Committed,
  Decision,
  ReadCall,
  ReadName,
  Reads,
  Store,
  StoreAlarm,
  StoreCheck,
  StoreFault,
  StoreTraits,
  Unit,
  UnitReads,
} from '../../../ports/store.ts';
import { endsTrust, storeFault } from '../fault.ts';
import type { Call } from '../statement.ts';
import { faultOf, isTaken, storageFault } from './errors.ts';
import type { Handle, Row } from './handle.ts';
import type { WalWatch } from './wal.ts';

/** Units of one transaction: what one turn of the event loop may take at most. */
const GROUP_UNITS_MAX = 256;

/** A unit that waits for its group, with its types forgotten. */
interface Waiting {
  readonly unit: { readonly reads: UnitReads; decide(rows: Row, at: At): Decision<unknown> };
  resolve(committed: Committed<unknown>): void;
  reject(fault: StoreFault): void;
}
/** How a unit of a group went, before the group is committed. */
type Outcome =
  | { readonly kind: 'done'; readonly verdict: unknown; readonly wrote: boolean }
  | { readonly kind: 'lost' }
  | { readonly kind: 'threw'; readonly fault: StoreFault };

const LOST = { kind: 'lost' } as const;

export interface GroupOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly traits: StoreTraits;
  /** Calls back soon: whatever is committed until then shares one transaction. */
  readonly defer: (flush: () => void) => void;
  /** Of a file; one in memory has no log. */
  readonly wal?: WalWatch;
  /** Reads the records through, beside the work; without it the store only says that it answers. */
  readonly check?: () => Promise<StoreCheck>;
  readonly onClose: () => void;
}

/**
 * The store on SQLite. Units that become ready in one turn of the event loop share one transaction
 * and its fsync; each stands in its own savepoint, so a unit that is lost or throws takes nothing
 * with it. Nothing is awaited between begin and commit, so reads outside a unit see committed rows.
 * After a fault that ends trust (`io`, `read_only`, `corrupt`) every commit is refused with it,
 * although SQLite itself would go on: nothing may be acknowledged any more (G-6).
 */
export class SqliteStore implements Store {
  readonly traits: StoreTraits;
  readonly #handle: Handle;
  readonly #options: GroupOptions;
  #waiting: Waiting[] = [];
  #refusal: StoreFault | undefined;
  #isClosed = false;

  constructor(handle: Handle, options: GroupOptions) {
    this.traits = options.traits;
    this.#handle = handle;
    this.#options = options;
  }

  get alarm(): StoreAlarm | null {
    return this.#options.wal?.alarm ?? null;
  }

  commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        unit: unit,
        resolve: resolve as Waiting['resolve'],
        reject,
      });
      if (this.#waiting.length === 1) this.#options.defer(() => this.#flush());
    });
  }

  query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    return this.#outside(() => this.#handle.read(read, args as Call) as Reads[N]['rows']);
  }

  /** Rows of a query in SQL, for operators and tests; it cannot write. Rejects like `query`. */
  inspect(sql: string): Promise<readonly Row[]> {
    return this.#outside(() => this.#handle.inspect(sql));
  }

  check(): Promise<StoreCheck> {
    if (this.#isClosed && this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return this.#options.check?.() ?? Promise.resolve({ depth: 'answers', damage: [] });
  }

  /** Commits what waits, then lets go of the file and its lock. Later calls reject with `closed`. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    while (this.#waiting.length > 0) this.#flush();
    this.#isClosed = true;
    this.#refusal = storeFault('closed', 'The store is closed.');
    this.#handle.close();
    this.#options.onClose();
    return Promise.resolve();
  }

  #outside<T>(read: () => T): Promise<T> {
    if (this.#isClosed && this.#refusal !== undefined) return Promise.reject(this.#refusal);
    try {
      return Promise.resolve(read());
    } catch (error) {
      return Promise.reject(this.#noted(faultOf(error)));
    }
  }

  /** Remembers a fault after which the store is not to be trusted. */
  #noted(fault: StoreFault): StoreFault {
    if (endsTrust(fault.code)) this.#refusal ??= fault;
    return fault;
  }

  #flush(): void {
    const group = this.#waiting.slice(0, GROUP_UNITS_MAX);
    this.#waiting = this.#waiting.slice(GROUP_UNITS_MAX);
    if (group.length === 0) return;
    if (this.#waiting.length > 0) this.#options.defer(() => this.#flush());
    if (this.#refusal === undefined) this.#run(group);
    else for (const one of group) one.reject(this.#refusal);
  }

  #run(group: readonly Waiting[]): void {
    const outcomes: Outcome[] = [];
    const at = { now: this.#options.clock.now(), ids: this.#options.ids };
    try {
      this.#handle.control('begin');
      for (const { unit } of group) outcomes.push(this.#attempt(unit, at, group.length === 1));
      const wrote = outcomes.some((outcome) => outcome.kind === 'done' && outcome.wrote);
      // A group without a write has nothing to be made durable.
      this.#handle.control(wrote ? 'commit' : 'rollback');
      if (wrote) this.#options.wal?.committed();
    } catch (error) {
      const fault = this.#abandon(error);
      for (const [place, one] of group.entries()) {
        const outcome = outcomes[place];
        one.reject(outcome?.kind === 'threw' ? outcome.fault : fault);
      }
      return;
    }
    for (const [place, one] of group.entries()) settle(one, outcomes[place], at.now);
  }

  /** Runs one unit inside the group's transaction. Throws what ends the whole group. */
  #attempt(unit: Waiting['unit'], at: At, isAlone: boolean): Outcome {
    let decision: Decision<unknown>;
    try {
      decision = unit.decide(this.#rowsOf(unit.reads), at);
    } catch (error) {
      return this.#threw(error);
    }
    if (decision.writes.length === 0) {
      return { kind: 'done', verdict: decision.verdict, wrote: false };
    }
    // Alone it needs no savepoint: the group is rolled back when nothing of it was done.
    if (!isAlone) this.#handle.control('savepoint');
    const failure = this.#write(decision);
    if (failure !== undefined && !isAlone) this.#handle.control('undo');
    if (!isAlone) this.#handle.control('release');
    return failure ?? { kind: 'done', verdict: decision.verdict, wrote: true };
  }

  #rowsOf(reads: UnitReads): Row {
    const rows: Record<string, unknown> = {};
    for (const key in reads) {
      const call: ReadCall | undefined = reads[key];
      if (call !== undefined) rows[key] = this.#handle.read(call.read, call.args);
    }
    return rows;
  }

  #write(decision: Decision<unknown>): Outcome | undefined {
    try {
      for (const write of decision.writes) if (!this.#handle.write(write)) return LOST;
      return undefined;
    } catch (error) {
      return isTaken(error) ? LOST : this.#threw(error);
    }
  }

  /** The outcome of a unit that threw, unless the storage failed under it. */
  #threw(error: unknown): Outcome {
    if (storageFault(error) !== undefined || !this.#handle.inTransaction) throw error;
    return { kind: 'threw', fault: faultOf(error) };
  }

  /** Ends the transaction of a group that failed. SQLite may have rolled it back already. */
  #abandon(error: unknown): StoreFault {
    try {
      if (this.#handle.inTransaction) this.#handle.control('rollback');
    } catch (second) {
      const why = storeFault('io', 'The SQLite store could not roll back.', second);
      return this.#noted(why);
    }
    return this.#noted(faultOf(error));
  }
}

function settle(one: Waiting, outcome: Outcome | undefined, now: number): void {
  invariant(outcome !== undefined, 'each unit of a group has an outcome');
  if (outcome.kind === 'threw') one.reject(outcome.fault);
  else if (outcome.kind === 'lost') one.resolve(LOST);
  else one.resolve({ kind: 'done', verdict: outcome.verdict, now });
}
