import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Archived, ArchiveKind } from '../../core/archive/record.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Filling, OpenFilling, OpenSnapshot, Snapshot } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { insertSql, LAST_ENTRY_SQL, recordOf, SCHEMA_SQL, selectSql, valuesOf } from './archive.ts';
import { APPLIED_SQL, nextMigration, type Applied } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { faultOf, isTaken } from './sqlite/errors.ts';
import { openSqlite } from './sqlite/open.ts';
import { assertDurable, assertVersion, setPragmas } from './sqlite/pragmas.ts';

const BUSY_WAIT_MS = 1_000;
/** What is read before the event loop has its turn: so many rows or characters. */
const PAGE_ROWS = 64;
const PAGE_CHARS = 256_000;

/**
 * Snapshots of a store's file, whether a host runs on it or not: a connection of their own reads the
 * state that it began with. Throws a `Fault`: `store_missing`, `store_too_new`, `store_too_old`, or a
 * `StoreFault` code.
 */
export function sqliteSnapshots(path: string): OpenSnapshot {
  return () => answer(() => openSnapshot(path));
}

function openSnapshot(path: string): Snapshot {
  if (!existsSync(path)) throw missing(path);
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_WAIT_MS });
  try {
    assertVersion(db);
    db.exec('begin');
    const applied = db.prepare(APPLIED_SQL).all() as unknown as readonly Applied[];
    if (nextMigration(applied, MIGRATIONS) !== undefined) throw tooOld(path);
    const schema = Number(db.prepare(SCHEMA_SQL).get()?.['schema'] ?? 0);
    return {
      schema,
      records: (kind) => pages(db, kind),
      // Once: a reader that is gone and one that has failed may both close it.
      close: () => answer(() => (db.isOpen ? db.close() : undefined)),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

async function* pages(db: DatabaseSync, kind: ArchiveKind): AsyncGenerator<readonly Archived[]> {
  try {
    const statement = db.prepare(selectSql(kind));
    statement.setReturnArrays(true);
    let page: Archived[] = [];
    let chars = 0;
    for (const row of statement.iterate()) {
      const values = row as unknown as readonly unknown[];
      page.push(recordOf(kind, values));
      chars += charsOf(values);
      if (page.length < PAGE_ROWS && chars < PAGE_CHARS) continue;
      yield page;
      page = [];
      chars = 0;
    }
    if (page.length > 0) yield page;
  } catch (error) {
    throw error instanceof Fault ? error : faultOf(error);
  }
}

function charsOf(values: readonly unknown[]): number {
  let chars = 0;
  for (const value of values) chars += typeof value === 'string' ? value.length : 0;
  return chars;
}

export interface SqliteFillingOptions {
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
}

/** Fills a store's file, which is made and migrated when need be, under the lock of its host (G-8). */
export function sqliteFillings(options: SqliteFillingOptions): OpenFilling {
  return () => answer(() => openFilling(options));
}

function openFilling(options: SqliteFillingOptions): Filling {
  // It holds the lock, and has brought the schema up to date.
  const store = openSqlite(options);
  const close = (): void => void store.close();
  try {
    return new SqliteFilling(openToWrite(options.path), options.clock.now(), close);
  } catch (error) {
    close();
    throw error;
  }
}

function openToWrite(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_WAIT_MS });
  try {
    setPragmas(db);
    assertDurable(db, 'file');
    db.exec('begin immediate');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

class SqliteFilling implements Filling {
  readonly now: number;
  readonly #db: DatabaseSync;
  readonly #unlock: () => void;
  readonly #inserts = new Map<ArchiveKind, StatementSync>();

  constructor(db: DatabaseSync, now: number, unlock: () => void) {
    this.#db = db;
    this.now = now;
    this.#unlock = unlock;
  }

  insert(records: readonly Archived[]): Promise<number | undefined> {
    return answer(() => {
      const place = records.findIndex((record) => !this.#insertOne(record));
      return place === -1 ? undefined : place;
    });
  }

  lastEntry(): Promise<AuditRecord | undefined> {
    return answer(() => {
      const row = this.#db.prepare(LAST_ENTRY_SQL).get();
      if (row === undefined) return undefined;
      return recordOf('audit', Object.values(row)).record as AuditRecord;
    });
  }

  keep(): Promise<void> {
    return answer(() => this.#db.exec('commit'));
  }

  close(): Promise<void> {
    return answer(() => {
      if (!this.#db.isOpen) return;
      try {
        if (this.#db.isTransaction) this.#db.exec('rollback');
      } finally {
        this.#db.close();
        this.#unlock();
      }
    });
  }

  /** False for a key that the store has. */
  #insertOne(archived: Archived): boolean {
    try {
      this.#insertOf(archived.kind).run(...valuesOf<SQLInputValue>(archived));
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  #insertOf(kind: ArchiveKind): StatementSync {
    const known = this.#inserts.get(kind);
    if (known !== undefined) return known;
    const made = this.#db.prepare(insertSql(kind, 1, () => '?'));
    this.#inserts.set(kind, made);
    return made;
  }
}

function answer<T>(act: () => T): Promise<T> {
  try {
    return Promise.resolve(act());
  } catch (error) {
    return Promise.reject(error instanceof Fault ? error : faultOf(error));
  }
}

function missing(path: string): Fault {
  return new Fault('store_missing', 'ask', `There is no store at ${path}. Start a host first.`);
}

function tooOld(path: string): Fault {
  const what = `The store ${path} was written by an earlier version.`;
  return new Fault('store_too_old', 'ask', `${what} Start a host of this version once.`);
}
