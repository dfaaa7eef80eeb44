import assert from 'node:assert/strict';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { HostRecord } from '../core/lease/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { Store, Write } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import {
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  messageRow,
  reportRow,
  stormRow,
  taskRow,
} from './store-rows.ts';

const NEEDED: Partial<TaskRecord> = {
  state: 'waiting',
  reason: 'interrupted',
  waitKind: 'assessment',
  recoveryState: 'needed',
};

/** What is interrupted, what a storm and a report were, and how hosts ended. */
export const RECOVERY_CASES: readonly Case[] = [
  [
    'what waits for its assessment is found when its next attempt is due, or when none is left',
    due,
  ],
  ['of what may be assessed that comes first of which a person spoke last', newestFirst],
  [
    'a task that is interrupted no more is found no more',
    async ({ store }) => {
      await putTasks(store, [NEEDED, NEEDED]);
      assert.deepEqual(await read(store, 'recovery.standing', {}), { interrupted: 2, held: 0 });
      const granted = { version: 2, recoveryState: 'granted', recoveryGrantedAt: 7 } as const;
      await mustPut(store, { write: 'task.save', row: taskRow(granted) });
      assert.deepEqual(await assessable(store, 99), ids(2));
      assert.deepEqual(await read(store, 'task.granted', { limit: 9 }), [taskRow(granted)]);
      const followed = taskRow({ version: 3, recoveryState: 'followed' });
      await mustPut(store, { write: 'task.save', row: followed });
      assert.deepEqual(await read(store, 'task.granted', { limit: 9 }), []);
      assert.deepEqual(await read(store, 'recovery.standing', {}), { interrupted: 1, held: 0 });
    },
  ],
  [
    'open tasks whose assessment said that they go on are found by their ids',
    async ({ store }) => {
      const granted = { recoveryState: 'granted' } as const;
      const ended = { state: 'stopped', endedAt: 5 } as const;
      await putTasks(store, [granted, {}, { ...granted, ...ended }, granted, NEEDED]);
      const found = async (limit: number): Promise<string[]> =>
        field(await read(store, 'task.granted', { limit }), 'id');
      assert.deepEqual(await found(9), ids(1, 4));
      assert.deepEqual(await found(1), ids(1));
    },
  ],
  [
    'what stands still without a reason is found, and nothing that has one or is held',
    async ({ store }) => {
      await putTasks(store, [
        { state: 'blocked' },
        { state: 'blocked', reason: 'no_outcome' },
        { state: 'waiting' },
        { state: 'waiting', waitKind: 'answer' },
        { state: 'waiting', reason: 'awaits_answer' },
        { state: 'blocked', enrollment: 'held-legacy' },
        { state: 'blocked', enrollment: 'unmarked' },
        { state: 'paused' },
        {},
        { state: 'failed', endedAt: 5 },
        { state: 'blocked' },
      ]);
      const found = async (limit: number): Promise<string[]> =>
        field(await read(store, 'task.silent', { limit }), 'id');
      assert.deepEqual(await found(99), ids(1, 3, 11));
      assert.deepEqual(await found(2), ids(1, 3));
    },
  ],
  [
    'what is interrupted and what the boundary holds is counted while it is open',
    async ({ store }) => {
      const none = { interrupted: 0, held: 0 };
      assert.deepEqual(await read(store, 'recovery.standing', {}), none);
      const held = { state: 'blocked', enrollment: 'held-legacy' } as const;
      await putTasks(store, [
        NEEDED,
        { ...NEEDED, enrollment: 'unmarked' },
        { ...NEEDED, enrollment: 'held-legacy' },
        { ...NEEDED, waitKind: 'provider', reason: 'interrupted' },
        { state: 'waiting', waitKind: 'provider', reason: 'awaits_provider' },
        held,
        { ...held, state: 'stopped', endedAt: 5 },
        { enrollment: 'unmarked' },
      ]);
      assert.deepEqual(await read(store, 'recovery.standing', {}), { interrupted: 2, held: 2 });
    },
  ],
  [
    'what was blocked or has expired since an instant is reported from the newest',
    async ({ store }) => {
      await putTasks(store, [
        { state: 'blocked', changedAt: 50 },
        { state: 'blocked', changedAt: 80 },
        { state: 'expired', changedAt: 70, endedAt: 70 },
        { state: 'failed', changedAt: 75, endedAt: 75 },
        { state: 'waiting', changedAt: 76 },
        { state: 'blocked', changedAt: 77, enrollment: 'held-legacy' },
        { state: 'expired', changedAt: 78, endedAt: 78, enrollment: 'unmarked' },
        { state: 'blocked', changedAt: 80 },
      ]);
      const since = async (instant: number, limit = 9): Promise<string[]> =>
        field(await read(store, 'report.tasks', { since: instant, limit }), 'id');
      assert.deepEqual(await since(0), ids(8, 2, 3, 1));
      assert.deepEqual(await since(50), ids(8, 2, 3));
      assert.deepEqual(await since(50, 2), ids(8, 2));
      assert.deepEqual(await since(80), []);
    },
  ],
  [
    'the last report is the newest',
    async ({ store }) => {
      assert.equal(await read(store, 'report.last', { now: 9 }), undefined);
      const rows = [1, 2].map((n) =>
        reportRow({ id: idOf('report', n), at: 9 - n, outboxId: idOf('outbox', n) }),
      );
      for (const row of rows) await mustPut(store, { write: 'report.insert', row });
      await mustLose(store, { write: 'report.insert', row: reportRow() });
      assert.deepEqual(await read(store, 'report.last', { now: 9 }), rows[0]);
      assert.deepEqual(await read(store, 'report.last', { now: 7 }), rows[1]);
      assert.equal(await read(store, 'report.last', { now: 6 }), undefined);
    },
  ],
  ['a storm is seen again and ended while it is open, and ends once', storms],
  [
    'hosts that were found lost after an instant come from the newest, whoever stopped by itself not',
    async ({ store }) => {
      const ends: Partial<HostRecord>[] = [
        { stoppedAt: 50, end: 'lost' },
        { stoppedAt: 70, end: 'lost' },
        { stoppedAt: 60, end: 'clean' },
        {},
        { stoppedAt: 70, end: 'lost' },
      ];
      for (const [place, over] of ends.entries()) {
        const row = hostRow({ id: idOf('host', place + 1), ...over });
        await mustPut(store, { write: 'host.insert', row });
      }
      const since = async (instant: number, limit = 9): Promise<string[]> =>
        field(await read(store, 'host.lostSince', { since: instant, limit }), 'id');
      const hosts = (...numbers: number[]): string[] => numbers.map((n) => idOf('host', n));
      assert.deepEqual(await since(0), hosts(5, 2, 1));
      assert.deepEqual(await since(50), hosts(5, 2));
      assert.deepEqual(await since(0, 1), hosts(5));
      assert.deepEqual(await since(70), []);
      const stop = { stoppedAt: 90, end: 'lost' } as const;
      await mustPut(store, { write: 'host.stop', id: idOf('host', 4), ...stop });
      assert.deepEqual(await since(70), hosts(4));
      await mustPut(store, { write: 'host.renew', id: idOf('host', 4), aliveUntil: 99 });
      assert.deepEqual(await since(70), [], 'it lives again');
    },
  ],
  [
    'the newest conversation that a person reads is not of an API caller',
    async ({ store }) => {
      const of = (n: number, channel: string): Write => ({
        write: 'conversation.insert',
        row: conversationRow({ id: idOf('conversation', n), channel, address: `a${n}` }),
      });
      await mustPut(store, of(3, 'api'));
      assert.equal(await read(store, 'conversation.newestRead', {}), undefined);
      await mustPut(store, of(1, 'terminal'), of(2, 'chat'), of(4, 'api'));
      const found = await read(store, 'conversation.newestRead', {});
      assert.equal(found?.id, idOf('conversation', 2));
    },
  ],
];

