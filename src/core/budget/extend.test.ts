import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR } from '../../kernel/time.ts';
import { moveTask, openTask } from '../task/decide.ts';
import { hasEnded, TASK_ENDS } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import { boundsOfTask, extendTask, type Grant } from './extend.ts';

const NOW = 1_800_000_000_000;

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
    { deadlineMs: DAY, turns: 5, tokens: 100, costMicroUsd: 200, continuations: 3 },
    NOW,
  );
  return { ...opened, ...change };
}

function outOf(detail: string, change: Partial<TaskRecord>): TaskRecord {
  const outcomeData = JSON.stringify({ detail });
  const move = { to: 'blocked', reason: 'budget_exhausted', now: NOW, outcomeData } as const;
  return moveTask(task(change), move);
}

function granted(from: TaskRecord, grant: Grant, now = NOW): TaskRecord {
  const verdict = extendTask(from, { grant }, now);
  if ('kind' in verdict) assert.fail(verdict.code);
  return verdict;
}

function refusal(from: TaskRecord, grant: Grant, now = NOW): unknown {
  const verdict = extendTask(from, { grant }, now);
  return 'kind' in verdict ? [verdict.code, verdict.detail['detail'], verdict.detail['way']] : 'no';
}

describe('a task that is not blocked by a budget', () => {
  test('gets further turns, tokens, money and continuations, and stays as it stands', () => {
    const grant = { turns: 2, tokens: 50, costMicroUsd: 300, continuations: 4 };
    const after = granted(task(), grant);
    assert.deepEqual(boundsOfTask(after), {
      turnsLimit: 7,
      tokensLimit: 150,
      costLimit: 500,
      continuationsLimit: 7,
      deadline: NOW + DAY,
    });
    assert.deepEqual([after.state, after.version], ['active', 2]);
  });

  test('keeps what it used, its mandate and what it waits for', () => {
    const wait = { kind: 'answer', id: null, until: NOW + HOUR, question: 'Which?' } as const;
    const waiting = moveTask(task({ turnsUsed: 3 }), {
      to: 'waiting',
      reason: 'awaits_answer',
      now: NOW,
      wait,
    });
    const after = granted(waiting, { deadline: { addMs: DAY } });
    const { deadline, version, changedAt, ...rest } = after;
    const { deadline: was, version: before, changedAt: then, ...same } = waiting;
    assert.deepEqual(rest, same);
    assert.deepEqual(
      [deadline, version, changedAt],
      [was === null ? 0 : was + DAY, before + 1, then],
    );
  });

  test('comes due by its new deadline, but not after the end of its wait', () => {
    const blocked = moveTask(task(), { to: 'blocked', reason: 'no_outcome', now: NOW });
    assert.equal(blocked.dueAt, NOW + DAY);
    assert.equal(granted(blocked, { deadline: { addMs: DAY } }).dueAt, NOW + 2 * DAY);
    const wait = { kind: 'answer', id: null, until: NOW + HOUR } as const;
    const waiting = moveTask(task(), { to: 'waiting', reason: 'awaits_answer', now: NOW, wait });
    assert.equal(granted(waiting, { deadline: { addMs: DAY } }).dueAt, NOW + HOUR);
    assert.equal(granted(task(), { deadline: { addMs: DAY } }).dueAt, null);
  });
});

test('a deadline is an instant, or is added to the old one, or to now where there is none', () => {
  assert.equal(granted(task(), { deadline: { at: NOW + HOUR } }).deadline, NOW + HOUR);
  assert.equal(
    granted(task(), { deadline: { addMs: HOUR } }, NOW + HOUR).deadline,
    NOW + DAY + HOUR,
  );
  const none = task({ deadline: null });
  assert.equal(granted(none, { deadline: { addMs: HOUR } }, NOW + HOUR).deadline, NOW + 2 * HOUR);
});

test('a deadline that is past already is refused whole', () => {
  const past = refusal(task(), { turns: 5, deadline: { at: NOW } });
  assert.deepEqual(past, ['still_exhausted', 'deadline', '/extend task_1 deadline=+1d']);
  const late = refusal(task(), { deadline: { addMs: HOUR } }, NOW + 2 * DAY);
  assert.deepEqual(late, ['still_exhausted', 'deadline', '/extend task_1 deadline=+1d']);
});

test('T-4 V9 an order about another version, of what has ended or of history changes nothing', () => {
  const judged = (change: Partial<TaskRecord>, expectedVersion?: number): unknown => {
    const verdict = extendTask(task(change), { grant: { turns: 1 }, expectedVersion }, NOW);
    return 'kind' in verdict ? [verdict.code, verdict.detail] : verdict.turnsLimit;
  };
  const known = { id: 'task_1', state: 'active' };
  assert.equal(judged({ version: 3 }, 3), 6);
  assert.deepEqual(judged({ version: 3 }, 2), ['version_conflict', { ...known, version: '3' }]);
  assert.deepEqual(judged({ state: 'failed' }), ['task_ended', { ...known, state: 'failed' }]);
  const held = { enrollment: 'held-legacy', state: 'blocked' } as const;
  assert.deepEqual(judged(held), [
    'not_allowed_now',
    { id: 'task_1', state: 'blocked', way: '/task-resume task_1' },
  ]);
});

