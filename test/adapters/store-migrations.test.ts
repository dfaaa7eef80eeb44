import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test, type TestContext } from 'node:test';
import { nextMigration } from '../../src/adapters/store/migrate.ts';
import type { Migration } from '../../src/adapters/store/migration.ts';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { openSqlite, openSqliteReadOnly } from '../../src/adapters/store/sqlite/open.ts';
import { columnOf, FIELDS } from '../../src/adapters/store/tables.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import { lookInto, makePostgres, makeSqlite, schemaOf } from './store-earlier.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

const PARTS = {
  clock: { now: () => 1 },
  ids: { next: (kind: keyof typeof ID_PREFIX) => `${ID_PREFIX[kind]}${idBody(0, 1)}` as never },
};

/** A made-up next version: a new column and an index, and the same in a store that is new. */
const COLORS: Migration = {
  number: MIGRATIONS.length + 1,
  name: 'colors',
  breaking: 'no',
  sql: ({ text }) => [
    `alter table task add column color ${text}`,
    `create index task_color on task (color) where color is not null`,
  ],
};
const NEXT = [...MIGRATIONS, COLORS];

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

function pathOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'store.db');
}

describe('a store that is migrated equals one that is new', () => {
  test('on SQLite', async (t) => {
    const path = pathOf(t);
    const first = openSqlite({ path, ...PARTS });
    const earlier = await schemaOf(first, 'sqlite');
    await first.close();
    const migrated = openSqlite({ path, ...PARTS, migrations: NEXT });
    const fresh = openSqlite({ path: ':memory:', ...PARTS, migrations: NEXT });
    const schema = await schemaOf(migrated, 'sqlite');
    assert.ok(schema.length > 30);
    assert.deepEqual(schema, await schemaOf(fresh, 'sqlite'));
    assert.notDeepEqual(schema, earlier, 'the comparison sees a difference');
    await migrated.close();
    await fresh.close();
  });

  test('on PostgreSQL', async () => {
    const url = await server.freshUrl();
    const first = await openPostgres({ url, ids: PARTS.ids });
    const earlier = await schemaOf(first, 'postgres');
    await first.close();
    const migrated = await openPostgres({ url, ids: PARTS.ids, migrations: NEXT });
    const freshUrl = await server.freshUrl();
    const fresh = await openPostgres({ url: freshUrl, ids: PARTS.ids, migrations: NEXT });
    const schema = await schemaOf(migrated, 'postgres');
    assert.ok(schema.length > 100);
    assert.deepEqual(schema, await schemaOf(fresh, 'postgres'));
    assert.notDeepEqual(schema, earlier, 'the comparison sees a difference');
    await migrated.close();
    await fresh.close();
  });
});

/**
 * What a store of a version looks like. A released migration is never edited: stores that had it would
 * differ from new ones. Before the release it may be, with SEKISHO_WRITE_SCHEMA=<number> for this test.
 */
for (const { number } of MIGRATIONS) {
  test(`migrations up to ${number} make the frozen schema on both dialects`, async (t) => {
    const migrations = MIGRATIONS.slice(0, number);
    const path = pathOf(t);
    makeSqlite(path, migrations);
    const sqlite = lookInto(path);
    const url = await server.freshUrl();
    await makePostgres(url, migrations);
    const postgres = await openPostgres({ url, ids: PARTS.ids, migrations });
    const made = {
      sqlite: await schemaOf(sqlite, 'sqlite'),
      postgres: await schemaOf(postgres, 'postgres'),
    };
    sqlite.close();
    await postgres.close();
    const frozen = join(import.meta.dirname, `schema-${number}.json`);
    if (process.env['SEKISHO_WRITE_SCHEMA'] === String(number)) {
      writeFileSync(frozen, `${JSON.stringify(made, null, 2)}\n`);
    }
    assert.deepEqual(made, JSON.parse(readFileSync(frozen, 'utf8')));
  });
}

