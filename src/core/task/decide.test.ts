import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { InvariantBroken } from '../../kernel/invariant.ts';
import {
  countSpent,
  countTurn,
  grantOf,
  isOwn,
  judgeOrder,
  mayOrder,
  moveTask,
  openTask,
} from './decide.ts';
import { hasEnded, mayMove, TASK_MOVES, type TaskState } from './moves.ts';
import type { TaskRecord } from './record.ts';

const NOW = 1_800_000_000_000;
const BOUNDS = {
  deadlineMs: 60_000,
  turns: 5,
  tokens: 100,
  costMicroUsd: 200,
  continuations: 3,
};

function task(change: Partial<TaskRecord> = {}): TaskRecord {
  const opened = openTask(
    { id: 'task_1', conversationId: 'conv_1', sessionId: 'sess_1', agent: 'main' },
    {
      mandateText: 'count the files',
      mandatePrincipal: 'key:anna',
      mandateAuthority: 'own',
      mandateOrigin: 'api',
      mandateAt: NOW,
      mandateHash: 'h',
    },
    BOUNDS,
    NOW,
  );
  return { ...opened, ...change };
}

const STATES = Object.keys(TASK_MOVES) as TaskState[];
const anyState = fc.constantFrom(...STATES);

describe('openTask', () => {
  test('a new task is active and current, at version 1, with nothing spent', () => {
    const opened = task();
    assert.deepEqual(
      [opened.state, opened.enrollment, opened.version, opened.reason, opened.waitKind],
      ['active', 'current', 1, null, null],
    );
    assert.deepEqual(
      [opened.turnsUsed, opened.tokensUsed, opened.costUsed, opened.correctionsUsed],
      [0, 0, 0, 0],
    );
    assert.equal(opened.deadline, NOW + 60_000);
  });

  test('R-3 it starts its first epoch of recovery, and nothing of it is used', () => {
    const { recoveryState, recoveryEpoch, recoveryAttempts, recoveryLifetimeAttempts } = task();
    assert.deepEqual(
      [recoveryState, recoveryEpoch, recoveryAttempts, recoveryLifetimeAttempts],
      ['none', 1, 0, 0],
    );
  });

  test('without a deadline it has none', () => {
    const { conversationId, sessionId, agent, id, ...rest } = task();
    const opened = openTask(
      { id, conversationId, sessionId, agent },
      rest,
      { ...BOUNDS, deadlineMs: null },
      1,
    );
    assert.equal(opened.deadline, null);
  });

  test('V17 its grant is what its replay begins with', () => {
    const { enrollment, deadline, turnsLimit, tokensLimit, costLimit, continuationsLimit } = task();
    const grant = { enrollment, deadline, turnsLimit, tokensLimit, costLimit, continuationsLimit };
    assert.deepEqual(grantOf(task()), grant);
  });
});

describe('when a task is looked at though nothing arrives', () => {
  const dueOf = (to: TaskState, until: number | null, deadline: number | null) => {
    const wait = { kind: 'instant', id: null, until } as const;
    const from = to === 'active' ? 'waiting' : 'active';
    return moveTask(task({ state: from, deadline }), { to, reason: null, now: NOW, wait }).dueAt;
  };

  test('T-6 T-7 the earlier of its wait and its deadline; never while it is active or has ended', () => {
    assert.equal(dueOf('waiting', NOW + 5, NOW + 9), NOW + 5);
    assert.equal(dueOf('waiting', NOW + 9, NOW + 5), NOW + 5);
    assert.equal(dueOf('waiting', null, NOW + 5), NOW + 5);
    assert.equal(dueOf('waiting', NOW + 5, null), NOW + 5);
    assert.equal(dueOf('blocked', null, NOW + 5), NOW + 5);
    assert.equal(dueOf('paused', null, null), null);
    assert.equal(dueOf('active', NOW + 5, NOW + 5), null);
    assert.equal(dueOf('completed', null, NOW + 5), null);
  });
});

