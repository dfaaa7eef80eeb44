// Stores as an earlier version left them: this version's own statements do not fit them.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Migration } from '../../src/adapters/store/migration.ts';
import { migrationTable, sqlOf } from '../../src/adapters/store/migrations.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { DialectName } from '../../src/adapters/store/statement.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import type { TestedStore } from '../../src/testing/store-case.ts';
import type { Dump, Inspectable, Row } from '../../src/testing/store-dump.ts';
import type { TestPostgres } from '../support/postgres.ts';

type Value = string | number | null;

/**
 * What a host of version 1 wrote: talks that were answered, a refused and an unreachable model, an
 * empty answer, a payment that its host did not outlive, and a turn that runs.
 */
export const VERSION_1_ROWS = rowsOf('store-version-1.json');

/**
 * What a host of version 2 wrote, was killed at, and left to two more: work that waits for everything that
 * a task can wait for, two tasks that were cut, orders with their receipts, and a turn that runs.
 */
export const VERSION_2_ROWS = rowsOf('store-version-2.json');

/**
 * What a host of version 3 wrote on an import, was killed at, and left to more, until one began a safe mode:
 * what the boundary kept and held, talks in two sessions, a task that was cut and went on, one whose
 * assessment waits, an account without quota, and a turn that runs with a message behind it.
 */
export const VERSION_3_ROWS = rowsOf('store-version-3.json');

function rowsOf(file: string): Dump {
  return JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Dump;
}

/** How a dialect makes a store of some rows by some migrations, and opens it as this version does. */
export interface Side {
  readonly dialect: DialectName;
  open(t: TestContext, rows: Dump, migrations?: readonly Migration[]): Promise<TestedStore>;
}

/** Both dialects; rows are written by `earlier` unless other migrations are named. */
export function sidesOf(
  server: () => TestPostgres,
  earlier: readonly Migration[],
): readonly Side[] {
  return [
    {
      dialect: 'sqlite',
      open(t, rows, migrations = earlier) {
        const folder = mkdtempSync(join(tmpdir(), 'store-'));
        const path = join(folder, 'store.db');
        makeSqlite(path, migrations, rows);
        const store = openSqlite({ path, ...PARTS });
        t.after(async () => {
          await store.close();
          rmSync(folder, { recursive: true, force: true });
        });
        return Promise.resolve(store);
      },
    },
    {
      dialect: 'postgres',
      async open(t, rows, migrations = earlier) {
        const url = await server().freshUrl();
        await makePostgres(url, migrations, rows);
        const store = await openPostgres({ url, ids: PARTS.ids });
        t.after(() => store.close());
        return store;
      },
    },
  ];
}

const PARTS = {
  clock: { now: () => 1 },
  ids: { next: (kind: keyof typeof ID_PREFIX) => `${ID_PREFIX[kind]}${idBody(0, 1)}` as never },
};

/**
 * Compares a store with the rows that it was made of, but for the columns that were added since. Gives how
 * many rows it looked at.
 */
export function assertKept(
  tables: Dump,
  former: Dump,
  added: Readonly<Record<string, readonly string[]>>,
): number {
  let looked = 0;
  for (const [table, rows] of Object.entries(tables)) {
    const kept = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !added[table]?.includes(name))),
    );
    assert.deepEqual(sorted(kept), sorted(former[table] ?? []), table);
    looked += rows.length;
  }
  return looked;
}

function sorted(rows: readonly Row[]): string[] {
  const names = (row: Row): string[] => Object.keys(row).toSorted();
  return rows.map((row) => JSON.stringify(names(row).map((name) => [name, row[name]]))).toSorted();
}

/** Makes a file of these migrations with these rows. */
export function makeSqlite(path: string, migrations: readonly Migration[], rows: Dump = {}): void {
  const db = new DatabaseSync(path);
  for (const sql of statements('sqlite', migrations)) db.exec(sql);
  for (const { sql, values } of inserts(rows, () => '?')) db.prepare(sql).run(...values);
  db.close();
}

/** Makes the tables of these migrations with these rows in the schema of `url`. */
export async function makePostgres(
  url: string,
  migrations: readonly Migration[],
  rows: Dump = {},
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const sql of statements('postgres', migrations)) await client.query(sql);
  for (const { sql, values } of inserts(rows, (place) => `$${place + 1}`)) {
    await client.query(sql, values);
  }
  await client.end();
}

function statements(dialect: DialectName, migrations: readonly Migration[]): readonly string[] {
  return [
    migrationTable(dialect),
    ...migrations.flatMap((one) => [
      ...sqlOf(one, dialect),
      `insert into migration (number, name, breaking, at)
        values (${one.number}, '${one.name}', '${one.breaking}', 1)`,
    ]),
  ];
}

interface Insert {
  readonly sql: string;
  readonly values: (SQLInputValue & Value)[];
}

function inserts(rows: Dump, parameter: (place: number) => string): readonly Insert[] {
  return Object.entries(rows).flatMap(([table, found]) =>
    found.map((row) => {
      const names = Object.keys(row).map((name) => `"${name}"`);
      const values = names.map((_, place) => parameter(place));
      return {
        sql: `insert into ${table} (${names.join()}) values (${values.join()})`,
        values: Object.values(row) as Value[],
      };
    }),
  );
}

const SQLITE_SCHEMA = `select type, name, tbl_name, sql from sqlite_schema order by type, name`;
const POSTGRES_SCHEMA = `
  select 'column' as type, table_name || '.' || column_name as name,
    concat_ws(' ', ordinal_position, data_type, is_nullable, column_default, collation_name) as sql
  from information_schema.columns where table_schema = current_schema()
  union all
  select 'index', indexname, regexp_replace(indexdef, ' ON [^ ]*\\.', ' ON ')
  from pg_indexes where schemaname = current_schema()
  order by 1, 2`;

/** Every table, column and index of a store as text. */
export async function schemaOf(store: Inspectable, dialect: DialectName): Promise<readonly Row[]> {
  const rows = await store.inspect(dialect === 'sqlite' ? SQLITE_SCHEMA : POSTGRES_SCHEMA);
  return rows.map((row) => ({ ...row }));
}

/** A closed file, to look into. */
export function lookInto(path: string): Inspectable & { close(): void } {
  const db = new DatabaseSync(path, { readOnly: true });
  return {
    inspect: (sql) => Promise.resolve(db.prepare(sql).all()),
    close: () => db.close(),
  };
}