function ids(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('task', number));
}

/** Tasks 1, 2, 3 … with these values. */
async function putTasks(store: Store, rows: readonly Partial<TaskRecord>[]): Promise<void> {
  for (const [place, row] of rows.entries()) {
    const id = idOf('task', place + 1);
    await mustPut(store, { write: 'task.insert', row: taskRow({ ...row, id }) });
  }
}

async function assessable(store: Store, now: number, limit = 9): Promise<string[]> {
  return field(await read(store, 'task.assessable', { now, attempts: 3, limit }), 'id');
}

async function due({ store }: Opened): Promise<void> {
  assert.equal(await read(store, 'task.nextAssessment', {}), undefined);
  await putTasks(store, [
    { ...NEEDED, recoveryNextAt: 70 },
    { ...NEEDED, recoveryNextAt: 50, recoveryAttempts: 2 },
    { ...NEEDED, recoveryNextAt: 90, recoveryAttempts: 3 },
    { ...NEEDED, recoveryNextAt: 50, enrollment: 'held-legacy' },
    { ...NEEDED, recoveryNextAt: 50, enrollment: 'unmarked' },
    { ...NEEDED, waitKind: 'provider' },
    { state: 'paused', recoveryState: 'needed' },
    { ...NEEDED, recoveryNextAt: 50, deadline: 60 },
  ]);
  assert.deepEqual(await assessable(store, 49), ids(3));
  assert.deepEqual(await assessable(store, 50), ids(2, 3, 8));
  assert.deepEqual(await assessable(store, 60), ids(2, 3), 'the end of task 8 is its deadline’s');
  assert.deepEqual(await assessable(store, 70), ids(1, 2, 3));
  assert.deepEqual(await assessable(store, 70, 2), ids(1, 2));
  assert.deepEqual(await read(store, 'task.nextAssessment', {}), { at: 50 });
  const first = taskRow({ ...NEEDED, id: idOf('task', 9), deadline: null });
  await mustPut(store, { write: 'task.insert', row: first });
  assert.deepEqual(await read(store, 'task.nextAssessment', {}), { at: 0 }, 'it has had none');
  assert.deepEqual(await assessable(store, 0), ids(3, 9));
  const [row] = await read(store, 'task.assessable', { now: 0, attempts: 4, limit: 9 });
  assert.deepEqual(row, first, 'whole, and none is without an attempt of four');
  const reserved = { ...first, version: 2, recoveryAttempts: 1, recoveryNextAt: 100 };
  await mustPut(store, { write: 'task.save', row: reserved });
  assert.deepEqual(await assessable(store, 99), ids(1, 2, 3));
}

