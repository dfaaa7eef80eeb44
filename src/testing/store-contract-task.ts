import assert from 'node:assert/strict';
import type { TaskRecord } from '../core/task/record.ts';
import type { TaskReads } from '../ports/task.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { ABOVE_ALL, idOf, runRow, taskRow } from './store-rows.ts';

type ListArgs = TaskReads['task.list']['args'];
const LIST_ALL: ListArgs = {
  state: '',
  enrollment: '',
  conversationId: '',
  before: ABOVE_ALL,
  limit: 99,
};

/** Everything that may change, changed. */
const CHANGED: Partial<TaskRecord> = {
  enrollment: 'held-legacy',
  state: 'waiting',
  sessionId: idOf('session', 2),
  reason: 'awaits_provider',
  waitKind: 'provider',
  waitId: 'wait-1',
  waitUntil: 5_000,
  waitQuestion: 'Which one?',
  deadline: null,
  dueAt: 5_000,
  checkpoint: 'Half of it is done.',
  turnsLimit: 51,
  turnsUsed: 1,
  tokensLimit: 2_000_001,
  tokensUsed: 2,
  costLimit: 20_000_001,
  costUsed: 3,
  continuationsLimit: 21,
  continuationsUsed: 4,
  correctionsUsed: 5,
  quotaWaits: 9,
  recoveryEpoch: 6,
  recoveryAttempts: 7,
  recoveryLifetimeAttempts: 8,
  recoveryNextAt: 6_000,
  orderAt: 7_000,
  recoveryState: 'granted',
  recoveryOutcome: 'continue',
  recoveryGrantedAt: 8_000,
  changedAt: 4_000,
  outcomeData: '{}',
};

