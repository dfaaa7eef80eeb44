import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { DAY, HOUR } from '../../kernel/time.ts';
import { WAIT_KINDS } from './moves.ts';
import { judgeDue, judgeReturn, type Absence } from './wait.ts';

const NOW = 1_800_000_000_000;
type Due = Parameters<typeof judgeReturn>[0];

function task(given: Partial<Due> = {}): Due {
  return {
    state: 'waiting',
    reason: null,
    orderAt: null,
    enrollment: 'current',
    waitKind: 'instant',
    waitId: null,
    waitUntil: NOW,
    deadline: null,
    changedAt: NOW - HOUR,
    endedAt: null,
    ...given,
  };
}

describe('what came due', () => {
  test('T-6 only what the task itself waits for wakes it; a window that runs out blocks', () => {
    const verdicts = WAIT_KINDS.map((waitKind) => judgeDue(task({ waitKind }), NOW, null));
    assert.deepEqual(Object.fromEntries(WAIT_KINDS.map((kind, index) => [kind, verdicts[index]])), {
      instant: 'wake',
      worker: 'block',
      answer: 'block',
      approval: 'block',
      quota: 'wake',
      provider: 'leave',
      assessment: 'leave',
    });
    assert.equal(judgeDue(task({ waitKind: null }), NOW, null), 'block', 'of another version');
  });

  test('is not due a moment before, nor without a window', () => {
    assert.equal(judgeDue(task(), NOW - 1, null), 'leave');
    assert.equal(judgeDue(task({ waitUntil: null }), NOW, null), 'leave');
    for (const state of ['active', 'paused', 'blocked'] as const)
      assert.equal(judgeDue(task({ state }), NOW, null), 'leave');
  });

  test('T-7 a deadline ends it in whatever state it is, but not what has ended or is held', () => {
    for (const state of ['active', 'waiting', 'paused', 'blocked'] as const) {
      assert.equal(judgeDue(task({ state, deadline: NOW }), NOW, null), 'expire');
      assert.equal(
        judgeDue(task({ state, deadline: NOW + 1, waitUntil: null }), NOW, null),
        'leave',
      );
    }
    assert.equal(judgeDue(task({ deadline: NOW, endedAt: NOW - 1 }), NOW, null), 'leave');
    assert.equal(judgeDue(task({ deadline: NOW, enrollment: 'held-legacy' }), NOW, null), 'leave');
  });
});

describe('a wait that was interrupted', () => {
  const start = NOW - 10;
  const clean: Absence = { from: NOW - 100, until: start };
  const unclean: Absence = { from: null, until: start };
  const before = { changedAt: NOW - HOUR };

  test('R-1 became due while no host ran, or stood at the start after an unclean stop', () => {
    const due = (waitUntil: number, absence: Absence): string =>
      judgeDue(task({ ...before, waitUntil }), NOW, absence);
    assert.equal(due(NOW - 100, clean), 'wake', 'it was due before the stop');
    assert.equal(due(NOW - 99, clean), 'interrupt');
    assert.equal(due(start, clean), 'interrupt');
    assert.equal(due(start + 1, clean), 'wake', 'this host ran');
    for (const waitUntil of [NOW - HOUR, start, NOW])
      assert.equal(due(waitUntil, unclean), 'interrupt');
    assert.equal(due(start, null), 'wake', 'no host was there before');
  });

  test('R-1 is never one that this start has seen begin, nor one that a person ends', () => {
    const begun = { changedAt: start };
    assert.equal(judgeDue(task({ ...begun, waitUntil: NOW }), NOW, unclean), 'wake');
    for (const waitKind of ['answer', 'approval'] as const)
      assert.equal(judgeDue(task({ ...before, waitKind }), NOW, unclean), 'block');
  });

  test('R-1 is one for a provider too', () => {
    const waits = task({ ...before, waitKind: 'provider', waitId: 'here', waitUntil: null });
    const limiter = { account: 'here', state: 'open' } as const;
    assert.equal(judgeReturn(waits, limiter, { now: NOW, absence: unclean }), 'interrupt');
    assert.equal(judgeReturn(waits, limiter, { now: NOW, absence: clean }), 'wake');
  });
});

describe('a task that waits for its provider', () => {
  const waits = task({ waitKind: 'provider', waitId: 'here', waitUntil: null });
  const at = { now: NOW, absence: null };

  test('T-18 returns unless the account is unreachable', () => {
    for (const state of ['open', 'limited', 'refused'] as const)
      assert.equal(judgeReturn(waits, { account: 'here', state }, at), 'wake');
    assert.equal(judgeReturn(waits, { account: 'here', state: 'down' }, at), 'leave');
    assert.equal(judgeReturn(waits, { account: 'there', state: 'open' }, at), 'leave');
    const limiter = { account: 'here', state: 'open' } as const;
    assert.equal(judgeReturn({ ...waits, state: 'paused' }, limiter, at), 'leave');
    assert.equal(judgeReturn({ ...waits, waitKind: 'quota' }, limiter, at), 'leave');
  });

  test('ends at its deadline all the same', () => {
    const limiter = { account: 'here', state: 'open' } as const;
    assert.equal(judgeReturn({ ...waits, deadline: NOW }, limiter, at), 'expire');
  });
});

describe('an order with its own time', () => {
  const ordered = task({ waitUntil: NOW, orderAt: NOW });

  test('T-15 is carried out within its grace and blocked after it', () => {
    assert.equal(judgeDue(ordered, NOW, null), 'wake');
    assert.equal(judgeDue(ordered, NOW + LIMITS.orderGraceMs, null), 'wake');
    assert.equal(judgeDue(ordered, NOW + LIMITS.orderGraceMs + 1, null), 'late');
    assert.equal(judgeDue({ ...ordered, orderAt: null }, NOW + DAY, null), 'wake', 'a mere pause');
  });

  test('T-15 is late rather than assessed when no host ran for long', () => {
    const absence = { until: NOW + DAY, from: NOW - HOUR };
    assert.equal(judgeDue(ordered, NOW + DAY, absence), 'late');
    const deadline = NOW + DAY;
    assert.equal(judgeDue({ ...ordered, deadline }, NOW + DAY, absence), 'expire');
  });
});

describe('an assessment that waits for its provider', () => {
  const waits = task({ reason: 'interrupted', waitKind: 'provider', waitId: 'here' });
  const at = { now: NOW, absence: { until: NOW, from: null } };

  test('R-15 is told of once its window is over, and goes on waiting', () => {
    assert.equal(judgeDue(waits, NOW - 1, null), 'leave');
    assert.equal(judgeDue(waits, NOW, null), 'tell');
    assert.equal(judgeDue({ ...waits, waitUntil: null }, NOW + DAY, null), 'leave');
    assert.equal(judgeDue({ ...waits, deadline: NOW }, NOW, null), 'expire');
  });

  test('R-15 is made when the provider returns, whatever host waited', () => {
    for (const state of ['open', 'limited'] as const)
      assert.equal(judgeReturn(waits, { account: 'here', state }, at), 'reassess');
    assert.equal(judgeReturn(waits, { account: 'here', state: 'down' }, at), 'leave');
  });
});