/** A turn of the task claimed what was said then. */
function claimed(
  task: number,
  seq: number,
  at: number,
  kind: MessageRecord['kind'] = 'genuine',
): Write[] {
  const of = { taskId: idOf('task', task), turnId: idOf('turn', task) } as const;
  const conversationId = idOf('conversation', 1);
  return [
    {
      write: 'message.insert',
      row: messageRow({ seq, at, kind, ...of, state: 'done', claimedSeq: seq + 1 }),
    },
    {
      write: 'event.insert',
      row: eventRow({ conversationId, seq: seq + 1, type: 'turn.started', ...of }),
    },
  ];
}

async function newestFirst({ store }: Opened): Promise<void> {
  await putTasks(store, [NEEDED, NEEDED, NEEDED, NEEDED, NEEDED]);
  await mustPut(store, ...claimed(1, 10, 300), ...claimed(1, 20, 310), ...claimed(2, 30, 400));
  await mustPut(store, ...claimed(3, 40, 200));
  assert.deepEqual(await assessable(store, 1), ids(2, 1, 3, 4, 5));
  assert.deepEqual(await assessable(store, 1, 2), ids(2, 1));
  // What the host made, what answered itself and what was said elsewhere is not a person's word.
  const of = { taskId: idOf('task', 3) } as const;
  const elsewhere = { ...of, conversationId: idOf('conversation', 2) } as const;
  await mustPut(store, ...claimed(4, 45, 900, 'generated'));
  await mustPut(
    store,
    { write: 'message.insert', row: messageRow({ seq: 50, ...of, at: 900, kind: 'generated' }) },
    { write: 'message.insert', row: messageRow({ seq: 51, ...of, at: 900, kind: 'command' }) },
    { write: 'message.insert', row: messageRow({ seq: 52, ...elsewhere, at: 900 }) },
  );
  assert.deepEqual(await assessable(store, 1), ids(2, 1, 3, 4, 5));
  await mustPut(
    store,
    { write: 'message.insert', row: messageRow({ seq: 53, ...of, at: 500 }) },
    { write: 'message.insert', row: messageRow({ seq: 54, taskId: idOf('task', 5), at: 350 }) },
  );
  assert.deepEqual(await assessable(store, 1), ids(3, 2, 5, 1, 4), 'kept for their next turn');
}

async function storms({ store }: Opened): Promise<void> {
  assert.equal(await read(store, 'storm.last', {}), undefined);
  const row = stormRow();
  await mustPut(store, { write: 'storm.insert', row });
  await mustLose(store, { write: 'storm.insert', row });
  assert.deepEqual(await read(store, 'storm.last', {}), row);
  await mustPut(store, { write: 'storm.seen', id: row.id, lastAt: 2_000 });
  assert.deepEqual(await read(store, 'storm.last', {}), { ...row, lastAt: 2_000 });
  const end = { endedAt: 3_000, endedBy: 'admin:terminal' } as const;
  await mustPut(store, { write: 'storm.end', id: row.id, ...end });
  await mustLose(store, { write: 'storm.end', id: row.id, endedAt: 4_000, endedBy: 'host' });
  await mustLose(store, { write: 'storm.seen', id: row.id, lastAt: 4_000 });
  await mustLose(store, { write: 'storm.seen', id: idOf('storm', 9), lastAt: 4_000 });
  assert.deepEqual(await read(store, 'storm.last', {}), { ...row, lastAt: 2_000, ...end });
  const next = stormRow({ id: idOf('storm', 2), since: 500, lastAt: 500 });
  await mustPut(store, { write: 'storm.insert', row: next });
  assert.deepEqual(await read(store, 'storm.last', {}), next);
}