export const TASK_CASES: readonly Case[] = [
  [
    'T-4: a task is saved only over the version that was read',
    async ({ store }) => {
      const row = taskRow();
      await mustPut(store, { write: 'task.insert', row });
      assert.deepEqual(await read(store, 'task.byId', { id: row.id }), row);
      const next = taskRow({ ...CHANGED, version: 2 });
      await mustPut(store, { write: 'task.save', row: next });
      assert.deepEqual(await read(store, 'task.byId', { id: row.id }), next);
      await mustLose(store, { write: 'task.save', row: next });
      await mustLose(store, { write: 'task.save', row: taskRow({ version: 4 }) });
      await mustLose(store, { write: 'task.save', row: taskRow({ id: idOf('task', 2) }) });
      assert.deepEqual(await read(store, 'task.byId', { id: row.id }), next);
    },
  ],
  [
    'T-5: no save changes the mandate',
    async ({ store }) => {
      const row = taskRow();
      await mustPut(store, { write: 'task.insert', row });
      const other = {
        mandateText: 'Delete everything.',
        mandatePrincipal: 'model:x',
        mandateAuthority: 'own',
        mandateOrigin: 'api',
        mandateAt: 2,
        mandateHash: 'x',
      } as const;
      await mustPut(store, { write: 'task.save', row: taskRow({ ...other, version: 2 }) });
      const ended = { state: 'completed', endedAt: 9_000 } as const;
      const last = taskRow({ ...other, ...ended, version: 3 });
      await mustPut(store, { write: 'task.save', row: last });
      const kept = taskRow({ ...ended, version: 3 });
      assert.deepEqual(await read(store, 'task.byId', { id: row.id }), kept);
    },
  ],
  [
    'V18: an ended task is not saved as an open one',
    async ({ store }) => {
      const ended = taskRow({ state: 'stopped', endedAt: 9_000 });
      await mustPut(store, { write: 'task.insert', row: ended });
      await mustLose(store, { write: 'task.save', row: taskRow({ version: 2 }) });
      assert.deepEqual(await read(store, 'task.byId', { id: ended.id }), ended);
    },
  ],
  [
    'a second task with one id is a lost race',
    async ({ store }) => {
      await mustPut(store, { write: 'task.insert', row: taskRow() });
      await mustLose(store, { write: 'task.insert', row: taskRow() });
    },
  ],
  ['tasks are listed from the newest by state, enrollment and conversation, page by page', lists],
  [
    'open tasks of a conversation come with the held ones last, those of all from the newest',
    async ({ store }) => {
      await putTasks({ store });
      const conversationId = idOf('conversation', 1);
      const open = await read(store, 'task.openOf', { conversationId, limit: 9 });
      assert.deepEqual(field(open, 'id'), ids(7, 1, 2), 'what is held behind all others');
      const newest = await read(store, 'task.openOf', { conversationId, limit: 1 });
      assert.deepEqual(field(newest, 'id'), ids(7));
      assert.deepEqual(field(await read(store, 'task.open', { limit: 9 }), 'id'), ids(7, 6, 2, 1));
      assert.deepEqual(field(await read(store, 'task.open', { limit: 2 }), 'id'), ids(7, 6));
    },
  ],
  [
    'a task that ends leaves the open ones',
    async ({ store }) => {
      await mustPut(store, { write: 'task.insert', row: taskRow() });
      const row = taskRow({ state: 'completed', endedAt: 9_000, version: 2 });
      await mustPut(store, { write: 'task.save', row });
      assert.deepEqual(await read(store, 'task.open', { limit: 9 }), []);
      const completed = await read(store, 'task.list', { ...LIST_ALL, state: 'completed' });
      assert.deepEqual(completed, [row]);
    },
  ],
  [
    'tasks come due by their instant, the longest due first, until it is taken from them',
    async ({ store }) => {
      assert.equal(await read(store, 'task.nextDue', {}), undefined);
      const instants = [80, 60, null, 60, 50];
      for (const [place, dueAt] of instants.entries()) {
        const row = taskRow({ id: idOf('task', place + 1), state: 'waiting', dueAt });
        await mustPut(store, { write: 'task.insert', row });
      }
      const due = async (now: number, limit = 9): Promise<string[]> =>
        field(await read(store, 'task.due', { now, limit }), 'id');
      assert.deepEqual(await due(49), []);
      assert.deepEqual(await due(50), ids(5));
      assert.deepEqual(await due(99), ids(5, 2, 4, 1));
      assert.deepEqual(await due(99, 2), ids(5, 2));
      assert.deepEqual(await read(store, 'task.nextDue', {}), { at: 50 });
      const five = { id: idOf('task', 5), version: 2 } as const;
      await mustPut(store, { write: 'task.save', row: taskRow(five) });
      const ended = { state: 'expired', endedAt: 99, version: 2 } as const;
      const row = taskRow({ id: idOf('task', 2), ...ended });
      await mustPut(store, { write: 'task.save', row });
      assert.deepEqual(await due(99), ids(4, 1));
      assert.deepEqual(await read(store, 'task.nextDue', {}), { at: 60 });
      const later = taskRow({ id: idOf('task', 4), state: 'waiting', dueAt: 90, version: 2 });
      await mustPut(store, { write: 'task.save', row: later });
      assert.deepEqual(await due(99), ids(1, 4));
    },
  ],
  [
    'waiting tasks are found by what they wait for, the longest waiting first',
    async ({ store }) => {
      const quota = { state: 'waiting', waitKind: 'quota', waitId: 'a' } as const;
      const rows: Partial<TaskRecord>[] = [
        { ...quota, changedAt: 30 },
        { ...quota, changedAt: 10 },
        { ...quota, changedAt: 5, waitId: 'b' },
        { ...quota, changedAt: 5, waitKind: 'provider' },
        { ...quota, changedAt: 5, state: 'paused' },
        { ...quota, changedAt: 10 },
        { ...quota, changedAt: 5, waitId: null },
      ];
      for (const [place, row] of rows.entries()) {
        const id = idOf('task', place + 1);
        await mustPut(store, { write: 'task.insert', row: taskRow({ ...row, id }) });
      }
      const waiting = async (kind: 'quota' | 'provider', id: string, limit = 9) =>
        field(await read(store, 'task.waitingFor', { kind, id, limit }), 'id');
      assert.deepEqual(await waiting('quota', 'a'), ids(2, 6, 1));
      assert.deepEqual(await waiting('quota', 'a', 1), ids(2));
      assert.deepEqual(await waiting('quota', 'b'), ids(3));
      assert.deepEqual(await waiting('provider', 'a'), ids(4));
      assert.deepEqual(await waiting('provider', 'b'), []);
      const row = taskRow({ id: idOf('task', 2), version: 2 });
      await mustPut(store, { write: 'task.save', row });
      assert.deepEqual(await waiting('quota', 'a'), ids(6, 1));
    },
  ],
  [
    'W-5: ids near a mistyped one share its end or its beginning',
    async ({ store }) => {
      const near = async (from: string): Promise<string[]> =>
        field(await read(store, 'task.nearest', { from, limit: 3 }), 'id');
      for (const n of [1, 2, 300_000_000]) {
        await mustPut(store, { write: 'task.insert', row: taskRow({ id: idOf('task', n) }) });
      }
      const id = idOf('task', 300_000_000);
      assert.deepEqual(await near(`task_ZZZZ${id.slice(9)}`), [id], 'the same end');
      assert.deepEqual(await near(id.toLowerCase()), [id], 'small letters');
      assert.deepEqual(await near(`${id.slice(0, -1)}Z`), [id], 'the same beginning');
      assert.deepEqual(await near('1'), []);
      assert.deepEqual(await near(''), []);
    },
  ],
  [
    'V18: a run ends once and keeps its end',
    async ({ store }) => {
      const row = runRow({ metadata: '{"a":1}', callbackUrl: 'https://example.com/hook' });
      await mustPut(store, { write: 'run.insert', row });
      await mustLose(store, { write: 'run.insert', row });
      assert.deepEqual(await read(store, 'run.byId', { id: row.id }), row);
      const end = {
        write: 'run.end',
        id: row.id,
        state: 'failed',
        outcomeCode: 'model_refused',
        outcomeId: idOf('outbox', 1),
        endedAt: 7_000,
      } as const;
      await mustPut(store, end);
      await mustLose(store, { ...end, state: 'completed' });
      const { outcomeCode, outcomeId, endedAt, state } = end;
      const ended = { ...row, outcomeCode, outcomeId, endedAt, state };
      assert.deepEqual(await read(store, 'run.byId', { id: row.id }), ended);
    },
  ],
  [
    'runs are found by their task and listed from the newest, page by page',
    async ({ store }) => {
      for (const n of [1, 2, 3]) {
        const row = runRow({ id: idOf('run', n), taskId: idOf('task', n) });
        await mustPut(store, { write: 'run.insert', row });
      }
      const of = await read(store, 'run.ofTask', { taskId: idOf('task', 2) });
      assert.equal(of?.id, idOf('run', 2));
      assert.equal(await read(store, 'run.ofTask', { taskId: idOf('task', 9) }), undefined);
      const first = await read(store, 'run.list', { before: ABOVE_ALL, limit: 2 });
      assert.deepEqual(field(first, 'id'), [idOf('run', 3), idOf('run', 2)]);
      const rest = await read(store, 'run.list', { before: idOf('run', 2), limit: 2 });
      assert.deepEqual(field(rest, 'id'), [idOf('run', 1)]);
    },
  ],
];

