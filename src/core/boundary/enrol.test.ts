import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { idOf, taskRow } from '../../testing/store-rows.ts';
import { DAY, HOUR } from '../../kernel/time.ts';
import type { TaskRecord } from '../task/record.ts';
import { judgeEnrol, type Enrolling } from './enrol.ts';
import { holdTask } from './judge.ts';

const NOW = 1_800_000_000_000;
const ADMIN = { kind: 'key', id: 'ops', isAdmin: true } as const;
const ANNA = { kind: 'key', id: 'anna', isAdmin: false } as const;
const HERE = idOf('conversation', 1);

function held(given: Partial<TaskRecord> = {}): TaskRecord {
  const before = taskRow({
    enrollment: 'unmarked',
    mandatePrincipal: 'key:anna',
    conversationId: HERE,
    deadline: NOW + DAY,
    recoveryEpoch: 2,
    recoveryAttempts: 1,
    recoveryLifetimeAttempts: 4,
    recoveryNextAt: NOW - HOUR,
    ...given,
  });
  return holdTask(before, NOW - HOUR);
}

function judge(task: TaskRecord, given: Partial<Enrolling> = {}): ReturnType<typeof judgeEnrol> {
  return judgeEnrol(task, { principal: ADMIN, isBusy: false, workers: 0, ...given }, NOW);
}

function codeOf(verdict: ReturnType<typeof judgeEnrol>): unknown {
  return 'kind' in verdict ? verdict.code : verdict.state;
}

describe('the exact resume of a held task', () => {
  test('B-8 it is assessed with the attempts that its epoch has left', () => {
    const task = held();
    const woken = judge(task);
    assert.ok(!('kind' in woken));
    const { was } = JSON.parse(task.outcomeData ?? '') as { readonly was: unknown };
    assert.deepEqual(woken, {
      ...task,
      enrollment: 'current',
      state: 'waiting',
      reason: 'interrupted',
      version: task.version + 1,
      waitKind: 'assessment',
      recoveryState: 'needed',
      dueAt: task.deadline,
      changedAt: NOW,
      outcomeData: JSON.stringify({ tools: [], was }),
    });
  });

  test('B-8 with no attempt left it is blocked at once, and its way out is the reset', () => {
    for (const [recoveryOutcome, reason] of [
      ['failed', 'recovery_assessment_failed'],
      ['reserved', 'recovery_assessment_failed'],
      ['continue', 'recovery_no_progress'],
    ] as const) {
      const woken = judge(held({ recoveryAttempts: 3, recoveryOutcome }), { workers: 2 });
      assert.ok(!('kind' in woken));
      assert.deepEqual(
        [woken.enrollment, woken.state, woken.reason],
        ['current', 'blocked', reason],
      );
      assert.deepEqual([woken.recoveryAttempts, woken.recoveryLifetimeAttempts], [3, 4]);
      assert.equal(woken.deadline, NOW + DAY);
      assert.deepEqual([woken.recoveryState, woken.recoveryGrantedAt], ['needed', null]);
      const { was, ...told } = JSON.parse(woken.outcomeData ?? '') as Record<string, unknown>;
      assert.deepEqual(told, { outcome: recoveryOutcome, deadline: NOW + DAY, workers: 2 });
      assert.ok(was !== undefined);
    }
  });

  test('B-8 it is refused with its reason', () => {
    const task = held();
    const cases: readonly (readonly [unknown, ReturnType<typeof judgeEnrol>])[] = [
      ['forbidden', judge(task, { principal: ANNA })],
      ['version_conflict', judge(task, { expectedVersion: task.version - 1 })],
      ['task_ended', judge({ ...task, state: 'stopped', endedAt: NOW - 1 })],
      ['deadline_passed', judge(held({ deadline: NOW }))],
      ['budget_exhausted', judge(held({ turnsUsed: 50 }))],
      ['budget_exhausted', judge(held({ tokensUsed: 2_000_000 }))],
      ['conversation_busy', judge(task, { isBusy: true })],
      ['not_allowed_now', judge(taskRow({ enrollment: 'current' }))],
      ['waiting', judge(task, { expectedVersion: task.version })],
    ];
    for (const [code, verdict] of cases) assert.equal(codeOf(verdict), code);
  });

  test('B-8 it is typed in its own conversation or at the terminal', () => {
    const elsewhere = idOf('conversation', 2);
    const task = held();
    const said = (conversationId: typeof elsewhere, channel: string): unknown =>
      codeOf(judge(task, { saidIn: { conversationId, channel } }));
    assert.equal(said(HERE, 'api'), 'waiting');
    assert.equal(said(elsewhere, 'api'), 'not_here');
    assert.equal(said(elsewhere, 'terminal'), 'waiting');
  });

  test('W-7 its refusal says what stands against it, and the way out', () => {
    const detailOf = (verdict: ReturnType<typeof judgeEnrol>): unknown =>
      'kind' in verdict ? verdict.detail : verdict.state;
    const { id } = held();
    assert.deepEqual(detailOf(judge(held(), { principal: ANNA })), { id, who: 'admin' });
    const elsewhere = { conversationId: idOf('conversation', 2), channel: 'api' };
    assert.deepEqual(detailOf(judge(held(), { saidIn: elsewhere })), { id });
    assert.deepEqual(detailOf(judge(held(), { isBusy: true })), { id });
    assert.deepEqual(detailOf(judge(held({ deadline: NOW }))), { id, at: String(NOW) });
    assert.deepEqual(detailOf(judge(held({ turnsUsed: 50 }))), {
      id,
      detail: 'turns',
      way: `/stop ${id}`,
    });
    const current = taskRow({ state: 'blocked', reason: 'no_progress' });
    const notHeld = { id, state: 'blocked' };
    assert.deepEqual(detailOf(judge(current)), { ...notHeld, way: `/task-resume ${id}` });
    const unmarked = taskRow({ ...held(), enrollment: 'unmarked' });
    assert.deepEqual(detailOf(judge(unmarked)), { ...notHeld, way: `/stop ${id}` });
  });

  test('B-8 without a deadline none has passed', () => {
    assert.equal(codeOf(judge(held({ deadline: null }))), 'waiting');
  });

  test('its own person cannot wake it', () => {
    assert.equal(codeOf(judge(held(), { principal: ANNA })), 'forbidden');
  });
});
