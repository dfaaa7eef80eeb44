// What leaves a store arrives in another, record for record.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { postgresFillings, postgresSnapshots } from '../../src/adapters/store/archive-postgres.ts';
import { sqliteSnapshots } from '../../src/adapters/store/archive-sqlite.ts';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { arrive } from '../../src/core/archive/arrive.ts';
import { ARCHIVE_KINDS, type Archived } from '../../src/core/archive/record.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { conversationRow, hostRow, idOf, sessionRow } from '../../src/testing/store-rows.ts';
import {
  bring,
  everything,
  fileOf,
  IDS,
  linesIn,
  NOW,
  recordsIn,
  sqlitePlace,
  take,
  type Place,
} from '../support/archive.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { makeSqlite, VERSION_1_ROWS } from './store-earlier.ts';

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

async function postgresPlace(): Promise<Place & { readonly url: string }> {
  const url = await server.freshUrl();
  return { url, filling: postgresFillings({ url, ids: IDS }), snapshot: postgresSnapshots(url) };
}

const PLACES = {
  sqlite: (t: TestContext): Promise<Place> => Promise.resolve(sqlitePlace(t)),
  postgres: postgresPlace,
} as const;

/** Without the entry of the import itself, which is the last of the log. */
function withoutImport(records: readonly Archived[]): readonly Archived[] {
  return records.filter((one) => one.kind !== 'audit' || one.record.action !== 'import');
}

for (const [from, openFrom] of Object.entries(PLACES)) {
  for (const [to, openTo] of Object.entries(PLACES)) {
    test(`from ${from} to ${to} every record is the same but its marks`, async (t) => {
      const [source, target] = [await openFrom(t), await openTo(t)];
      const records = everything();
      assert.deepEqual(new Set(records.map(({ kind }) => kind)), new Set(ARCHIVE_KINDS));
      assert.equal((await bring(fileOf(records), source.filling)).kind, 'imported');
      const file = await take(source);
      assert.deepEqual(
        recordsIn(file).slice(0, -1),
        records.map((one) => arrive(one, NOW)),
      );
      const outcome = await bring(file, target.filling);
      assert.ok(outcome.kind === 'imported', JSON.stringify(outcome));
      assert.equal(outcome.records, records.length + 1);
      assert.deepEqual([outcome.unsent, outcome.fenced], [2, 1]);
      const there = recordsIn(await take(target));
      assert.deepEqual(there.slice(0, -1), recordsIn(file));
      assert.equal(await take(source), file, 'the source is as it was');
    });
  }
}

