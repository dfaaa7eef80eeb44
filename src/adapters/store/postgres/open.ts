import pg, { type PoolClient } from 'pg';
import { Fault } from '../../../kernel/fault.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import { APPLIED_SQL, nextMigration, type Applied } from '../migrate.ts';
import type { Migration } from '../migration.ts';
import { migrationTable, MIGRATIONS, sqlOf } from '../migrations.ts';
import { faultOf } from './errors.ts';
import { assertFit } from './session.ts';
import { PostgresStore } from './store.ts';

const CONNECTIONS_MAX = 10;
const CONNECT_WAIT_MS = 5_000;
/** Locks are held for milliseconds: who waits longer waits for a host that stands still. */
const LOCK_WAIT_MS = 10_000;
const STATEMENT_MS = 30_000;
/** A host that stands still inside a transaction loses it, so that others go on. */
const IDLE_TRANSACTION_MS = 15_000;
/** Names our migrations among the advisory locks of the database. */
const MIGRATION_LOCK = 7_310_224;

/** Whole numbers come as numbers, in these connections only: no column of ours exceeds 2^53. */
const INT8 = 20;
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);

/** What the pool asks of each new connection before anybody gets it. */
function verify(client: PoolClient, done: (error?: Error) => void): void {
  const answer = async (): Promise<void> => {
    try {
      await assertFit(client);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
  void answer();
}

export interface PostgresOptions {
  /** `postgres://…`, as `pg` reads it. */
  readonly url: string;
  readonly ids: Ids;
  /** For tests alone: the instant of transactions instead of the server's. */
  readonly testClock?: Pick<Clock, 'now'>;
  /** For tests of migrations alone. */
  readonly migrations?: readonly Migration[];
}

/**
 * Opens a store on PostgreSQL and brings its schema up to date; hosts that start together wait for
 * one another. Rejects with a `Fault`: `store_too_new`, `store_unsafe`, or a `StoreFault` code.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_WAIT_MS,
    lock_timeout: LOCK_WAIT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + LOCK_WAIT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    keepAlive: true,
    types,
    verify,
  });
  // Without listeners a lost connection would end the process; whoever uses it learns by its query.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    const traits = { exclusive: false, description: await prepared(pool, options) };
    return new PostgresStore({ pool, ids: options.ids, traits, testClock: options.testClock });
  } catch (error) {
    await pool.end();
    throw error instanceof Fault ? error : faultOf(error, false);
  }
}

/** Migrates, and says what server it is. */
async function prepared(pool: pg.Pool, options: PostgresOptions): Promise<string> {
  const client = await pool.connect();
  try {
    await migrate(client, options.migrations ?? MIGRATIONS);
    const { rows } = await client.query<{ description: string }>(
      `select 'PostgreSQL ' || current_setting('server_version') || ', database '
        || current_database() as description`,
    );
    return rows[0]?.description ?? 'PostgreSQL';
  } finally {
    client.release();
  }
}

/** Applies what is missing, each migration with its record in one transaction. */
async function migrate(client: PoolClient, known: readonly Migration[]): Promise<void> {
  let isCurrent = false;
  while (!isCurrent) {
    await client.query('begin');
    try {
      await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await client.query(migrationTable('postgres'));
      const next = nextMigration((await client.query<Applied>(APPLIED_SQL)).rows, known);
      isCurrent = next === undefined;
      if (next !== undefined) await apply(client, next);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  for (const sql of sqlOf(migration, 'postgres')) await client.query(sql);
  await client.query(
    `insert into migration (number, name, breaking, at)
      values ($1, $2, $3, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`,
    [migration.number, migration.name, migration.breaking],
  );
}
