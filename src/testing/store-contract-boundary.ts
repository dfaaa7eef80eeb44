import assert from 'node:assert/strict';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { BoundaryReads } from '../ports/boundary.ts';
import type { Store, Write } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import {
  boundaryRow,
  conversationRow,
  executionRow,
  idOf,
  messageRow,
  runRow,
  taskRow,
  turnRow,
} from './store-rows.ts';

/** What an import left unmarked, with everything that may prove that it is ongoing. */
export const BOUNDARY_CASES: readonly Case[] = [
  [
    'a run of the boundary ends once and is told once',
    async ({ store }) => {
      assert.equal(await read(store, 'boundary.last', {}), undefined);
      const row = boundaryRow();
      await mustPut(store, { write: 'boundary.insert', row });
      await mustLose(store, { write: 'boundary.insert', row });
      assert.deepEqual(await read(store, 'boundary.last', {}), row);
      const { id } = row;
      const ended = { ...row, endedAt: 5_000 };
      await mustPut(store, { write: 'boundary.end', id, endedAt: 5_000 });
      await mustLose(store, { write: 'boundary.end', id, endedAt: 6_000 });
      await mustLose(store, { write: 'boundary.end', id: idOf('boundary', 9), endedAt: 5_000 });
      assert.deepEqual(await read(store, 'boundary.last', {}), ended);
      await mustPut(store, { write: 'boundary.told', id: row.id, toldAt: 6_000 });
      await mustLose(store, { write: 'boundary.told', id: row.id, toldAt: 7_000 });
      assert.deepEqual(await read(store, 'boundary.last', {}), { ...ended, toldAt: 6_000 });
      const next = boundaryRow({ id: idOf('boundary', 2), startedAt: 1 });
      await mustPut(store, { write: 'boundary.insert', row: next });
      assert.deepEqual(await read(store, 'boundary.last', {}), next);
    },
  ],
  [
    'a batch is the first unmarked open tasks by id, and every read of it sees the same ones',
    batch,
  ],
  [
    'messages of a batch are those that are neither done nor held',
    async ({ store }) => {
      await putTasks(store, [{}, {}, { enrollment: 'current' }, {}]);
      const at = (seq: number, task: number | null, over: Partial<MessageRecord> = {}): Write => ({
        write: 'message.insert',
        row: messageRow({ seq, taskId: task === null ? null : idOf('task', task), ...over }),
      });
      await mustPut(
        store,
        at(9, 1),
        at(1, 1, { state: 'claimed', turnId: idOf('turn', 1), claimedSeq: 2 }),
        at(2, 1, { state: 'done' }),
        at(3, 1, { state: 'held' }),
        at(4, 3),
        at(5, null),
        at(6, 2, { kind: 'generated' }),
        at(7, 4),
        at(8, 2, { conversationId: idOf('conversation', 2) }),
      );
      const found = async (limit: number): Promise<number[]> =>
        field(await read(store, 'boundary.messages', { limit }), 'seq');
      assert.deepEqual(await found(9), [1, 6, 7, 9]);
      assert.deepEqual(await found(2), [1, 6, 9]);
      assert.deepEqual(await found(1), [1, 9]);
    },
  ],
  ['turns, runs and workers of a batch are those without an end', open],
  ['workers without a mark come by id, with the tasks that they name', unowned],
  ['B-10 a run counts what each commit of it has marked, until it ends', counts],
  [
    'a unit of the boundary that marks its batch sees the next one after it',
    async ({ store }) => {
      await putTasks(store, [{}, {}, {}]);
      const marked: string[][] = [];
      for (let times = 0; times < 3; times += 1) marked.push(await markTwo(store));
      assert.deepEqual(marked, [ids(1, 2), ids(3), []]);
    },
  ],
  [
    'a generated input that was set aside is claimed and closed by nothing',
    async ({ store }) => {
      const id = idOf('message', 1);
      const row = messageRow({ kind: 'generated', taskId: idOf('task', 1) });
      await putTasks(store, [{ enrollment: 'current' }]);
      await mustPut(store, { write: 'message.insert', row });
      await mustPut(store, { write: 'message.hold', id });
      const held = { ...row, state: 'held' };
      const [taskId, turnId] = [idOf('task', 1), idOf('turn', 1)];
      await mustLose(store, { write: 'message.hold', id });
      await mustLose(store, { write: 'message.claim', id, taskId, turnId, claimedSeq: 3 });
      await mustLose(store, { write: 'message.done', id, answerId: null });
      await mustLose(store, { write: 'message.hold', id: idOf('message', 9) });
      assert.deepEqual(await read(store, 'message.byId', { id }), held);
      const { conversationId } = row;
      const all = { conversationId, generatedSince: 0, limit: 9 };
      assert.deepEqual(await read(store, 'message.claimable', all), []);
      assert.deepEqual(await read(store, 'message.openOfTask', { conversationId, taskId }), []);
    },
  ],
];

