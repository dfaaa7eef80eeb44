import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Store, StoreAlarm } from '../../src/ports/store.ts';
import { put } from '../../src/testing/store-calls.ts';
import { idOf, messageRow } from '../../src/testing/store-rows.ts';
import { openDoor } from '../http/door.ts';
import { says } from '../support/host.ts';

const COMPONENTS = 4;
const RECORDS = 2_000;
const TEXT = 'what was said '.repeat(4_000);

type Line = readonly [message: string, fields: unknown];

interface Place {
  readonly path: string;
  readonly store: ReturnType<typeof openSqlite>;
  readonly lines: Line[];
  readonly logBytes: () => number;
}

function openPlace(t: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-reader-'));
  const path = join(folder, 'sekisho.db');
  const lines: Line[] = [];
  const clock = { now: () => Date.now() };
  const note = (message: string, fields?: unknown): void => void lines.push([message, fields]);
  const store = openSqlite({
    path,
    clock,
    ids: createIds({ now: clock.now, random: () => 1 }),
    log: { info: note, warn: note },
    // What is asked here is no question of the disk's speed.
    pragmas: ['synchronous = off'],
  });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, store, lines, logBytes: () => statSync(`${path}-wal`).size };
}

function alarmOf(store: Store): StoreAlarm | null {
  return store.alarm ?? null;
}

async function holdRead(t: TestContext, path: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'reading-child.ts'), path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function release(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Four that write at once, each one record after the other; gives how long the slowest commit took. */
async function write(store: Store, count: number, from = 0): Promise<number> {
  let slowest = 0;
  const component = async (first: number): Promise<void> => {
    for (let number = first; number < count; number += COMPONENTS) {
      const began = performance.now();
      const seq = from + number + 1;
      const row = messageRow({
        id: idOf('message', seq),
        seq,
        externalId: `m${seq}`,
        text: TEXT,
        state: 'done',
      });
      const { kind } = await put(store, { write: 'message.insert', row });
      assert.equal(kind, 'done');
      slowest = Math.max(slowest, performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: COMPONENTS }, (_, first) => component(first)));
  return slowest;
}

test('INC-090 a reader that never lets go holds back no write, and the log is cut once it is gone', async (t) => {
  const { path, store, lines, logBytes } = openPlace(t);
  await write(store, COMPONENTS);
  const reader = await holdRead(t, path);
  assert.equal(alarmOf(store), null);
  const slowest = await write(store, RECORDS, COMPONENTS);
  const grown = logBytes();
  t.diagnostic(`the log grew to ${grown} bytes, the slowest commit took ${Math.round(slowest)} ms`);
  assert.ok(grown > LIMITS.storeLogAlarmBytes, `${grown} bytes`);
  assert.ok(slowest < 1_000, `a commit took ${slowest} ms`);
  const { since = 0 } = alarmOf(store) ?? {};
  assert.deepEqual(alarmOf(store), { code: 'log_large', bytes: grown, since });
  assert.equal(lines.length, 1, 'it is told once, while it lasts');

  await release(reader);
  // The first commit copies the log, the second begins it anew.
  await write(store, 1, COMPONENTS + RECORDS);
  await write(store, 1, COMPONENTS + RECORDS + 1);
  assert.ok(logBytes() <= LIMITS.storeLogKeptBytes, `${logBytes()} bytes`);
  assert.equal(alarmOf(store), null);
  assert.deepEqual(
    lines.map(([message]) => message),
    [
      'the log of the store is large: somebody holds it open to read',
      'the log of the store is of an ordinary size again',
    ],
  );
  const [kept] = await store.inspect(
    'select count(*) as records, count(distinct seq) as places from message',
  );
  const records = COMPONENTS + RECORDS + 2;
  assert.deepEqual({ ...kept }, { records, places: records });
});

test('INC-090 the log stays small while readers come and go', async (t) => {
  const { path, store, lines, logBytes } = openPlace(t);
  let largest = 0;
  for (let round = 0; round < 4; round += 1) {
    const reader = await holdRead(t, path);
    await write(store, RECORDS / 10, (round * RECORDS) / 5);
    await release(reader);
    await write(store, RECORDS / 10, (round * RECORDS) / 5 + RECORDS / 10);
    largest = Math.max(largest, logBytes());
  }
  t.diagnostic(`the largest log had ${largest} bytes`);
  assert.ok(largest < LIMITS.storeLogAlarmBytes / 2);
  assert.deepEqual(lines, []);
});

test('INC-090 status, attention and /status tell of a log that cannot begin anew', async (t) => {
  const door = await openDoor(t);
  const { store } = door.installation;
  const alarm = { code: 'log_large', bytes: 71_400_000, since: door.installation.clock.now() };
  const before = await door.client('reader').status();
  assert.equal(before.store.alarm, null);
  Object.assign(store, { alarm });
  const { store: told, attention } = await door.client('reader').status();
  const since = new Date(alarm.since).toISOString();
  assert.deepEqual([told.alarm, attention], [{ ...alarm, since }, 1]);
  const { items } = await door.client('reader').attention();
  assert.deepEqual(
    items.map(({ code, level, command }) => [code, level, command]),
    [['store_log_large', 'escalation', null]],
  );
  assert.match(items[0]?.sentence ?? '', /has grown to 71 MB/);
  door.installation.model.answer = () => says('hello');
  const { id } = await door.client('runner').openConversation({});
  await door.client('runner').postMessage(id, { text: '/status' });
  const answered = await door.client('reader').outbox({ conversation: id });
  assert.match(answered.items[0]?.text ?? '', /has grown to 71 MB/);
});
