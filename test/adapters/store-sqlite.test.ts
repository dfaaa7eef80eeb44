import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import { holderOf } from '../../src/adapters/store/sqlite/lock.ts';
import {
  openSqlite,
  openSqliteReadOnly,
  type SqliteOptions,
} from '../../src/adapters/store/sqlite/open.ts';
import { assertDurable, isAtLeast, setPragmas } from '../../src/adapters/store/sqlite/pragmas.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Fault } from '../../src/kernel/fault.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import { mustPut, put, read } from '../../src/testing/store-calls.ts';
import {
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  stepRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { startStoreProcess } from '../support/store-process.ts';

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5);
const PARTS = {
  clock: { now: () => NOW },
  ids: { next: (kind) => `${ID_PREFIX[kind]}${idBody(0, 1)}` },
} satisfies Pick<SqliteOptions, 'clock' | 'ids'>;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    return error as Fault;
  }
  assert.fail('it should have thrown');
}

describe('a commit on SQLite is durable', () => {
  test('versions compare by their numbers', () => {
    assert.ok(isAtLeast('3.51.3', '3.51.3'));
    assert.ok(isAtLeast('3.53', '3.51.3'));
    assert.ok(isAtLeast('4.0.0', '3.51.3'));
    assert.ok(isAtLeast('3.51.10', '3.51.3'));
    assert.ok(!isAtLeast('3.51.2', '3.51.3'));
    assert.ok(!isAtLeast('3.51', '3.51.3'));
    assert.ok(!isAtLeast('3.6.99', '3.51.3'));
  });

  for (const [pragma, value, names] of [
    ['synchronous', 'normal', 'synchronous is 1'],
    ['synchronous', 'off', 'synchronous is 0'],
    ['journal_mode', 'delete', 'journal_mode is delete'],
    ['foreign_keys', 'off', 'foreign_keys is 0'],
  ] as const) {
    test(`a connection with ${pragma} ${value} is refused`, (t) => {
      const db = new DatabaseSync(join(folderOf(t), 'store.db'));
      setPragmas(db);
      assertDurable(db, 'file');
      db.exec(`pragma ${pragma} = ${value}`);
      const fault = faultOf(() => assertDurable(db, 'file'));
      assert.equal(fault.code, 'store_unsafe');
      assert.match(fault.message, new RegExp(names));
      db.close();
    });
  }

  test('an open store waits for the disk at every commit and has small pages', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const store = openSqlite({ path, ...PARTS });
    const value = async (pragma: string): Promise<unknown> =>
      Object.values((await store.inspect(`pragma ${pragma}`))[0] ?? {})[0];
    assert.equal(await value('synchronous'), 2);
    assert.equal(await value('journal_mode'), 'wal');
    assert.equal(await value('page_size'), 1024);
    await store.close();
    const weak = openSqlite({ path, ...PARTS, pragmas: ['synchronous = normal'] });
    const [row] = await weak.inspect('pragma synchronous');
    assert.deepEqual({ ...row }, { synchronous: 1 }, 'only a test can have it weaker');
    await weak.close();
  });

  test('the folder and all files are the own user’s alone, whatever the umask', async (t) => {
    const folder = join(folderOf(t), 'made', 'deep');
    const umask = process.umask(0);
    t.after(() => process.umask(umask));
    const store = openSqlite({ path: join(folder, 'store.db'), ...PARTS });
    await mustPut(store, { write: 'host.insert', row: hostRow() });
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    assert.equal(mode(folder), '700');
    for (const file of [
      'store.db',
      'store.db-wal',
      'store.db-shm',
      'host.db',
      'host.db-wal',
      'host.db-shm',
    ]) {
      assert.equal(mode(join(folder, file)), '600', file);
    }
    await store.close();
  });

  test('a step is appended for three pages, one of them its key, and finished for two', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const store = openSqlite({ path, ...PARTS });
    await mustPut(
      store,
      { write: 'conversation.insert', row: conversationRow() },
      { write: 'task.insert', row: taskRow() },
      { write: 'turn.insert', row: turnRow() },
      { write: 'event.insert', row: eventRow() },
    );
    const pages = (): number => (statSync(`${path}-wal`).size - 32) / (24 + 1024);
    const advance = (from: number) =>
      ({
        write: 'conversation.advance',
        id: idOf('conversation', 1),
        expectedSeq: from,
        seq: from + 1,
        token: 1,
        turnId: null,
      }) as const;
    const start = pages();
    await mustPut(store, advance(0), { write: 'step.insert', row: stepRow() });
    assert.equal(pages() - start, 3);
    const row = stepRow({ state: 'finished', output: 'x'.repeat(200), finishedSeq: 4 });
    await mustPut(store, advance(1), { write: 'step.finish', row });
    assert.equal(pages() - start, 5);
    await mustPut(store, { write: 'task.save', row: taskRow({ version: 2, tokensUsed: 9 }) });
    assert.equal(pages() - start, 6, 'the save of an open task touches no index');
    await store.close();
  });

  test('of the indexes of a task its own moves touch those alone that hold it', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const store = openSqlite({ path, ...PARTS });
    const active = taskRow({ state: 'active' });
    await mustPut(store, { write: 'task.insert', row: active });
    const pages = (): number => (statSync(`${path}-wal`).size - 32) / (24 + 1024);
    const saved = async (over: Partial<TaskRecord>): Promise<number> => {
      const before = pages();
      await mustPut(store, { write: 'task.save', row: taskRow(over) });
      return pages() - before;
    };
    const stands = { waitKind: 'assessment', recoveryState: 'needed' } as const;
    assert.equal(await saved({ version: 2, tokensUsed: 9, recoveryAttempts: 1 }), 1);
    // Its row, what waits, and what waits for an assessment.
    assert.equal(await saved({ version: 3, state: 'waiting', ...stands }), 3);
    // Its row, those two again, and what was granted.
    assert.equal(await saved({ version: 4, recoveryState: 'granted' }), 4);
    assert.equal(await saved({ version: 5, recoveryState: 'followed' }), 2);
    assert.equal(await saved({ version: 6, tokensUsed: 10 }), 1);
    await store.close();
  });
});