function ids(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('task', number));
}

/** Tasks 1, 2, 3 …, unmarked unless they say otherwise. */
async function putTasks(store: Store, rows: readonly Partial<TaskRecord>[]): Promise<void> {
  for (const [place, over] of rows.entries()) {
    const row = taskRow({ enrollment: 'unmarked', ...over, id: idOf('task', place + 1) });
    await mustPut(store, { write: 'task.insert', row });
  }
}

async function putExecutions(
  store: Store,
  rows: readonly Partial<ExecutionRecord>[],
): Promise<void> {
  for (const [place, over] of rows.entries()) {
    const row = executionRow({ ...over, id: idOf('execution', place + 1) });
    await mustPut(store, { write: 'execution.insert', row });
  }
}

type OfBatch = 'conversations' | 'turns' | 'runs' | 'workers' | 'unowned' | 'owners' | 'tasks';

async function idsOf(store: Store, what: OfBatch, limit: number): Promise<string[]> {
  const name = `boundary.${what}` as const;
  const rows: BoundaryReads[typeof name]['rows'] = await read(store, name, { limit });
  return rows.map(({ id }) => id);
}

async function batch({ store }: Opened): Promise<void> {
  for (const n of [1, 2, 3]) {
    const row = conversationRow({ id: idOf('conversation', n), address: `a${n}` });
    await mustPut(store, { write: 'conversation.insert', row });
  }
  const [second, third] = [idOf('conversation', 2), idOf('conversation', 3)];
  await putTasks(store, [
    { enrollment: 'current' },
    { conversationId: second },
    { state: 'stopped', endedAt: 5 },
    { conversationId: second, state: 'blocked' },
    { enrollment: 'held-legacy' },
    { conversationId: third },
    { conversationId: idOf('conversation', 9) },
    {},
  ]);
  assert.deepEqual(await idsOf(store, 'tasks', 9), ids(2, 4, 6, 7, 8));
  assert.deepEqual(await idsOf(store, 'tasks', 2), ids(2, 4));
  const all = [1, 2, 3].map((n) => idOf('conversation', n));
  assert.deepEqual(await idsOf(store, 'conversations', 9), all);
  assert.deepEqual(await idsOf(store, 'conversations', 2), [second]);
  assert.deepEqual(await idsOf(store, 'conversations', 3), [second, third]);
  const [row] = await read(store, 'boundary.conversations', { limit: 1 });
  assert.deepEqual(row, conversationRow({ id: second, address: 'a2' }));
}