describe('moveTask', () => {
  test('V18 T-4 it makes each move of the table, no other, and raises the version by one', () => {
    fc.assert(
      fc.property(anyState, anyState, fc.integer({ min: 1 }), (from, to, version) => {
        const before = task({ state: from, version });
        const move = { to, reason: null, now: NOW + 1 } as const;
        if (!mayMove(from, to)) {
          assert.throws(() => moveTask(before, move), InvariantBroken);
          assert.throws(() => moveTask(before, move), new RegExp(`${from} task .* becomes ${to}`));
          return;
        }
        const after = moveTask(before, move);
        assert.equal(after.state, to);
        assert.equal(after.version, version + 1);
        assert.equal(after.endedAt, hasEnded(to) ? NOW + 1 : null);
        assert.equal(hasEnded(from), false);
      }),
    );
  });

  test('T-5 it never changes the mandate, the counts or what the task belongs to', () => {
    const before = task({ turnsUsed: 2, tokensUsed: 3 });
    const after = moveTask(before, { to: 'failed', reason: 'model_refused', now: NOW });
    const { state, reason, version, changedAt, endedAt, ...same } = after;
    assert.deepEqual({ ...before, ...same }, before);
    assert.deepEqual([state, reason, version], ['failed', 'model_refused', 2]);
    assert.deepEqual([changedAt, endedAt], [NOW, NOW]);
  });

  test('a wait names what it waits for and goes with the next move', () => {
    const wait = { kind: 'assessment', id: 'x', until: NOW + 5 } as const;
    const data = JSON.stringify({ tools: [] });
    const order = { to: 'waiting', reason: 'interrupted', now: NOW } as const;
    const waiting = moveTask(task(), { ...order, wait, outcomeData: data });
    assert.deepEqual(
      [waiting.waitKind, waiting.waitId, waiting.waitUntil, waiting.outcomeData],
      ['assessment', 'x', NOW + 5, data],
    );
    const again = moveTask(waiting, { to: 'active', reason: null, now: NOW });
    assert.deepEqual(
      [again.waitKind, again.waitId, again.waitUntil, again.outcomeData],
      [null, null, null, null],
    );
  });
});

describe('judgeOrder', () => {
  test('T-4 an order is refused by its version, then by the end, then by the table', () => {
    const stale = judgeOrder(task({ version: 3 }), 'stopped', 2);
    const known = { id: 'task_1', state: 'active' };
    assert.deepEqual(
      [stale?.code, stale?.detail],
      ['version_conflict', { ...known, version: '3' }],
    );
    const ended = judgeOrder(task({ state: 'failed' }), 'stopped', 1);
    assert.deepEqual([ended?.code, ended?.detail], ['task_ended', { ...known, state: 'failed' }]);
    assert.equal(
      judgeOrder(task({ state: 'paused' }), 'failed', undefined)?.code,
      'not_allowed_now',
    );
    assert.equal(judgeOrder(task(), 'stopped', 1), undefined);
  });

  test('T-4 what it allows is what moveTask makes', () => {
    fc.assert(
      fc.property(anyState, anyState, (from, to) => {
        const allowed = judgeOrder(task({ state: from }), to, undefined) === undefined;
        assert.equal(allowed, mayMove(from, to));
      }),
    );
  });

  test('every state that has not ended can be stopped', () => {
    for (const state of STATES)
      assert.equal(
        judgeOrder(task({ state }), 'stopped', undefined) === undefined,
        !hasEnded(state),
      );
  });
});

describe('counts', () => {
  test('T-8 a turn is counted when it is claimed; a person ends the row of corrections', () => {
    const before = task({ correctionsUsed: 1 });
    const byHost = countTurn(before, 'host', NOW + 1);
    const byPerson = countTurn(before, 'person', NOW + 1);
    assert.deepEqual([byHost.turnsUsed, byHost.version, byHost.correctionsUsed], [1, 2, 1]);
    assert.deepEqual([byPerson.turnsUsed, byPerson.correctionsUsed], [1, 0]);
    assert.equal(byHost.changedAt, NOW + 1);
  });

  test('T-7 a person ends the row of continuations; the host goes on counting it', () => {
    const before = task({ continuationsUsed: 2 });
    for (const [by, used] of [
      ['person', 0],
      ['host', 2],
      ['return', 2],
    ] as const)
      assert.equal(countTurn(before, by, NOW).continuationsUsed, used);
  });

  test('T-12 a parked turn that goes on is none more, and the version is another', () => {
    const { turnsUsed, version } = countTurn(task({ turnsUsed: 4 }), 'return', NOW);
    assert.deepEqual([turnsUsed, version], [4, 2]);
  });

  test('what was spent only grows, and counting alone is no version', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (tokens, cost) => {
        const after = countSpent(task({ tokensUsed: 7, costUsed: 8 }), { tokens, cost });
        assert.deepEqual(
          [after.tokensUsed, after.costUsed, after.version],
          [7 + tokens, 8 + cost, 1],
        );
      }),
    );
  });
});

describe('authority', () => {
  test('W-1 only its own principal or an admin gives orders about a task', () => {
    const anna = { kind: 'key', id: 'anna', isAdmin: false } as const;
    const ben = { kind: 'key', id: 'ben', isAdmin: false } as const;
    const member = { kind: 'member', id: 'anna', isAdmin: false } as const;
    assert.equal(isOwn(task(), 'key:anna'), true);
    assert.deepEqual(
      [anna, ben, member, { ...ben, isAdmin: true }].map((one) => mayOrder(task(), one)),
      [true, false, false, true],
    );
  });
});
