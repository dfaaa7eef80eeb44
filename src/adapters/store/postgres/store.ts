import type { Pool, PoolClient } from 'pg';
import { Fault } from '../../../kernel/fault.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import type {
  At,
  Committed,
  Decision,
  ReadCall,
  ReadName,
  Reads,
  Rows,
  Store,
  StoreCheck,
  StoreFault,
  StoreTraits,
  Unit,
  UnitReads,
} from '../../../ports/store.ts';
import { endsTrust, storeFault } from '../fault.ts';
import type { Call } from '../statement.ts';
import { faultOf, isTaken } from './errors.ts';
import { LOCKS, runRead, runWrite, type Row } from './session.ts';

const LOST = { kind: 'lost' } as const;
const NOW = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now';

export interface PostgresParts {
  readonly pool: Pool;
  readonly ids: Ids;
  readonly traits: StoreTraits;
  /** For tests alone: the instant of transactions instead of the server's. */
  readonly testClock: Pick<Clock, 'now'> | undefined;
}

/** What a failure inside a transaction means depends on how far it came. */
interface Progress {
  stage: 'connecting' | 'working' | 'committing' | 'lost' | 'done';
  thrown: { readonly cause: unknown } | undefined;
}

/**
 * The store on PostgreSQL: each unit is one transaction. A unit first locks the conversation that it
 * reads; whatever it reads after that holds until its commit. `now` is taken under that lock, so that
 * it does not go back from one unit of a conversation to the next.
 */
export class PostgresStore implements Store {
  readonly traits: StoreTraits;
  readonly #parts: PostgresParts;
  #refusal: StoreFault | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: PostgresParts) {
    this.traits = parts.traits;
    this.#parts = parts;
  }

  async commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const progress: Progress = { stage: 'connecting', thrown: undefined };
    let client: PoolClient | undefined;
    try {
      client = await this.#parts.pool.connect();
      progress.stage = 'working';
      return await this.#transact(client, unit, progress);
    } catch (error) {
      if (progress.stage === 'working' && isTaken(error)) return LOST;
      throw this.#noted(error, progress);
    } finally {
      if (client !== undefined) await release(client, progress);
    }
  }

  async query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    const call = { args: args as Call, lock: false };
    const rows = await this.#outside(() => runRead(this.#parts.pool, read, call));
    return rows as Reads[N]['rows'];
  }

  /** Rows of a query in SQL, for operators and tests; it cannot write. Rejects like `query`. */
  async inspect(sql: string): Promise<readonly Row[]> {
    return this.#outside(async () => {
      const client = await this.#parts.pool.connect();
      try {
        await client.query('begin read only');
        const { rows } = await client.query<Row>(sql);
        return rows;
      } finally {
        await release(client, { stage: 'working', thrown: undefined });
      }
    });
  }

  async check(): Promise<StoreCheck> {
    await this.#outside(() => this.#parts.pool.query('select 1'));
    return { depth: 'answers', damage: [] };
  }

  /** Waits for the units that run, then ends the connections. Later calls reject with `closed`. */
  close(): Promise<void> {
    this.#refusal ??= storeFault('closed', 'The store is closed.');
    this.#closing ??= this.#parts.pool.end();
    return this.#closing;
  }

  async #outside<T>(read: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined && this.#refusal !== undefined) throw this.#refusal;
    try {
      return await read();
    } catch (error) {
      throw this.#noted(error, { stage: 'working', thrown: undefined });
    }
  }

  async #transact<R extends UnitReads, V>(
    client: PoolClient,
    unit: Unit<R, V>,
    progress: Progress,
  ): Promise<Committed<V>> {
    await client.query('begin');
    const rows = await readRows(client, unit.reads);
    const at: At = { now: await this.#now(client), ids: this.#parts.ids };
    const decision = decide(unit, rows as Rows<R>, { at, progress });
    for (const write of decision.writes) {
      // In order, on one connection: a guard may stop the rest.
      if (!(await runWrite(client, write))) return LOST;
    }
    if (decision.writes.length > 0) {
      progress.stage = 'committing';
      await client.query('commit');
      progress.stage = 'done';
    }
    return { kind: 'done', verdict: decision.verdict, now: at.now };
  }

  async #now(client: PoolClient): Promise<number> {
    if (this.#parts.testClock !== undefined) return this.#parts.testClock.now();
    const { rows } = await client.query<{ now: number }>({ name: 'now', text: NOW });
    return rows[0]?.now ?? 0;
  }

  #noted(error: unknown, progress: Progress): StoreFault {
    const fault = this.#translated(error, progress);
    // What can be told of the connection goes for the next who would get it: it is not given back.
    if (fault.code === 'disconnected') progress.stage = 'lost';
    if (endsTrust(fault.code)) this.#refusal ??= fault;
    return fault;
  }

  #translated(error: unknown, progress: Progress): StoreFault {
    if (progress.thrown !== undefined) {
      return storeFault('bug', 'A decision threw.', progress.thrown.cause);
    }
    if (error instanceof Fault) return error as StoreFault;
    if (this.#closing !== undefined && progress.stage === 'connecting') {
      return storeFault('closed', 'The store is closed.', error);
    }
    return faultOf(error, progress.stage === 'committing');
  }
}

function decide<R extends UnitReads, V>(
  unit: Unit<R, V>,
  rows: Rows<R>,
  around: { readonly at: At; readonly progress: Progress },
): Decision<V> {
  try {
    return unit.decide(rows, around.at);
  } catch (error) {
    around.progress.thrown = { cause: error };
    throw error;
  }
}

/** Reads in two rounds: what is locked, by id so that two units never wait for one another, then the rest. */
async function readRows(client: PoolClient, reads: UnitReads): Promise<Record<string, unknown>> {
  const calls = Object.entries(reads);
  const isLocked = (call: ReadCall): boolean => LOCKS.has(call.read) || call.alone === true;
  const isLock = ([, call]: [string, ReadCall]): boolean => isLocked(call);
  const locks = calls.filter(isLock).toSorted((a, b) => (lockKey(a[1]) < lockKey(b[1]) ? -1 : 1));
  const rows: Record<string, unknown> = {};
  for (const [key, call] of [...locks, ...calls.filter((one) => !isLock(one))]) {
    const lock = isLocked(call);
    rows[key] = await runRead(client, call.read, { args: call.args, lock });
  }
  return rows;
}

function lockKey(call: ReadCall): string {
  return `${call.read} ${JSON.stringify(call.args)}`;
}

/** Gives a connection back with no transaction on it, or throws the connection away. */
async function release(client: PoolClient, progress: Progress): Promise<void> {
  if (progress.stage === 'done') {
    client.release();
    return;
  }
  try {
    if (progress.stage === 'working') await client.query('rollback');
    client.release(progress.stage !== 'working');
  } catch {
    client.release(true);
  }
}
