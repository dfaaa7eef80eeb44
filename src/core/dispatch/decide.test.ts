import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { idOf, taskRow } from '../../testing/store-rows.ts';
import { DAY } from '../../kernel/time.ts';
import { isChild, judgeWorkerResume, retryWorker } from './decide.ts';
import { EXECUTION_MOVES, type ExecutionRecord, type ExecutionState } from './record.ts';

const NOW = 1_800_000_000_000;
const ADMIN = { kind: 'key', id: 'ops', isAdmin: true } as const;
const ANNA = { kind: 'key', id: 'anna', isAdmin: false } as const;
const OWNER = taskRow({ deadline: NOW + DAY });

function worker(given: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: idOf('execution', 1),
    taskId: OWNER.id,
    mandateHash: OWNER.mandateHash,
    conversationId: OWNER.conversationId,
    enrollment: 'held-legacy',
    state: 'ready',
    version: 3,
    hostId: null,
    job: 'Count them.',
    outcome: null,
    deadline: null,
    createdAt: 1_000,
    changedAt: 1_000,
    endedAt: null,
    ...given,
  };
}

function resume(
  given: Partial<ExecutionRecord> = {},
  owner: typeof OWNER | undefined = OWNER,
  by: Partial<Parameters<typeof judgeWorkerResume>[2]> = {},
): ReturnType<typeof judgeWorkerResume> {
  return judgeWorkerResume(worker(given), owner, { principal: ADMIN, now: NOW, ...by });
}

function told(verdict: ReturnType<typeof judgeWorkerResume>): unknown {
  return 'kind' in verdict ? [verdict.code, verdict.detail['detail']] : verdict.state;
}

describe('a worker whose process is gone', () => {
  test('R-14 only what says that it runs is taken up again', () => {
    for (const state of Object.keys(EXECUTION_MOVES) as ExecutionState[]) {
      const before = worker({ state, enrollment: 'current', hostId: idOf('host', 1) });
      const after = retryWorker(before, NOW);
      if (state === 'running')
        assert.deepEqual(after, {
          ...before,
          state: 'retrying',
          hostId: null,
          version: 4,
          changedAt: NOW,
        });
      else assert.equal(after, before);
    }
  });

  test('T-6 a child of a task is one of the same mandate that is at work and not held', () => {
    const current = { enrollment: 'current' } as const;
    assert.ok(isChild(worker(current), OWNER));
    assert.ok(isChild(worker({ ...current, state: 'running' }), OWNER));
    assert.ok(!isChild(worker({ ...current, state: 'retrying' }), OWNER));
    assert.ok(!isChild(worker({ ...current, mandateHash: 'b' }), OWNER));
    assert.ok(!isChild(worker({ ...current, taskId: idOf('task', 2) }), OWNER));
    assert.ok(!isChild(worker(), OWNER));
  });
});

describe('the exact resume of a held worker', () => {
  test('B-9 it is current as it is, and one that says that it runs is taken up again', () => {
    for (const [state, after] of [
      ['ready', 'ready'],
      ['running', 'retrying'],
      ['retrying', 'retrying'],
      ['paused', 'paused'],
      ['blocked', 'blocked'],
    ] as const) {
      const verdict = resume({ state, hostId: idOf('host', 1) });
      assert.ok(!('kind' in verdict));
      assert.deepEqual([verdict.enrollment, verdict.state, verdict.version], ['current', after, 4]);
    }
  });

  test('B-9 it is refused with its reason', () => {
    const cases: readonly (readonly [unknown, ReturnType<typeof judgeWorkerResume>])[] = [
      [['forbidden', undefined], resume({}, OWNER, { principal: ANNA })],
      [['version_conflict', undefined], resume({}, OWNER, { expectedVersion: 2 })],
      [['task_ended', undefined], resume({ state: 'failed' })],
      [['not_allowed_now', 'not_held'], resume({ enrollment: 'current' })],
      [['not_allowed_now', 'no_task'], resume({ taskId: null })],
      [['not_allowed_now', 'other_mandate'], resume({ mandateHash: 'b' })],
      [['not_allowed_now', 'other_mandate'], resume({ mandateHash: null })],
      [['task_ended', undefined], resume({}, { ...OWNER, state: 'completed' })],
      [['not_allowed_now', 'task_held'], resume({}, { ...OWNER, enrollment: 'held-legacy' })],
      [['deadline_passed', undefined], resume({}, { ...OWNER, deadline: NOW })],
      [['deadline_passed', undefined], resume({ deadline: NOW })],
      [['budget_exhausted', 'turns'], resume({}, { ...OWNER, turnsUsed: 50 })],
      ['ready', resume({}, OWNER, { expectedVersion: 3 })],
    ];
    for (const [expected, verdict] of cases) assert.deepEqual(told(verdict), expected);
  });

  test('W-7 its refusal says which worker, how it stands, and what stands against it', () => {
    const { id } = worker();
    const stands = { id, state: 'ready' };
    const taskId = OWNER.id;
    const cases: readonly (readonly [object, ReturnType<typeof judgeWorkerResume>])[] = [
      [{ id, who: 'admin' }, resume({}, OWNER, { principal: ANNA })],
      [{ ...stands, version: '3' }, resume({}, OWNER, { expectedVersion: 2 })],
      [{ id, state: 'failed' }, resume({ state: 'failed' })],
      [{ ...stands, detail: 'not_held' }, resume({ enrollment: 'current' })],
      [{ id, taskId, state: 'completed' }, resume({}, { ...OWNER, state: 'completed' })],
      [
        { ...stands, detail: 'task_held', way: `/task-resume ${taskId}` },
        resume({}, { ...OWNER, enrollment: 'held-legacy' }),
      ],
      [{ id, taskId, at: String(NOW - 1) }, resume({ deadline: NOW - 1 })],
      [{ id, taskId, detail: 'turns' }, resume({}, { ...OWNER, turnsUsed: 50 })],
    ];
    for (const [detail, verdict] of cases)
      assert.deepEqual('kind' in verdict ? verdict.detail : verdict, detail);
  });

  test('B-9 of a task that nobody knows any more it is refused', () => {
    const verdict = judgeWorkerResume(worker(), undefined, { principal: ADMIN, now: NOW });
    assert.deepEqual(told(verdict), ['not_allowed_now', 'no_task']);
  });
});
