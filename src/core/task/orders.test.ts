import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Refusal } from '../../kernel/fault.ts';
import { REASONS } from '../notice/reasons.ts';
import { openTask } from './decide.ts';
import { WAIT_REASONS, type TaskReason, type WaitKind } from './moves.ts';
import { judgeLate, judgePause, judgeResume } from './orders.ts';
import type { TaskRecord } from './record.ts';

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
    { deadlineMs: null, turns: 5, tokens: 100, costMicroUsd: 200, continuations: 3 },
    NOW,
  );
  return { ...opened, ...change };
}

/** A task that stands for this reason, as the table of reasons has it. */
function standing(reason: TaskReason): TaskRecord {
  const kinds = Object.entries(WAIT_REASONS) as [WaitKind, TaskReason][];
  const waitKind = kinds.find(([, known]) => known === reason)?.[0] ?? null;
  return task({
    state: REASONS[reason].state,
    reason,
    waitKind: reason === 'interrupted' ? 'assessment' : waitKind,
    waitId: reason === 'awaits_approval' ? 'appr_1' : null,
    outcomeData: '{"grant":"turns=+5"}',
    recoveryState: reason === 'interrupted' ? 'needed' : 'none',
  });
}

function told(refused: Refusal | undefined): unknown {
  if (refused === undefined) return 'yes';
  const { way, reply } = refused.detail;
  return [refused.code, way, ...(reply === undefined ? [] : [`reply ${reply}`])];
}

const STOP = '/stop task_1';

/** What `/task-resume` and `/pause` come to, for every reason. */
const JUDGED: Readonly<Record<TaskReason, readonly [resume: unknown, pause: unknown]>> = {
  interrupted: [
    ['not_allowed_now', STOP],
    ['not_allowed_now', STOP],
  ],
  awaits_instant: [['not_allowed_now', STOP], 'yes'],
  awaits_answer: [['not_allowed_now', STOP, 'reply yes'], 'yes'],
  awaits_approval: [['not_allowed_now', '/approve appr_1'], 'yes'],
  awaits_quota: [['not_allowed_now', STOP], 'yes'],
  awaits_provider: [['not_allowed_now', STOP], 'yes'],
  paused: ['yes', ['not_allowed_now', '/task-resume task_1', 'reply yes']],
  wait_elapsed: ['yes', ['not_allowed_now', '/task-resume task_1', 'reply yes']],
  no_outcome: ['yes', ['not_allowed_now', '/task-resume task_1', 'reply yes']],
  no_progress: ['yes', ['not_allowed_now', '/task-resume task_1', 'reply yes']],
  quota: ['yes', ['not_allowed_now', '/task-resume task_1', 'reply yes']],
  budget_exhausted: [
    ['not_allowed_now', '/extend task_1 turns=+5'],
    ['not_allowed_now', '/extend task_1 turns=+5'],
  ],
  recovery_assessment_failed: [
    ['not_allowed_now', '/budget-reset task_1'],
    ['not_allowed_now', '/budget-reset task_1'],
  ],
  recovery_no_progress: [
    ['not_allowed_now', '/budget-reset task_1'],
    ['not_allowed_now', '/budget-reset task_1'],
  ],
  // What an admin's resume does here is judged apart: it opens a new epoch.
  recovery_inconclusive: [
    ['not_allowed_now', '/task-resume task_1'],
    ['not_allowed_now', '/task-resume task_1'],
  ],
  order_late: [
    ['not_allowed_now', '/task-resume task_1 late'],
    ['not_allowed_now', '/task-resume task_1 late'],
  ],
  held_legacy: [
    ['not_allowed_now', '/task-resume task_1'],
    ['not_allowed_now', '/task-resume task_1'],
  ],
  ended_by_assessment: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
  base_too_large: [
    ['not_allowed_now', '/new'],
    ['not_allowed_now', '/new'],
  ],
  stopped_by_person: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
  cancelled_by_caller: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
  deadline_passed: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
  model_refused: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
  answered: [
    ['task_ended', undefined],
    ['task_ended', undefined],
  ],
};

describe('W-7 a refused order names the nearest way out:', () => {
  for (const [reason, [resume, pause]] of Object.entries(JUDGED))
    test(reason, () => {
      const stands = standing(reason as TaskReason);
      assert.deepEqual(told(judgeResume(stands, undefined)), resume);
      assert.deepEqual(told(judgePause(stands, undefined)), pause);
    });

  test('only what was blocked for being late is carried out late', () => {
    const late = Object.keys(JUDGED).filter(
      (reason) => judgeLate(standing(reason as TaskReason), undefined) === undefined,
    );
    assert.deepEqual(late, ['order_late']);
    const setAside = judgeLate(task({ ...standing('order_late'), state: 'paused' }), 1);
    assert.equal(setAside?.code, 'not_allowed_now');
    assert.deepEqual(told(judgeLate(standing('quota'), undefined)), [
      'not_allowed_now',
      '/task-resume task_1',
      'reply yes',
    ]);
    assert.deepEqual(told(judgeLate(task(), undefined)), ['not_allowed_now', STOP]);
    assert.deepEqual(told(judgeLate(standing('answered'), undefined)), ['task_ended', undefined]);
  });

  test('what is not known to be resumable is not resumed', () => {
    const foreign = task({ state: 'blocked', reason: 'of_another_version' as TaskReason });
    assert.deepEqual(told(judgeResume(foreign, undefined)), ['not_allowed_now', STOP]);
  });

  test('the refusal says which task, how it stands, and that it was interrupted', () => {
    const refused = { id: 'task_1', state: 'waiting', way: STOP };
    const detail = (reason: TaskReason): unknown => judgeResume(standing(reason), 1)?.detail;
    assert.deepEqual(detail('awaits_quota'), refused);
    assert.deepEqual(detail('interrupted'), { ...refused, reason: 'interrupted' });
    assert.deepEqual(judgePause(task({ state: 'stopped' }), 1)?.detail, {
      id: 'task_1',
      state: 'stopped',
    });
  });

  test('R-1 one that waits for its assessment may not be set aside, whatever it is called', () => {
    const waits = { state: 'waiting', reason: 'awaits_provider' } as const;
    assert.equal(judgePause(task({ ...waits, waitKind: 'provider' }), 1), undefined);
    for (const one of [{ waitKind: 'assessment' }, { recoveryState: 'needed' }] as const)
      assert.deepEqual(told(judgePause(task({ ...waits, ...one }), 1)), ['not_allowed_now', STOP]);
  });

  test('what works has nothing to be resumed from, and may be paused', () => {
    assert.deepEqual(told(judgeResume(task(), undefined)), ['not_allowed_now', STOP]);
    assert.equal(judgePause(task(), undefined), undefined);
  });
});

test('T-4 an order about a version that is gone is refused', () => {
  for (const judge of [judgeResume, judgePause, judgeLate]) {
    assert.equal(judge(task({ version: 3 }), 2)?.code, 'version_conflict');
    assert.notEqual(judge(standing('paused'), 1)?.code, 'version_conflict');
  }
});