async function open({ store }: Opened): Promise<void> {
  await putTasks(store, [{}, { enrollment: 'current' }, {}]);
  const turns = [{ task: 1 }, { task: 1, endedAt: 9 }, { task: 2 }, { task: 3 }, { task: 9 }];
  for (const [place, { task, endedAt = null }] of turns.entries()) {
    const of = { id: idOf('turn', 5 - place), taskId: idOf('task', task), endedAt };
    await mustPut(store, { write: 'turn.insert', row: turnRow(of) });
    const run = { id: idOf('run', 5 - place), taskId: idOf('task', task), endedAt };
    const state = endedAt === null ? 'open' : 'failed';
    await mustPut(store, { write: 'run.insert', row: runRow({ ...run, state }) });
  }
  await putExecutions(store, [
    { taskId: idOf('task', 3), enrollment: 'unmarked' },
    { taskId: idOf('task', 1) },
    { taskId: idOf('task', 1), state: 'failed', endedAt: 9 },
    { taskId: idOf('task', 2) },
    { taskId: null },
    { taskId: idOf('task', 1), enrollment: 'held-legacy', mandateHash: 'x' },
  ]);
  const turn = (...numbers: number[]): string[] => numbers.map((n) => idOf('turn', n));
  const run = (...numbers: number[]): string[] => numbers.map((n) => idOf('run', n));
  const worker = (...numbers: number[]): string[] => numbers.map((n) => idOf('execution', n));
  assert.deepEqual(await idsOf(store, 'turns', 9), turn(2, 5));
  assert.deepEqual(await idsOf(store, 'turns', 1), turn(5));
  assert.deepEqual(await idsOf(store, 'runs', 9), run(2, 5));
  assert.deepEqual(await idsOf(store, 'runs', 1), run(5));
  assert.deepEqual(await idsOf(store, 'workers', 9), worker(1, 2, 6));
  assert.deepEqual(await idsOf(store, 'workers', 1), worker(2, 6));
}

async function unowned({ store }: Opened): Promise<void> {
  await putTasks(store, [{}, { enrollment: 'current' }, { state: 'completed', endedAt: 5 }]);
  const unmarked = { enrollment: 'unmarked' } as const;
  await putExecutions(store, [
    { ...unmarked, taskId: null, mandateHash: null, conversationId: null },
    { taskId: idOf('task', 1) },
    { ...unmarked, taskId: idOf('task', 3) },
    { ...unmarked, taskId: idOf('task', 1), state: 'completed', endedAt: 5 },
    { ...unmarked, taskId: idOf('task', 9) },
    { ...unmarked, taskId: idOf('task', 2) },
    { ...unmarked, taskId: idOf('task', 2), enrollment: 'held-legacy' },
  ]);
  const worker = (...numbers: number[]): string[] => numbers.map((n) => idOf('execution', n));
  assert.deepEqual(await idsOf(store, 'unowned', 9), worker(1, 3, 5, 6));
  assert.deepEqual(await idsOf(store, 'unowned', 2), worker(1, 3));
  assert.deepEqual(await idsOf(store, 'owners', 9), ids(2, 3), 'ended and current ones too');
  assert.deepEqual(await idsOf(store, 'owners', 2), ids(3));
  assert.deepEqual(await idsOf(store, 'owners', 1), []);
}

async function counts({ store }: Opened): Promise<void> {
  const row = boundaryRow();
  const { id } = row;
  const add = (held: number, kept: number, workersHeld: number): Write => ({
    write: 'boundary.add',
    id,
    held,
    kept,
    workersHeld,
  });
  await mustLose(store, add(1, 1, 1));
  await mustPut(store, { write: 'boundary.insert', row });
  await mustPut(store, add(190, 3, 0), add(7, 0, 0));
  await mustPut(store, add(0, 0, 6));
  const counted = { ...row, held: 197, kept: 3, workersHeld: 6 };
  assert.deepEqual(await read(store, 'boundary.last', {}), counted);
  await mustPut(store, { write: 'boundary.end', id, endedAt: 5_000 });
  await mustLose(store, add(1, 0, 0));
  assert.deepEqual(await read(store, 'boundary.last', {}), { ...counted, endedAt: 5_000 });
}

/** Marks the first two of what is unmarked, and gives their ids. */
async function markTwo(store: Store): Promise<string[]> {
  const args = { limit: 2 };
  const done = await store.commit({
    name: 'test.mark',
    reads: {
      conversations: { read: 'boundary.conversations', args },
      tasks: { read: 'boundary.tasks', args },
    },
    decide: ({ tasks }) => ({
      verdict: tasks.map(({ id }) => id),
      writes: tasks.map((task) => ({
        write: 'task.save',
        row: { ...task, enrollment: 'held-legacy', version: task.version + 1 },
      })),
    }),
  });
  assert.ok(done.kind === 'done');
  return [...done.verdict];
}