test('an export is harmless on a terminal, and its digest is that of its bytes', async (t) => {
  const place = sqlitePlace(t);
  await bring(fileOf(everything()), place.filling);
  const file = await take(place);
  assert.doesNotMatch(file.replaceAll('\n', ''), /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
  const lines = linesIn(file);
  const { createHash } = await import('node:crypto');
  const sum = createHash('sha256')
    .update(`${lines.slice(0, -1).join('\n')}\n`)
    .digest('hex');
  const end = JSON.parse(lines.at(-1) ?? '') as { records: number; sha256: string };
  assert.deepEqual(end, { kind: 'end', records: lines.length - 2, sha256: sum });
});

test('B-2: an import marks no task and no worker, and calls nothing unsent that left', async (t) => {
  const place = sqlitePlace(t);
  await bring(fileOf(everything()), place.filling);
  const readBack = recordsIn(await take(place));
  const marks = readBack.flatMap(({ record }) =>
    'enrollment' in record ? [record.enrollment] : [],
  );
  assert.deepEqual(marks, ['unmarked', 'unmarked', 'unmarked', 'unmarked']);
  const states = readBack.flatMap(({ kind, record }) => (kind === 'outbox' ? [record.state] : []));
  assert.deepEqual(states, ['delivered', 'uncertain', 'uncertain']);
  const last = readBack.at(-1);
  const entry = last?.kind === 'audit' ? last.record : undefined;
  assert.equal(entry?.action, 'import');
  assert.equal(entry?.at, NOW);
  assert.equal(entry?.principal, 'admin:terminal');
});

describe('a snapshot', () => {
  for (const [name, open] of [
    ['sqlite', (t: TestContext) => openOnSqlite(t)],
    ['postgres', () => openOnPostgres()],
  ] as const) {
    test(`on ${name} shows one state and holds up no writer`, async (t) => {
      const { place, store } = await open(t);
      try {
        const insert = (number: number) =>
          mustPut(store, {
            write: 'conversation.insert',
            row: conversationRow({ id: idOf('conversation', number), address: `a${number}` }),
          });
        for (let number = 1; number <= 200; number += 1) await insert(number);
        const snapshot = await place.snapshot();
        const pages = snapshot.records('conversation')[Symbol.asyncIterator]();
        const first = await pages.next();
        for (let number = 201; number <= 300; number += 1) await insert(number);
        let seen = first.done === true ? 0 : first.value.length;
        assert.ok(seen > 0 && seen < 200, `${seen} in the first page`);
        for (;;) {
          const page = await pages.next();
          if (page.done === true) break;
          seen += page.value.length;
        }
        assert.equal(seen, 200);
        const sessions = snapshot.records('session')[Symbol.asyncIterator]();
        assert.equal((await sessions.next()).done, true);
        await snapshot.close();
        await snapshot.close();
        assert.equal(recordsIn(await take(place)).length, 300);
      } finally {
        await store.close();
      }
    });
  }

  test('of no store says that there is none', async (t) => {
    const { path } = sqlitePlace(t);
    await assert.rejects(sqliteSnapshots(path)(), { code: 'store_missing' });
  });

  test('of a store that an earlier version wrote asks for a start first', async (t) => {
    const { path } = olderStore(t, 1);
    await assert.rejects(sqliteSnapshots(path)(), { code: 'store_too_old' });
  });
});

function openOnSqlite(t: TestContext) {
  const place = sqlitePlace(t);
  const store = openSqlite({ path: place.path, clock: { now: () => NOW }, ids: IDS });
  return Promise.resolve({ place, store });
}

async function openOnPostgres() {
  const place = await postgresPlace();
  return { place, store: await openPostgres({ url: place.url, ids: IDS }) };
}

function olderStore(t: TestContext, migrations: number): { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-older-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'sekisho.db');
  makeSqlite(path, MIGRATIONS.slice(0, migrations), VERSION_1_ROWS);
  return { path };
}

test('what a host of version 1 wrote goes out and comes in', async (t) => {
  const { path } = olderStore(t, 1);
  const store = openSqlite({ path, clock: { now: () => NOW }, ids: IDS });
  await store.close();
  const file = await take({ snapshot: sqliteSnapshots(path) });
  assert.ok(recordsIn(file).length > 100);
  const target = sqlitePlace(t);
  const outcome = await bring(file, target.filling);
  assert.equal(outcome.kind, 'imported', JSON.stringify(outcome));
  assert.deepEqual(withoutImport(recordsIn(await take(target))), recordsIn(file).map(arrive));
});

test('M-15: an export of version 1 of the format is read for good, as if nothing was maintained', async (t) => {
  const file = readFileSync(join(import.meta.dirname, 'export-version-1.jsonl'), 'utf8');
  const target = sqlitePlace(t);
  const outcome = await bring(file, target.filling);
  assert.equal(outcome.kind, 'imported', JSON.stringify(outcome));
  const later = {
    conversation: { fence: 'none', operationId: null },
    session: { previousId: null, nextId: null, cutSeq: 0, compactions: 0, seed: null },
  } as const;
  const expected = recordsIn(file).map((one) => {
    const more = later[one.kind as keyof typeof later] ?? {};
    return arrive({ ...one, record: { ...one.record, ...more } } as Archived, NOW);
  });
  assert.deepEqual(withoutImport(recordsIn(await take(target))), expected);
});

