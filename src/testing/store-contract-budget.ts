import assert from 'node:assert/strict';
import type { StepRecord } from '../core/turn/record.ts';
import type { Store } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { idOf, limiterRow, stepRow, taskRow } from './store-rows.ts';

/** The limiters of accounts, and what was used. */
export const BUDGET_CASES: readonly Case[] = [
  [
    'an account has one limiter, saved only over the version that was read',
    async ({ store }) => {
      const row = limiterRow();
      const { account } = row;
      assert.equal(await read(store, 'limiter.byAccount', { account }), undefined);
      await mustPut(store, { write: 'limiter.insert', row });
      await mustLose(store, { write: 'limiter.insert', row: limiterRow({ state: 'open' }) });
      assert.deepEqual(await read(store, 'limiter.byAccount', { account }), row);
      const next = limiterRow({
        state: 'down',
        until: null,
        isNamed: 'no',
        failures: 2,
        code: 'connect',
        probeUntil: 70_000,
        version: 2,
        since: 4_000,
      });
      await mustPut(store, { write: 'limiter.save', row: next });
      await mustLose(store, { write: 'limiter.save', row: next });
      await mustLose(store, { write: 'limiter.save', row: limiterRow({ version: 4 }) });
      const unknown = limiterRow({ account: 'other', version: 2 });
      await mustLose(store, { write: 'limiter.save', row: unknown });
      assert.deepEqual(await read(store, 'limiter.byAccount', { account }), next);
    },
  ],
  [
    'limiters are listed by their accounts',
    async ({ store }) => {
      for (const account of ['b', 'a', 'C']) {
        await mustPut(store, { write: 'limiter.insert', row: limiterRow({ account }) });
      }
      const accounts = async (limit: number): Promise<string[]> =>
        field(await read(store, 'limiter.list', { limit }), 'account');
      assert.deepEqual(await accounts(9), ['C', 'a', 'b']);
      assert.deepEqual(await accounts(2), ['C', 'a']);
    },
  ],
  [
    'what a range of turns used is summed by provider and model, and no other turn counts',
    usedByModel,
  ],
  ['the tasks that used most in a range of turns come first', usedByTask],
];

/** Model calls of turns 1 to 4, one or two each, and a tool that used nothing. */
async function putCalls(store: Store): Promise<void> {
  const big = { provider: 'p', model: 'big', cost: null } as const;
  const small = { provider: 'p', model: 'small', cost: 5 } as const;
  const calls: [turn: number, task: number, seq: number, over: Partial<StepRecord>][] = [
    [1, 1, 3, { ...small, inputTokens: 1_000, outputTokens: 1_000 }],
    [2, 1, 10, { ...small, inputTokens: 10, outputTokens: 1 }],
    [2, 1, 11, { kind: 'tool' }],
    [2, 1, 12, { ...small, inputTokens: 20, outputTokens: 2 }],
    [3, 2, 20, { ...big, inputTokens: 40, outputTokens: 4 }],
    [3, 2, 21, { state: 'cut' }],
    [4, 3, 30, { ...small, inputTokens: 7_000, outputTokens: 7_000 }],
  ];
  for (const [turn, task, seq, over] of calls) {
    const of = { turnId: idOf('turn', turn), taskId: idOf('task', task), seq } as const;
    const row = stepRow({ kind: 'model', state: 'finished', ...of, ...over });
    await mustPut(store, { write: 'step.insert', row });
  }
}

const RANGE = { from: idOf('turn', 2), to: idOf('turn', 4) };

async function usedByModel({ store }: Opened): Promise<void> {
  await putCalls(store);
  const rows = await read(store, 'usage.ofRange', RANGE);
  const none = { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 };
  assert.deepEqual(rows, [
    { provider: null, model: null, ...none, calls: 1 },
    {
      provider: 'p',
      model: 'big',
      inputTokens: 40,
      outputTokens: 4,
      cost: 0,
      calls: 1,
      unpriced: 1,
    },
    {
      provider: 'p',
      model: 'small',
      inputTokens: 30,
      outputTokens: 3,
      cost: 10,
      calls: 2,
      unpriced: 0,
    },
  ]);
  const nothing = await read(store, 'usage.ofRange', { from: RANGE.to, to: RANGE.to });
  assert.deepEqual(nothing, []);
}

async function usedByTask({ store }: Opened): Promise<void> {
  await putCalls(store);
  for (const n of [1, 2, 3]) {
    const row = taskRow({ id: idOf('task', n), mandateText: `Task ${n}` });
    await mustPut(store, { write: 'task.insert', row });
  }
  const conversationId = idOf('conversation', 1);
  const second = {
    taskId: idOf('task', 2),
    conversationId,
    mandateText: 'Task 2',
    inputTokens: 40,
    outputTokens: 4,
    cost: 0,
    calls: 2,
    unpriced: 1,
  };
  const first = {
    ...second,
    taskId: idOf('task', 1),
    mandateText: 'Task 1',
    inputTokens: 30,
    outputTokens: 3,
    cost: 10,
    unpriced: 0,
  };
  assert.deepEqual(await read(store, 'usage.byTask', { ...RANGE, limit: 9 }), [second, first]);
  assert.deepEqual(await read(store, 'usage.byTask', { ...RANGE, limit: 1 }), [second]);
  const later = { from: RANGE.to, to: '~', limit: 9 };
  assert.deepEqual(field(await read(store, 'usage.byTask', later), 'taskId'), [idOf('task', 3)]);
}
