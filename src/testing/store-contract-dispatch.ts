import assert from 'node:assert/strict';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { DispatchReads } from '../ports/dispatch.ts';
import type { Store } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { ABOVE_ALL, executionRow, idOf } from './store-rows.ts';

type ListArgs = DispatchReads['execution.list']['args'];

/** The records of workers. */
export const DISPATCH_CASES: readonly Case[] = [
  [
    'an execution is kept whole, and saved only over the version that was read',
    async ({ store }) => {
      const row = executionRow({ deadline: 9_000 });
      await mustPut(store, { write: 'execution.insert', row });
      await mustLose(store, { write: 'execution.insert', row });
      assert.deepEqual(await read(store, 'execution.byId', { id: row.id }), row);
      assert.equal(await read(store, 'execution.byId', { id: idOf('execution', 9) }), undefined);
      const end = {
        enrollment: 'held-legacy',
        state: 'failed',
        version: 2,
        hostId: idOf('host', 1),
        outcome: 'It broke.',
        changedAt: 5_000,
        endedAt: 5_000,
      } as const;
      const other = { taskId: null, mandateHash: null, conversationId: null, job: 'x' } as const;
      const touched = { ...row, ...other, deadline: 1, createdAt: 1, ...end };
      await mustPut(store, { write: 'execution.save', row: touched });
      await mustLose(store, { write: 'execution.save', row: touched });
      await mustLose(store, { write: 'execution.save', row: { ...touched, version: 4 } });
      const unknown = { ...touched, id: idOf('execution', 9) };
      await mustLose(store, { write: 'execution.save', row: unknown });
      const kept = { ...row, ...end };
      assert.deepEqual(await read(store, 'execution.byId', { id: row.id }), kept);
    },
  ],
  [
    'one of unknown ownership is kept as that',
    async ({ store }) => {
      const row = executionRow({ taskId: null, mandateHash: null, conversationId: null });
      await mustPut(store, { write: 'execution.insert', row });
      assert.deepEqual(await read(store, 'execution.byId', { id: row.id }), row);
    },
  ],
  ['executions are listed from the newest by state and enrollment, page by page', lists],
  [
    'executions of a task come from the newest, ended ones too',
    async ({ store }) => {
      await putExecutions(store);
      const of = async (task: number, limit = 9): Promise<string[]> =>
        field(await read(store, 'execution.ofTask', { taskId: idOf('task', task), limit }), 'id');
      assert.deepEqual(await of(1), ids(7, 6, 4, 3, 2, 1));
      assert.deepEqual(await of(1, 2), ids(7, 6));
      assert.deepEqual(await of(2), ids(8));
      assert.deepEqual(await of(3), []);
    },
  ],
  [
    'what says that it runs is found unless this host runs it',
    async ({ store }) => {
      await putExecutions(store);
      const elsewhere = async (host: number, limit = 9): Promise<string[]> => {
        const args = { except: idOf('host', host), limit };
        return field(await read(store, 'execution.runningElsewhere', args), 'id');
      };
      assert.deepEqual(await elsewhere(1), ids(4, 8));
      assert.deepEqual(await elsewhere(1, 1), ids(4));
      assert.deepEqual(await elsewhere(2), ids(2, 4));
      const row = executionRow({ id: idOf('execution', 4), state: 'retrying', version: 2 });
      await mustPut(store, { write: 'execution.save', row });
      assert.deepEqual(await elsewhere(1), ids(8));
    },
  ],
];

function ids(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('execution', number));
}

async function putExecutions(store: Store): Promise<void> {
  const ended = { state: 'completed', endedAt: 5_000 } as const;
  const rows: Partial<ExecutionRecord>[] = [
    {},
    { state: 'running', hostId: idOf('host', 1) },
    ended,
    { state: 'running', hostId: null },
    { taskId: null, enrollment: 'held-legacy' },
    { state: 'running', hostId: idOf('host', 2), enrollment: 'held-legacy' },
    { ...ended, enrollment: 'unmarked' },
    { state: 'running', hostId: idOf('host', 2), taskId: idOf('task', 2) },
  ];
  for (const [place, over] of rows.entries()) {
    const row = executionRow({ ...over, id: idOf('execution', place + 1) });
    await mustPut(store, { write: 'execution.insert', row });
  }
}

async function lists({ store }: Opened): Promise<void> {
  await putExecutions(store);
  const list = async (over: Partial<ListArgs>): Promise<string[]> => {
    const args = { state: '', enrollment: '', before: ABOVE_ALL, limit: 9, ...over };
    return field(await read(store, 'execution.list', args), 'id');
  };
  assert.deepEqual(await list({}), ids(8, 7, 6, 5, 4, 3, 2, 1));
  assert.deepEqual(await list({ limit: 2 }), ids(8, 7));
  assert.deepEqual(await list({ before: idOf('execution', 3) }), ids(2, 1));
  assert.deepEqual(await list({ state: 'running' }), ids(8, 6, 4, 2));
  assert.deepEqual(
    await list({ state: 'running', before: idOf('execution', 8), limit: 2 }),
    ids(6, 4),
  );
  assert.deepEqual(await list({ state: 'completed' }), ids(7, 3));
  assert.deepEqual(await list({ state: 'failed' }), []);
  assert.deepEqual(await list({ enrollment: 'current' }), ids(8, 4, 3, 2, 1));
  assert.deepEqual(await list({ enrollment: 'held-legacy' }), ids(6, 5));
  assert.deepEqual(await list({ enrollment: 'held-legacy', before: idOf('execution', 6) }), ids(5));
  assert.deepEqual(await list({ enrollment: 'unmarked' }), ids(7));
  assert.deepEqual(await list({ enrollment: 'held-legacy', state: 'running' }), ids(6));
  assert.deepEqual(await list({ enrollment: 'current', state: 'completed' }), ids(3));
}