test('an export of version 2 of the format is read for good', async (t) => {
  const file = readFileSync(join(import.meta.dirname, 'export-version-2.jsonl'), 'utf8');
  const target = sqlitePlace(t);
  const outcome = await bring(file, target.filling);
  assert.equal(outcome.kind, 'imported', JSON.stringify(outcome));
  const expected = recordsIn(file).map((one) => arrive(one, NOW));
  assert.deepEqual(withoutImport(recordsIn(await take(target))), expected);
  assert.ok(expected.some(({ kind }) => kind === 'operation'));
});

test('a file of version 1 has nothing of what version 2 brought', async (t) => {
  const records = everything();
  const operation = records.findIndex(({ kind }) => kind === 'operation');
  const first = await bring(fileOf(records, { header: { version: 1 } }), sqlitePlace(t).filling);
  assert.ok(first.kind === 'refused');
  assert.equal(first.line, 2);
  assert.match(first.problem, /^The conversation has the unknown field "fence"\.$/);
  const alone = fileOf(records.slice(operation, operation + 1), { header: { version: 1 } });
  const second = await bring(alone, sqlitePlace(t).filling);
  assert.ok(second.kind === 'refused');
  assert.match(second.problem, /^There is no kind "operation" of records\.$/);
});

describe('an import on a shared store', () => {
  test('names the line of what the store has, wherever in a batch it stands', async () => {
    const place = await postgresPlace();
    const rows = Array.from({ length: 250 }, (_, at) =>
      conversationRow({ id: idOf('conversation', at + 1), address: `a${at}`, seq: 1 }),
    );
    const sessions = rows.map((row, at) => ({
      kind: 'session' as const,
      record: sessionRow({ id: idOf('session', at + 1), conversationId: row.id }),
    }));
    const conversations = rows.map((row, at) => ({
      kind: 'conversation' as const,
      record: { ...row, sessionId: idOf('session', at + 1) },
    }));
    const filling = await place.filling();
    // Another one has the address.
    await filling.insert([
      {
        kind: 'conversation',
        record: conversationRow({ id: idOf('conversation', 999), address: 'a237' }),
      },
    ]);
    await filling.keep();
    await filling.close();
    const held = await take(place);
    const outcome = await bring(fileOf([...conversations, ...sessions]), place.filling);
    assert.ok(outcome.kind === 'refused');
    assert.equal(outcome.line, 239);
    assert.match(outcome.problem, /conversation is in this installation already/);
    assert.equal(await take(place), held);
  });

  test('is refused while a host lives, and not once its lease is out or given up', async () => {
    const place = await postgresPlace();
    const store = await openPostgres({ url: place.url, ids: IDS });
    try {
      const aliveUntil = Date.now() + 60_000;
      await mustPut(store, { write: 'host.insert', row: hostRow({ pid: 4711, aliveUntil }) });
      const file = fileOf(everything());
      await assert.rejects(bring(file, place.filling), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'store_in_use');
        assert.match(error.message, /process 4711/);
        return true;
      });
      assert.equal(recordsIn(await take(place)).length, 0);
      const id = idOf('host', 1);
      await mustPut(store, { write: 'host.stop', id, stoppedAt: NOW, end: 'clean' });
      const lost = hostRow({ id: idOf('host', 2), aliveUntil: Date.now() - 1 });
      await mustPut(store, { write: 'host.insert', row: lost });
      assert.equal((await bring(file, place.filling)).kind, 'imported');
    } finally {
      await store.close();
    }
  });

  test('lets no host begin before its end', async () => {
    const place = await postgresPlace();
    const store = await openPostgres({ url: place.url, ids: IDS });
    const filling = await place.filling();
    const order: string[] = [];
    const starting = mustPut(store, { write: 'host.insert', row: hostRow() }).then(() =>
      order.push('a host began'),
    );
    await filling.insert(everything().slice(0, 2));
    order.push('the import ended');
    await filling.keep();
    await filling.close();
    await starting;
    await store.close();
    assert.deepEqual(order, ['the import ended', 'a host began']);
  });
});