test('R-1 what is at work changes now, what stands still has stood since then', () => {
  assert.equal(granted(task(), { turns: 1 }, NOW + HOUR).changedAt, NOW + HOUR);
  const paused = task({ state: 'paused', reason: 'budget_exhausted' });
  const after = granted(paused, { turns: 1 }, NOW + HOUR);
  assert.deepEqual([after.changedAt, after.state], [NOW, 'paused']);
});

test('T-7 a deadline that has passed forbids no grant of anything else: its own end is the next', () => {
  assert.equal(granted(task(), { turns: 1 }, NOW + 2 * DAY).turnsLimit, 6);
});

describe('W-7 a task that a budget blocked', () => {
  const used = { turnsUsed: 5, tokensUsed: 130, costUsed: 200, continuationsUsed: 3 };
  const CASES = [
    ['turns', { turnsUsed: 5 }, { turns: 1 }, { tokens: 9 }],
    ['tokens', { tokensUsed: 130 }, { tokens: 31 }, { tokens: 30 }],
    ['costUsd', { costUsed: 200 }, { costMicroUsd: 1 }, { turns: 9 }],
    ['continuations', { continuationsUsed: 3 }, { continuations: 1 }, { turns: 9 }],
  ] as const;
  for (const [detail, change, enough, less] of CASES) {
    test(`goes on when ${detail} are enough, and less changes nothing`, () => {
      const blocked = outOf(detail, change);
      const after = granted(blocked, enough);
      assert.deepEqual([after.state, after.reason, after.version], ['active', null, 3]);
      assert.deepEqual([after.outcomeData, after.dueAt], [null, null]);
      const [code, named] = refusal(blocked, less) as readonly string[];
      assert.deepEqual([code, named], ['still_exhausted', detail]);
    });
  }

  test('is told what the least is that lets it go on', () => {
    assert.deepEqual(refusal(outOf('tokens', { tokensUsed: 130 }), { tokens: 10 }), [
      'still_exhausted',
      'tokens',
      '/extend task_1 tokens=+110',
    ]);
  });

  test('goes on only when no other budget stops its next turn', () => {
    const blocked = outOf('tokens', { tokensUsed: 130, turnsUsed: 5 });
    const [, detail] = refusal(blocked, { tokens: 100 }) as readonly string[];
    assert.equal(detail, 'turns');
    assert.equal(granted(blocked, { tokens: 100, turns: 1 }).state, 'active');
  });

  test('with all budgets at their limit needs no further continuation to answer', () => {
    const blocked = outOf('turns', used);
    const grant = { turns: 1, tokens: 100, costMicroUsd: 10 };
    assert.equal(granted(blocked, grant).state, 'active');
  });

  test('stays blocked by another reason', () => {
    const blocked = moveTask(task(), { to: 'blocked', reason: 'no_outcome', now: NOW });
    assert.equal(granted(blocked, { turns: 5 }).state, 'blocked');
  });
});

test('R-1 a wait that is granted more began when it began', () => {
  const wait = { kind: 'quota', id: 'account', until: NOW + 9_000 } as const;
  const waiting = moveTask(task(), { to: 'waiting', reason: 'awaits_quota', now: NOW - 5, wait });
  assert.equal(granted(waiting, { turns: 1 }).changedAt, NOW - 5);
});

test('money can be granted where none was', () => {
  const free = task({ costLimit: 0, costUsed: 900 });
  assert.equal(granted(free, { costMicroUsd: 5 }).costLimit, 5);
});

test('T-3 an ended task keeps its bounds, and an old version is refused', () => {
  for (const state of TASK_ENDS)
    assert.equal((refusal(task({ state }), { turns: 5 }) as readonly string[])[0], 'task_ended');
  const verdict = extendTask(task(), { grant: { turns: 1 }, expectedVersion: 2 }, NOW);
  assert.ok('kind' in verdict);
  assert.deepEqual([verdict.code, verdict.detail['version']], ['version_conflict', '1']);
});

test('V15 a grant of budgets makes none smaller and changes no count', () => {
  const amount = fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: 0 });
  const grants = fc.record({
    turns: amount,
    tokens: amount,
    costMicroUsd: amount,
    continuations: amount,
  });
  const tasks = fc.record({
    turnsUsed: fc.nat(10),
    tokensUsed: fc.nat(300),
    costUsed: fc.nat(300),
    detail: fc.constantFrom('turns', 'tokens', 'costUsd', 'continuations', ''),
  });
  fc.assert(
    fc.property(tasks, grants, ({ detail, ...used }, grant) => {
      const from = detail === '' ? task(used) : outOf(detail, used);
      const after = extendTask(from, { grant }, NOW);
      if ('kind' in after) return;
      assert.equal(after.turnsLimit, from.turnsLimit + grant.turns);
      assert.equal(after.tokensLimit, from.tokensLimit + grant.tokens);
      assert.equal(after.costLimit, from.costLimit + grant.costMicroUsd);
      assert.equal(after.continuationsLimit, from.continuationsLimit + grant.continuations);
      assert.equal(after.deadline, from.deadline);
      assert.equal(after.version, from.version + 1);
      assert.ok(!hasEnded(after.state));
      for (const count of ['turnsUsed', 'tokensUsed', 'costUsed', 'continuationsUsed'] as const)
        assert.equal(after[count], from[count]);
    }),
  );
});