test('each record has its columns on both dialects, and no more', async (t) => {
  const sqlite = openSqlite({ path: pathOf(t), ...PARTS });
  const postgres = await openPostgres({ url: await server.freshUrl(), ids: PARTS.ids });
  for (const [table, fields] of Object.entries(FIELDS)) {
    const expected = fields.map((field) => columnOf(field));
    const inSqlite = await sqlite.inspect(`select name from pragma_table_info('${table}')`);
    assert.deepEqual(
      inSqlite.map((row) => row['name']),
      expected,
      table,
    );
    const inPostgres = await postgres.inspect(`select column_name as name
      from information_schema.columns where table_schema = current_schema()
      and table_name = '${table}' order by ordinal_position`);
    assert.deepEqual(
      inPostgres.map((row) => row['name']),
      expected,
      table,
    );
  }
  await sqlite.close();
  await postgres.close();
});

describe('a store that a later version changed', () => {
  const breaking: Migration = { ...COLORS, breaking: 'yes' };

  test('is refused when the change would do harm, with both versions named', async (t) => {
    const path = pathOf(t);
    await openSqlite({ path, ...PARTS, migrations: [...MIGRATIONS, breaking] }).close();
    const refused = (fault: { code: string; message: string }): boolean => {
      assert.equal(fault.code, 'store_too_new');
      assert.match(fault.message, /schema version 5 \(colors\).* up to 4 only/);
      return true;
    };
    assert.throws(() => openSqlite({ path, ...PARTS }), refused);
    assert.throws(() => openSqliteReadOnly(path), refused);
    const url = await server.freshUrl();
    const migrations = [...MIGRATIONS, breaking];
    await (await openPostgres({ url, ids: PARTS.ids, migrations })).close();
    await assert.rejects(openPostgres({ url, ids: PARTS.ids }), refused);
  });

  test('is opened when the change does no harm', async (t) => {
    const path = pathOf(t);
    await openSqlite({ path, ...PARTS, migrations: NEXT }).close();
    const store = openSqlite({ path, ...PARTS });
    const numbers = (await store.inspect('select number from migration')).map(
      (row) => row['number'],
    );
    assert.deepEqual(numbers, [1, 2, 3, 4, 5]);
    await store.close();
  });

  test('the harm of an earlier unknown migration counts as well', () => {
    const applied = [
      { number: 1, name: 'start', breaking: 'yes' },
      { number: 2, name: 'waits', breaking: 'yes' },
      { number: 3, name: 'recovery', breaking: 'yes' },
      { number: 4, name: 'maintenance', breaking: 'yes' },
      { number: 5, name: 'colors', breaking: 'yes' },
      { number: 6, name: 'more', breaking: 'no' },
    ];
    assert.throws(() => nextMigration(applied, MIGRATIONS), { code: 'store_too_new' });
  });
});

describe('a migration', () => {
  test('is applied whole or not at all, and its store stays as it was', async (t) => {
    const path = pathOf(t);
    await openSqlite({ path, ...PARTS }).close();
    const broken: Migration = {
      ...COLORS,
      sql: (words) => [...COLORS.sql(words), 'create table oops (', 'select 1'],
    };
    const migrations = [...MIGRATIONS, broken];
    assert.throws(() => openSqlite({ path, ...PARTS, migrations }), { code: 'bug' });
    const db = new DatabaseSync(path, { readOnly: true });
    const left = db
      .prepare(`select name from pragma_table_info('task') where name = 'color'`)
      .all();
    assert.deepEqual(left, []);
    db.close();
    await openSqlite({ path, ...PARTS }).close();
    const url = await server.freshUrl();
    await (await openPostgres({ url, ids: PARTS.ids })).close();
    await assert.rejects(openPostgres({ url, ids: PARTS.ids, migrations }), { code: 'bug' });
    await (await openPostgres({ url, ids: PARTS.ids })).close();
  });

  test('a store that no host of this version has opened is not read', async (t) => {
    const path = pathOf(t);
    await openSqlite({ path, ...PARTS }).close();
    const db = new DatabaseSync(path);
    db.exec('delete from migration');
    db.close();
    assert.throws(() => openSqliteReadOnly(path), { code: 'store_too_old' });
  });

  test('numbers rise by one and names differ', () => {
    assert.deepEqual(
      MIGRATIONS.map((one) => one.number),
      MIGRATIONS.map((_, place) => place + 1),
    );
    assert.equal(new Set(MIGRATIONS.map((one) => one.name)).size, MIGRATIONS.length);
  });
});
