// What becomes of the rows of a store that a host of version 1 wrote.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { field, mustPut, read } from '../../src/testing/store-calls.ts';
import type { TestedStore } from '../../src/testing/store-case.ts';
import { dump, type Dump, type Row } from '../../src/testing/store-dump.ts';
import { ABOVE_ALL, idOf } from '../../src/testing/store-rows.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { assertKept, schemaOf, sidesOf, VERSION_1_ROWS } from './store-earlier.ts';

const VERSION_1 = MIGRATIONS.slice(0, 1);

/** Tasks that version 1 could write and its host in the fixture did not, made of its blocked one. */
const blocked = VERSION_1_ROWS['task']?.find((row) => row['state'] === 'blocked') ?? {};
const OTHERS: readonly Row[] = [
  { state: 'blocked', deadline: null },
  { state: 'waiting', wait_kind: 'instant', wait_until: 500, deadline: 900 },
  { state: 'waiting', wait_kind: 'instant', wait_until: 900, deadline: 400 },
  { state: 'waiting', wait_kind: 'instant', wait_until: 600, deadline: null },
  { state: 'paused', deadline: 300, mandate_principal: 'ADMIN:terminal' },
  { state: 'expired', deadline: 200, ended_at: 201 },
  { state: 'blocked', deadline: null, conversation_id: idOf('conversation', 9) },
].map((over, place) => ({ ...blocked, id: idOf('task', place + 1), ...over }));
const ROWS: Dump = { ...VERSION_1_ROWS, task: [...(VERSION_1_ROWS['task'] ?? []), ...OTHERS] };

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const SIDES = sidesOf(() => server, VERSION_1);

const ADDED: Readonly<Record<string, readonly string[]>> = {
  host: ['end'],
  task: [
    'session_id',
    'mandate_authority',
    'due_at',
    'checkpoint',
    'quota_waits',
    'order_at',
    'recovery_state',
    'recovery_outcome',
    'recovery_granted_at',
  ],
  conversation: ['model', 'fence', 'operation_id'],
  session: ['previous_id', 'next_id', 'cut_seq', 'compactions', 'seed'],
  turn: ['authority'],
  step: ['tries'],
};

async function tasksOf(store: TestedStore): Promise<readonly TaskRecord[]> {
  const any = { state: '', enrollment: '', conversationId: '' };
  return read(store, 'task.list', { ...any, before: ABOVE_ALL, limit: 99 });
}

for (const side of SIDES) {
  describe(`a store of version 1 on ${side.dialect}`, () => {
    test('becomes what a new one is, its planner’s numbers included', async (t) => {
      const migrated = await side.open(t, ROWS);
      const fresh = await side.open(t, {}, []);
      const schema = await schemaOf(migrated, side.dialect);
      assert.ok(schema.length > 40);
      assert.deepEqual(schema, await schemaOf(fresh, side.dialect));
      if (side.dialect === 'postgres') return;
      const stats = 'select * from sqlite_stat1 order by tbl, idx';
      const expected = await fresh.inspect(stats);
      assert.ok(expected.some((row) => row['idx'] === 'task_due'));
      assert.deepEqual(await migrated.inspect(stats), expected);
    });

    test('keeps every value of every row', async (t) => {
      const tables = await dump(await side.open(t, ROWS));
      const looked = assertKept(tables, ROWS, ADDED);
      assert.ok(looked > 100, `${looked} rows`);
      const reasons = new Set(tables['task']?.map((row) => row['reason']));
      assert.ok(reasons.has('model_unavailable'), 'a reason that is given no more');
    });

    test('says of each task where, with what authority and until when it stands', async (t) => {
      const store = await side.open(t, ROWS);
      const tasks = await tasksOf(store);
      assert.equal(tasks.length, ROWS['task']?.length);
      const sessions = new Map(ROWS['conversation']?.map((row) => [row['id'], row['session_id']]));
      for (const task of tasks) {
        assert.equal(task.sessionId, sessions.get(task.conversationId) ?? '');
        const isAdmin = task.mandatePrincipal.startsWith('admin:');
        assert.equal(task.mandateAuthority, isAdmin ? 'admin' : 'own', task.mandatePrincipal);
        assert.equal(task.checkpoint, null);
        assert.equal(task.quotaWaits, 0);
        const stands = ['waiting', 'blocked', 'paused'].includes(task.state);
        const first = Math.min(task.waitUntil ?? Infinity, task.deadline ?? Infinity);
        assert.equal(task.dueAt, stands && first < Infinity ? first : null, task.state);
      }
      assert.ok(tasks.some((task) => task.mandateAuthority === 'own' && task.state === 'active'));
      const ofNone = tasks.filter((task) => !sessions.has(task.conversationId));
      assert.deepEqual(field(ofNone, 'sessionId'), [''], 'of a conversation that is not there');
      const due = await read(store, 'task.due', { now: 1_000, limit: 9 });
      assert.deepEqual(
        field(due, 'id'),
        [5, 3, 2, 4].map((n) => idOf('task', n)),
      );
      const all = await read(store, 'task.due', { now: Number.MAX_SAFE_INTEGER, limit: 99 });
      const standing = all.slice(4).map((task) => [task.state, task.reason, task.waitKind]);
      assert.deepEqual(standing, [
        ['blocked', 'no_outcome', null],
        ['waiting', 'interrupted', 'assessment'],
      ]);
    });

    test('gives its turns the least authority, its steps one try, and no conversation a model', async (t) => {
      const tables = await dump(await side.open(t, ROWS));
      const values = (table: string, column: string): unknown[] => [
        ...new Set(tables[table]?.map((row) => row[column])),
      ];
      assert.deepEqual(values('turn', 'authority'), ['own']);
      assert.deepEqual(values('step', 'tries'), [1]);
      assert.deepEqual(values('conversation', 'model'), [null]);
      for (const table of ['approval', 'limiter', 'audit', 'receipt']) {
        assert.deepEqual(tables[table], [], table);
      }
    });

    test('goes on: what stood is saved and is due no more', async (t) => {
      const store = await side.open(t, ROWS);
      const [task] = await read(store, 'task.due', { now: 1_000, limit: 1 });
      assert.ok(task !== undefined);
      const row = { ...task, state: 'active', dueAt: null, version: task.version + 1 } as const;
      await mustPut(store, { write: 'task.save', row });
      assert.deepEqual(await read(store, 'task.byId', { id: task.id }), row);
      assert.equal((await read(store, 'task.due', { now: 1_000, limit: 9 })).length, 3);
    });

    test('lets a host of version 1 that still runs write its rows', async (t) => {
      const tasks = await tasksOf(await side.open(t, ROWS, MIGRATIONS));
      assert.equal(tasks.length, ROWS['task']?.length);
      for (const { mandateAuthority, quotaWaits, sessionId, dueAt } of tasks) {
        assert.deepEqual([mandateAuthority, quotaWaits, sessionId, dueAt], ['own', 0, '', null]);
      }
    });
  });
}
