import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import type { Principal } from '../../kernel/principal.ts';
import { taskRow } from '../../testing/store-rows.ts';
import { TASK_ENDS, TASK_MOVES, type TaskReason, type TaskState } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import { isSilent, judgeReassess, judgeReset } from './orders.ts';

const ADMIN: Principal = { kind: 'key', id: 'ops', isAdmin: true };
const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };
const STATES = Object.keys(TASK_MOVES) as TaskState[];
const USED_UP = taskRow({
  state: 'blocked',
  reason: 'recovery_assessment_failed',
  recoveryAttempts: LIMITS.recoveryAttempts,
  changedAt: 7_000,
});
const { id } = USED_UP;

function reset(over: Partial<TaskRecord>, principal = ADMIN): unknown {
  return judgeReset({ ...USED_UP, ...over }, { principal });
}

describe('a new epoch of assessments', () => {
  test('R-8 opens for a task that is blocked by a used-up budget, and for no other', () => {
    assert.equal(reset({}), undefined);
    assert.equal(reset({ reason: 'recovery_no_progress' }), undefined);
    const codeOf = (refused: unknown): unknown =>
      (refused as { readonly code?: string } | undefined)?.code;
    for (const state of STATES)
      assert.equal(
        codeOf(reset({ state })),
        state === 'blocked' ? undefined : 'not_budget_blocked',
      );
    for (const reason of ['recovery_inconclusive', 'no_progress', null] as const)
      assert.equal(codeOf(reset({ reason })), 'not_budget_blocked');
    const recoveryAttempts = LIMITS.recoveryAttempts - 1;
    assert.equal(codeOf(reset({ recoveryAttempts })), 'not_budget_blocked');
    assert.equal(reset({ recoveryAttempts: LIMITS.recoveryAttempts + 1 }), undefined);
  });

  test('R-4 opens by an admin’s resume for a task whose assessment could not tell', () => {
    const open = { ...USED_UP, reason: 'recovery_inconclusive', recoveryAttempts: 1 } as const;
    const judged = (over: Partial<TaskRecord>): unknown =>
      judgeReassess({ ...open, ...over }, { principal: ADMIN })?.code;
    assert.equal(judged({}), undefined);
    for (const state of STATES.filter((one) => one !== 'blocked')) {
      const ends: readonly TaskState[] = TASK_ENDS;
      assert.equal(judged({ state }), ends.includes(state) ? 'task_ended' : 'not_allowed_now');
    }
    assert.equal(judged({ reason: 'recovery_no_progress' }), 'not_allowed_now');
    const ended = judgeReassess({ ...open, state: 'failed' }, { principal: ADMIN });
    assert.deepEqual(ended?.detail, { id, state: 'failed' });
  });

  test('R-8 is an admin’s alone, and of the version that was seen', () => {
    for (const judge of [judgeReset, judgeReassess]) {
      const refused = judge(USED_UP, { principal: ANNA, expectedVersion: 9 });
      assert.deepEqual([refused?.code, refused?.detail], ['forbidden', { id, who: 'admin' }]);
      const stale = judge({ ...USED_UP, version: 3 }, { principal: ADMIN, expectedVersion: 2 });
      assert.equal(stale?.code, 'version_conflict');
      assert.deepEqual(stale?.detail, { id, state: 'blocked', version: '3' });
    }
    const seen = { principal: ADMIN, expectedVersion: 3 };
    assert.equal(judgeReset({ ...USED_UP, version: 3 }, seen), undefined);
  });
});

describe('W-7 the refusal says how the task stands since when, and the nearest way out:', () => {
  const told = (over: Partial<TaskRecord>): unknown =>
    judgeReset(taskRow({ changedAt: 7_000, ...over }), { principal: ADMIN })?.detail;
  const blocked = (reason: TaskReason): Partial<TaskRecord> => ({ state: 'blocked', reason });

  test('of one that works', () => {
    assert.deepEqual(told({}), { id, state: 'active', since: '7000', way: `/stop ${id}` });
  });

  test('of one that waits, and for what', () => {
    const state = 'waiting';
    assert.deepEqual(told({ state, reason: 'interrupted', waitKind: 'assessment' }), {
      id,
      state,
      since: '7000',
      reason: 'interrupted',
      wait: 'assessment',
      way: `/stop ${id}`,
    });
    const approval = { reason: 'awaits_approval', waitKind: 'approval', waitId: 'appr_1' } as const;
    assert.deepEqual(told({ state, ...approval }), {
      id,
      state,
      since: '7000',
      reason: 'awaits_approval',
      wait: 'approval',
      way: '/approve appr_1',
    });
    assert.deepEqual(told({ state, reason: 'awaits_answer' }), {
      id,
      state,
      since: '7000',
      reason: 'awaits_answer',
      reply: 'yes',
      way: `/stop ${id}`,
    });
  });

  test('of one that is blocked for something else', () => {
    const stands = { id, state: 'blocked', since: '7000' };
    assert.deepEqual(told({ ...blocked('no_progress'), waitKind: 'instant' }), {
      ...stands,
      reason: 'no_progress',
      reply: 'yes',
      way: `/task-resume ${id}`,
    });
    assert.deepEqual(told(blocked('recovery_inconclusive')), {
      ...stands,
      reason: 'recovery_inconclusive',
      way: `/task-resume ${id}`,
    });
  });

  test('of one that has ended, since its end and without a way', () => {
    assert.deepEqual(told({ state: 'stopped', endedAt: 8_000 }), {
      id,
      state: 'stopped',
      since: '8000',
    });
  });

  test('R-11 of one that nobody gave a reason', () => {
    assert.deepEqual(told({ state: 'blocked', reason: null }), {
      id,
      state: 'blocked',
      since: '7000',
      wait: 'silent',
      way: 'sekisho doctor --repair',
    });
  });
});

test('R-11 silent is what stands still without a reason and is no history', () => {
  const silent = (over: Partial<TaskRecord>): boolean => isSilent(taskRow(over));
  for (const state of STATES)
    assert.equal(silent({ state }), state === 'blocked' || state === 'waiting', state);
  assert.equal(silent({ state: 'waiting', waitKind: 'instant' }), false);
  assert.equal(silent({ state: 'blocked', waitKind: 'instant' }), true);
  assert.equal(silent({ state: 'blocked', reason: 'no_progress' }), false);
  for (const enrollment of ['held-legacy', 'unmarked'] as const)
    assert.equal(silent({ state: 'blocked', enrollment }), false);
});
