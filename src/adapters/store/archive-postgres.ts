import pg from 'pg';
import type { Archived, ArchiveKind } from '../../core/archive/record.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Filling, OpenFilling, OpenSnapshot, Snapshot } from '../../ports/archive.ts';
import type { Ids } from '../../ports/ids.ts';
import {
  insertSql,
  LAST_ENTRY_SQL,
  recordOf,
  runsOf,
  SCHEMA_SQL,
  selectSql,
  valuesOf,
} from './archive.ts';
import { FIELDS } from './tables.ts';
import { faultOf, isTaken } from './postgres/errors.ts';
import { openPostgres } from './postgres/open.ts';

const CONNECT_WAIT_MS = 5_000;
const LOCK_WAIT_MS = 10_000;
/** How long whoever reads an export may stand still before its snapshot is given up. */
const IDLE_MS = 120_000;
/** Rows of one answer, and of one insert. */
const PAGE_ROWS = 64;
const INSERT_ROWS = 100;

/** Whole numbers come as numbers: no column of ours exceeds 2^53. */
const INT8 = 20;
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);

/** Snapshots of a shared store, each on a connection of its own. Throws a `StoreFault` code. */
export function postgresSnapshots(url: string): OpenSnapshot {
  return async () => {
    const client = await connect(url);
    try {
      await client.query('begin isolation level repeatable read read only');
      const { rows } = await client.query<{ schema: number }>(SCHEMA_SQL);
      return new PostgresSnapshot(client, rows[0]?.schema ?? 0);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw faultOf(error, false);
    }
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_WAIT_MS,
    lock_timeout: LOCK_WAIT_MS,
    idle_in_transaction_session_timeout: IDLE_MS,
    keepAlive: true,
    types,
  });
  // Whoever uses a lost connection learns by its query.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw faultOf(error, false);
  }
}

class PostgresSnapshot implements Snapshot {
  readonly schema: number;
  readonly #client: pg.Client;
  #ended: Promise<void> | undefined;

  constructor(client: pg.Client, schema: number) {
    this.#client = client;
    this.schema = schema;
  }

  async *records(kind: ArchiveKind): AsyncGenerator<readonly Archived[]> {
    try {
      await this.#client.query(`declare page no scroll cursor for ${selectSql(kind)}`);
      for (;;) {
        const { rows } = await this.#client.query<unknown[]>({
          text: `fetch ${PAGE_ROWS} from page`,
          rowMode: 'array',
        });
        if (rows.length > 0) yield rows.map((values) => recordOf(kind, values));
        if (rows.length < PAGE_ROWS) break;
      }
      await this.#client.query('close page');
    } catch (error) {
      throw faultOf(error, false);
    }
  }

  close(): Promise<void> {
    this.#ended ??= this.#client.end().catch(() => undefined);
    return this.#ended;
  }
}

/**
 * Fills a shared store, which is migrated when need be. Refused with `store_in_use` while the lease of
 * any host holds; no host can write its row until the end.
 */
export function postgresFillings({
  url,
  ids,
}: {
  readonly url: string;
  readonly ids: Ids;
}): OpenFilling {
  return async () => {
    const migrated = await openPostgres({ url, ids });
    await migrated.close();
    const client = await connect(url);
    try {
      await client.query('begin');
      await client.query('lock table host in share row exclusive mode');
      const now = await refuseLiving(client);
      return new PostgresFilling(client, now);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error instanceof Fault ? error : faultOf(error, false);
    }
  };
}

const LIVING_SQL = `
  select at.now as now, host.id as id, host.pid as pid, host.alive_until as alive_until
  from (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now) as at
  left join host on host.stopped_at is null and host.alive_until > at.now
  order by host.started_at desc limit 1`;

interface Living {
  readonly now: number;
  readonly id: string | null;
  readonly pid: number | null;
  readonly alive_until: number | null;
}

/** The server's instant. Throws the `Fault` `store_in_use` that names the host which lives. */
async function refuseLiving(client: pg.Client): Promise<number> {
  const { rows } = await client.query<Living>(LIVING_SQL);
  const [living] = rows;
  if (living?.id === null || living === undefined) return living?.now ?? 0;
  const until = new Date(living.alive_until ?? 0).toISOString();
  const who = `the host ${living.id}, process ${living.pid} of its machine, alive until ${until}`;
  const what = `The store is in use by ${who}. Stop that host first.`;
  throw new Fault('store_in_use', 'stop', what);
}

class PostgresFilling implements Filling {
  readonly now: number;
  readonly #client: pg.Client;
  #ended: Promise<void> | undefined;

  constructor(client: pg.Client, now: number) {
    this.#client = client;
    this.now = now;
  }

  async insert(records: readonly Archived[]): Promise<number | undefined> {
    let before = 0;
    for (const run of runsOf(records)) {
      for (let start = 0; start < run.length; start += INSERT_ROWS) {
        const part = run.slice(start, start + INSERT_ROWS);
        const taken = await this.#insertPart(part);
        if (taken !== undefined) return before + start + taken;
      }
      before += run.length;
    }
    return undefined;
  }

  async lastEntry(): Promise<AuditRecord | undefined> {
    const [values] = await this.#ask(LAST_ENTRY_SQL);
    return values === undefined ? undefined : (recordOf('audit', values).record as AuditRecord);
  }

  async keep(): Promise<void> {
    try {
      await this.#client.query('commit');
    } catch (error) {
      throw faultOf(error, true);
    }
  }

  /** A connection that ends takes what it did not commit with it. */
  close(): Promise<void> {
    this.#ended ??= this.#client.end().catch(() => undefined);
    return this.#ended;
  }

  /** All at once; when a key of them is taken, one after the other, to tell which. */
  async #insertPart(part: readonly Archived[]): Promise<number | undefined> {
    await this.#ask('savepoint part');
    if (await this.#insertRows(part)) {
      await this.#ask('release savepoint part');
      return undefined;
    }
    await this.#ask('rollback to savepoint part');
    for (const [place, one] of part.entries()) if (!(await this.#insertRows([one]))) return place;
    return undefined;
  }

  /** False when a key is taken; then the transaction waits for its end. */
  async #insertRows(rows: readonly Archived[]): Promise<boolean> {
    const kind = rows[0]?.kind;
    if (kind === undefined) return true;
    const text = insertSql(kind, rows.length, (place) => `$${place + 1}`);
    const values = rows.flatMap((row) => valuesOf<unknown>(row));
    const isWhole = values.length === INSERT_ROWS * FIELDS[kind].length;
    try {
      await this.#client.query({ text, values, ...(isWhole ? { name: `fill ${kind}` } : {}) });
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      throw faultOf(error, false);
    }
  }

  async #ask(text: string): Promise<readonly (readonly unknown[])[]> {
    try {
      return (await this.#client.query<unknown[]>({ text, rowMode: 'array' })).rows;
    } catch (error) {
      throw faultOf(error, false);
    }
  }
}