describe('G-8: one host has an embedded store', () => {
  test('G-8: a second process is refused with the pid and the start of the first', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const before = Date.now();
    const first = await startStoreProcess(path);
    t.after(() => first.kill());
    const fault = faultOf(() => openSqlite({ path, ...PARTS }));
    assert.equal(fault.code, 'store_in_use');
    assert.equal(fault.remedy, 'stop');
    assert.match(fault.message, new RegExp(`process ${first.pid}, started \\d{4}-`));
    const holder = holderOf(path);
    assert.equal(holder?.pid, first.pid);
    assert.ok(holder.startedAt >= before && holder.startedAt <= Date.now());
    assert.equal(await first.commit(), 'done', 'the first goes on');
  });

  test('R-14: a host that was killed leaves its store to the next at once', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const first = await startStoreProcess(path);
    assert.equal(await first.commit(), 'done');
    await first.kill();
    assert.equal(holderOf(path), undefined);
    const store = openSqlite({ path, ...PARTS });
    assert.equal((await read(store, 'host.byId', { id: idOf('host', 1) }))?.pid, 1);
    assert.deepEqual(holderOf(path), { pid: process.pid, startedAt: NOW });
    await store.close();
    assert.equal(holderOf(path), undefined);
  });

  test('a second store in the same process is refused too, and lets go of nothing', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const store = openSqlite({ path, ...PARTS });
    for (let times = 0; times < 2; times += 1) {
      const fault = faultOf(() => openSqlite({ path, ...PARTS }));
      assert.match(
        fault.message,
        new RegExp(`process ${process.pid}, started 2030-01-02T03:04:05`),
      );
    }
    await assert.rejects(startStoreProcess(path), 'another process is still refused');
    await store.close();
  });

  test('a store that is shared or in memory takes no lock', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const first = await startStoreProcess(path, { shared: true });
    t.after(() => first.kill());
    const store = openSqlite({ path, ...PARTS, exclusive: false });
    assert.equal(store.traits.exclusive, false);
    assert.equal(await first.commit(), 'done');
    assert.equal((await read(store, 'host.list', { limit: 9 })).length, 1);
    assert.equal(existsSync(join(path, '..', 'host.db')), false);
    await store.close();
    assert.equal(openSqlite({ path: ':memory:', ...PARTS }).traits.exclusive, false);
  });
});

describe('a store that is open to read', () => {
  test('shows a running host’s records, and those of a stopped one', async (t) => {
    const path = join(folderOf(t), 'store.db');
    const store = openSqlite({ path, ...PARTS });
    await mustPut(store, { write: 'host.insert', row: hostRow() });
    const beside = openSqliteReadOnly(path);
    assert.equal((await beside.query('host.list', { limit: 9 })).length, 1);
    const stop = { stoppedAt: 7, end: 'clean' } as const;
    await mustPut(store, { write: 'host.stop', id: idOf('host', 1), ...stop });
    assert.equal((await read(beside, 'host.byId', { id: idOf('host', 1) }))?.stoppedAt, 7);
    await beside.close();
    await store.close();
    const after = openSqliteReadOnly(path);
    assert.equal((await after.query('host.list', { limit: 9 })).length, 1);
    await assert.rejects(put(after, { write: 'host.insert', row: hostRow() }), {
      code: 'read_only',
    });
    await after.close();
  });

  test('is refused where there is none', (t) => {
    const path = join(folderOf(t), 'store.db');
    assert.equal(faultOf(() => openSqliteReadOnly(path)).code, 'store_missing');
    assert.equal(existsSync(path), false);
  });
});

test('G-6: a file that is no store is refused as it is and kept', (t) => {
  const path = join(folderOf(t), 'store.db');
  const text = 'These are my notes, and not a store at all. '.repeat(100);
  writeFileSync(path, text);
  const fault = faultOf(() => openSqlite({ path, ...PARTS }));
  assert.equal(fault.code, 'corrupt');
  assert.equal(readFileSync(path, 'utf8'), text);
});