function ids(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('task', number));
}

async function putTasks({ store }: Pick<Opened, 'store'>): Promise<void> {
  const rows: Partial<TaskRecord>[] = [
    { state: 'active' },
    { state: 'blocked', enrollment: 'held-legacy' },
    { state: 'completed', endedAt: 1 },
    { state: 'failed', endedAt: 1 },
    { state: 'completed', endedAt: 1, conversationId: idOf('conversation', 2) },
    { state: 'active', conversationId: idOf('conversation', 2) },
    { state: 'waiting' },
    { state: 'failed', endedAt: 1, enrollment: 'held-legacy' },
    { state: 'completed', endedAt: 1, enrollment: 'unmarked' },
  ];
  for (const [place, row] of rows.entries()) {
    const id = idOf('task', place + 1);
    await mustPut(store, { write: 'task.insert', row: taskRow({ ...row, id }) });
  }
}

async function lists({ store }: Opened): Promise<void> {
  await putTasks({ store });
  const list = async (over: Partial<ListArgs>): Promise<string[]> =>
    field(await read(store, 'task.list', { ...LIST_ALL, ...over }), 'id');
  const elsewhere = idOf('conversation', 2);
  assert.deepEqual(await list({}), ids(9, 8, 7, 6, 5, 4, 3, 2, 1));
  assert.deepEqual(await list({ limit: 2 }), ids(9, 8));
  assert.deepEqual(await list({ before: idOf('task', 4) }), ids(3, 2, 1));
  assert.deepEqual(await list({ state: 'active' }), ids(6, 1));
  assert.deepEqual(await list({ state: 'active', before: idOf('task', 6) }), ids(1));
  assert.deepEqual(await list({ state: 'blocked' }), ids(2));
  assert.deepEqual(await list({ state: 'completed' }), ids(9, 5, 3));
  assert.deepEqual(await list({ state: 'failed' }), ids(8, 4));
  assert.deepEqual(await list({ state: 'failed', enrollment: 'current' }), ids(4));
  assert.deepEqual(await list({ state: 'expired' }), []);
  assert.deepEqual(await list({ enrollment: 'held-legacy' }), ids(8, 2));
  const held = { enrollment: 'held-legacy' } as const;
  assert.deepEqual(await list({ ...held, limit: 1 }), ids(8));
  assert.deepEqual(await list({ ...held, before: idOf('task', 8) }), ids(2));
  assert.deepEqual(await list({ ...held, state: 'blocked' }), ids(2));
  assert.deepEqual(await list({ ...held, state: 'completed' }), []);
  assert.deepEqual(await list({ ...held, conversationId: elsewhere }), []);
  assert.deepEqual(await list({ enrollment: 'unmarked' }), ids(9));
  assert.deepEqual(await list({ enrollment: 'current', limit: 2 }), ids(7, 6));
  assert.deepEqual(await list({ conversationId: elsewhere }), ids(6, 5));
  assert.deepEqual(await list({ conversationId: elsewhere, state: 'completed' }), ids(5));
  assert.deepEqual(await list({ conversationId: elsewhere, state: 'failed' }), []);
}
