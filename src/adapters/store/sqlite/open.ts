import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../../kernel/fault.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import type { Log } from '../../../ports/log.ts';
import type { ReadName, Reads, Store, StoreTraits } from '../../../ports/store.ts';
import { storeFault } from '../fault.ts';
import { APPLIED_SQL, nextMigration, type Applied } from '../migrate.ts';
import type { Migration } from '../migration.ts';
import { migrationTable, MIGRATIONS, sqlOf } from '../migrations.ts';
import { checkFile, checkMemory } from './check.ts';
import { faultOf } from './errors.ts';
import { makePrivateFile } from './files.ts';
import { SqliteStore } from './group.ts';
import { openHandle, type Row } from './handle.ts';
import { takeLock, type HostLock } from './lock.ts';
import { assertDurable, assertVersion, setPragmas } from './pragmas.ts';
import { WalWatch } from './wal.ts';

/** How long a second writer of a shared file is waited for; the event loop stands still meanwhile. */
const BUSY_WAIT_MS = 1_000;
const MEMORY = ':memory:';

export interface SqliteOptions {
  /** The file; its folder is made when it is missing. `:memory:` for a store that dies with the process. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  /** Told of a log that grows behind a reader. */
  readonly log?: Pick<Log, 'info' | 'warn'>;
  /** Schedules the commit of a group; by default the next turn of the event loop. */
  readonly defer?: (flush: () => void) => void;
  /** Take the host's lock (G-8). Default true; a store in memory never has one. */
  readonly exclusive?: boolean;
  /** For tests of durability alone: run after the pragmas were read back. */
  readonly pragmas?: readonly string[];
  /** For tests of migrations alone. */
  readonly migrations?: readonly Migration[];
}

/**
 * Opens a store on SQLite and brings its schema up to date. Throws a `Fault`: `store_in_use` (another
 * host has it, G-8), `store_too_new`, `store_unsafe`, `sqlite_too_old`, or a `StoreFault` code.
 */
export function openSqlite(options: SqliteOptions): SqliteStore {
  const isMemory = options.path === MEMORY;
  const exclusive = !isMemory && (options.exclusive ?? true);
  if (!isMemory) makePrivateFile(options.path);
  const lock: HostLock | undefined = exclusive
    ? takeLock(options.path, { pid: process.pid, startedAt: options.clock.now() })
    : undefined;
  try {
    const db = openDatabase(options);
    return new SqliteStore(openHandle(db), {
      clock: options.clock,
      ids: options.ids,
      defer: options.defer ?? setImmediate,
      ...(isMemory ? {} : { wal: new WalWatch(options) }),
      traits: { exclusive, description: description(db, options.path) },
      check: async () => (isMemory ? checkMemory(db) : checkFile(options.path)),
      onClose: () => lock?.release(),
    });
  } catch (error) {
    lock?.release();
    throw error instanceof Fault ? error : faultOf(error);
  }
}

function openDatabase(options: SqliteOptions): DatabaseSync {
  const db = new DatabaseSync(options.path, { timeout: BUSY_WAIT_MS });
  try {
    assertVersion(db);
    setPragmas(db);
    assertDurable(db, options.path === MEMORY ? 'memory' : 'file');
    for (const pragma of options.pragmas ?? []) db.exec(`pragma ${pragma}`);
    migrate(db, options.migrations ?? MIGRATIONS, options.clock.now());
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Applies what is missing, each migration with its record in one transaction. */
function migrate(db: DatabaseSync, known: readonly Migration[], now: number): void {
  let isCurrent = false;
  while (!isCurrent) {
    db.exec('begin immediate');
    try {
      db.exec(migrationTable('sqlite'));
      const next = nextMigration(appliedTo(db), known);
      isCurrent = next === undefined;
      if (next !== undefined) apply(db, next, now);
      db.exec('commit');
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      throw error;
    }
  }
}

function apply(db: DatabaseSync, migration: Migration, now: number): void {
  for (const sql of sqlOf(migration, 'sqlite')) db.exec(sql);
  const { number, name, breaking } = migration;
  db.prepare('insert into migration (number, name, breaking, at) values (?, ?, ?, ?)').run(
    number,
    name,
    breaking,
    now,
  );
}

function appliedTo(db: DatabaseSync): readonly Applied[] {
  return db.prepare(APPLIED_SQL).all() as unknown as readonly Applied[];
}

function description(db: DatabaseSync, path: string): string {
  const version = db.prepare('select sqlite_version() as version').get();
  return `SQLite ${String(version?.['version'])}, ${path}`;
}

/**
 * Opens the store's file to read, whether a host runs on it or not. Its `commit` rejects with
 * `read_only`. Throws a `Fault`: `store_missing`, `store_too_new`, `store_too_old` (no host of this
 * version has opened it yet), or a `StoreFault` code.
 */
export function openSqliteReadOnly(path: string): Store & Inspect {
  if (!existsSync(path)) {
    throw new Fault('store_missing', 'ask', `There is no store at ${path}. Start a host first.`);
  }
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_WAIT_MS });
  try {
    assertVersion(db);
    if (nextMigration(appliedTo(db), MIGRATIONS) !== undefined) throw tooOld(path);
    const traits = { exclusive: false, description: description(db, path) };
    return { ...readOnly(db, traits), check: () => checkFile(path) };
  } catch (error) {
    db.close();
    throw error instanceof Fault ? error : faultOf(error);
  }
}

/** Rows of a query in SQL, for operators and tests. */
interface Inspect {
  inspect(sql: string): Promise<readonly Row[]>;
}

function readOnly(db: DatabaseSync, traits: StoreTraits): Store & Inspect {
  const handle = openHandle(db);
  const answer = <T>(read: () => T): Promise<T> => {
    try {
      return Promise.resolve(read());
    } catch (error) {
      return Promise.reject(faultOf(error));
    }
  };
  return {
    traits,
    commit: () => Promise.reject(storeFault('read_only', 'The store is open to read only.')),
    query: <N extends ReadName>(read: N, args: Reads[N]['args']) =>
      answer(
        () => handle.read(read, args as Readonly<Record<string, unknown>>) as Reads[N]['rows'],
      ),
    inspect: (sql) => answer(() => handle.inspect(sql)),
    close: () => answer(() => handle.close()),
  };
}

function tooOld(path: string): Fault {
  return new Fault(
    'store_too_old',
    'ask',
    `The store ${path} was written by an earlier version. Start a host of this version once.`,
  );
}
