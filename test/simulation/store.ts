// The real SQLite store of one run, and a second look at its rows past the adapter.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { MIGRATIONS, migrationTable, sqlOf } from '../../src/adapters/store/migrations.ts';
import { SqliteStore, type GroupOptions } from '../../src/adapters/store/sqlite/group.ts';
import { openHandle } from '../../src/adapters/store/sqlite/handle.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { setPragmas } from '../../src/adapters/store/sqlite/pragmas.ts';
import type { Store } from '../../src/ports/store.ts';

type StoreParts = Pick<GroupOptions, 'clock' | 'ids'>;

export interface SimulatedStore {
  readonly store: Store;
  /** Reads the same rows. */
  readonly db: DatabaseSync;
  /** What a new process does with a store on disk. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export function openSimulatedStore(kind: 'memory' | 'file', parts: StoreParts): SimulatedStore {
  return kind === 'memory' ? inMemory(parts) : onDisk(parts);
}

interface Memory {
  readonly db: DatabaseSync;
  readonly handle: ReturnType<typeof openHandle>;
  /** One for each table. */
  readonly empty: readonly StatementSync[];
}

/** One database for all runs of the process: emptying it is quicker than making it. */
let kept: Memory | undefined;
let isTaken = false;

function inMemory(parts: StoreParts): SimulatedStore {
  if (isTaken) throw new Error('one run at a time');
  isTaken = true;
  kept ??= makeMemory();
  const { db, handle } = kept;
  for (const empty of kept.empty) empty.run();
  const store = new SqliteStore(handle, {
    ...parts,
    traits: { exclusive: true, description: 'SQLite in memory' },
    // The scheduler has already chosen the moment.
    defer: (flush) => flush(),
    onClose: () => undefined,
  });
  return {
    store,
    db,
    reopen: async () => undefined,
    close: async () => {
      isTaken = false;
    },
  };
}

function makeMemory(): Memory {
  const db = new DatabaseSync(':memory:');
  setPragmas(db);
  db.exec(migrationTable('sqlite'));
  for (const migration of MIGRATIONS) {
    for (const sql of sqlOf(migration, 'sqlite')) db.exec(sql);
  }
  const empty = tablesOf(db).map((table) => db.prepare(`delete from "${table}"`));
  return { db, handle: openHandle(db), empty };
}

function tablesOf(db: DatabaseSync): readonly string[] {
  const rows = db
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`)
    .all();
  return rows.map((row) => String(row['name'])).filter((name) => name !== 'migration');
}

/** A file that has just been migrated: making it takes longer than most runs. */
let template: Buffer | undefined;

function onDisk(parts: StoreParts): SimulatedStore {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-simulation-'));
  const path = join(folder, 'store.db');
  const open = (): SqliteStore =>
    openSqlite({ path, ...parts, defer: (flush) => flush(), pragmas: ['synchronous = off'] });
  if (template === undefined) {
    void open().close();
    template = readFileSync(path);
  } else writeFileSync(path, template, { mode: 0o600 });
  let store = open();
  const db = new DatabaseSync(path, { readOnly: true });
  return {
    get store() {
      return store;
    },
    db,
    reopen: async () => {
      await store.close();
      store = open();
    },
    close: async () => {
      await store.close();
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}
