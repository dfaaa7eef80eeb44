// Stores as an earlier version left them: this version's own statements do not fit them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import pg from 'pg';
import type { Migration } from '../../src/adapters/store/migration.ts';
import { migrationTable, sqlOf } from '../../src/adapters/store/migrations.ts';
import type { DialectName } from '../../src/adapters/store/statement.ts';
import type { Dump, Inspectable, Row } from '../../src/testing/store-dump.ts';

type Value = string | number | null;

/**
 * What a host of version 1 wrote: talks that were answered, a refused and an unreachable model, an
 * empty answer, a payment that its host did not outlive, and a turn that runs.
 */
export const VERSION_1_ROWS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'store-version-1.json'), 'utf8'),
) as Dump;

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
