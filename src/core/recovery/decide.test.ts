import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts';
import { openTask } from '../task/decide.ts';
import { TASK_MOVES, type TaskState } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import {
  followGrant,
  goOn,
  grantTask,
  judgeAttempt,
  judgeBegin,
  needAssessment,
  openEpoch,
  passRecovery,
  recordOutcome,
  reserveAttempt,
  usedUpReason,
} from './decide.ts';
import { RECOVERY_MOVES, type RecoveryState } from './record.ts';

const NOW = 1_800_000_000_000;
const SPACING = 60 * SECOND;

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

function interrupted(change: Partial<TaskRecord> = {}): TaskRecord {
  return { ...needAssessment(task(), NOW, { tools: [] }), ...change };
}

describe('an interrupted task', () => {
  test('R-1 waits for its assessment, and no turn of it begins', () => {
    const waits = interrupted();
    assert.equal(waits.state, 'waiting');
    assert.equal(waits.waitKind, 'assessment');
    assert.equal(waits.recoveryState, 'needed');
    assert.equal(waits.reason, 'interrupted');
    assert.equal(waits.recoveryNextAt, null, 'it is due at once');
    assert.equal(judgeBegin({ ...waits, state: 'active' }, NOW), 'assess');
  });

  test('R-3 has three attempts, each counted before it is made and due after the one before', () => {
    let one = interrupted();
    let now = NOW;
    for (const n of [1, 2, 3]) {
      assert.equal(judgeAttempt(one, now), 'reserve');
      one = reserveAttempt(one, now, SPACING);
      assert.equal(one.recoveryAttempts, n);
      assert.equal(one.recoveryLifetimeAttempts, n);
      assert.equal(one.recoveryOutcome, 'reserved');
      assert.equal(one.version, interrupted().version + n);
      assert.equal(judgeAttempt(one, now + SPACING - 1), n === 3 ? 'block' : 'wait');
      now += SPACING;
    }
    assert.equal(judgeAttempt(one, now), 'block');
    assert.equal(judgeAttempt(one, now + DAY - 4 * SPACING), 'block', 'for ever');
  });

  test('R-5 the next attempt is due at the later of the spacing and what the provider named', () => {
    const one = reserveAttempt(interrupted(), NOW, SPACING);
    assert.equal(
      recordOutcome(one, 'failed', { retryAt: null, now: NOW }).recoveryNextAt,
      NOW + SPACING,
    );
    assert.equal(
      recordOutcome(one, 'failed', { retryAt: NOW + 1, now: NOW }).recoveryNextAt,
      NOW + SPACING,
    );
    assert.equal(
      recordOutcome(one, 'failed', { retryAt: NOW + HOUR, now: NOW }).recoveryNextAt,
      NOW + HOUR,
    );
    const far = recordOutcome(one, 'failed', { retryAt: NOW + 400 * DAY, now: NOW });
    assert.equal(far.recoveryNextAt, NOW + LIMITS.recoveryRetryMaxMs, 'nobody is told of years');
    const clamped = needAssessment({ ...one, recoveryNextAt: NOW + 400 * DAY }, NOW, {});
    assert.equal(clamped.recoveryNextAt, NOW + LIMITS.recoveryRetryMaxMs);
  });

  test('R-3 after three the last verdict says why it is blocked', () => {
    for (const outcome of ['reserved', 'failed', 'invalid'] as const)
      assert.equal(usedUpReason({ recoveryOutcome: outcome }), 'recovery_assessment_failed');
    assert.equal(usedUpReason({ recoveryOutcome: 'continue' }), 'recovery_no_progress');
  });

  test('R-10 is assessed only while it waits for that, is current, and has no passed deadline', () => {
    for (const state of Object.keys(TASK_MOVES) as TaskState[])
      if (state !== 'waiting') assert.equal(judgeAttempt(interrupted({ state }), NOW), 'leave');
    assert.equal(judgeAttempt(interrupted({ waitKind: 'provider' }), NOW), 'leave');
    for (const enrollment of ['held-legacy', 'unmarked'] as const)
      assert.equal(judgeAttempt(interrupted({ enrollment }), NOW), 'leave');
    assert.equal(judgeAttempt(interrupted({ deadline: NOW }), NOW), 'leave');
    assert.equal(judgeAttempt(interrupted({ deadline: NOW + 1 }), NOW), 'reserve');
    assert.equal(judgeAttempt(interrupted({ deadline: null }), NOW), 'reserve');
  });

  test('R-6 the last attempt that another host may still be making is waited for, no longer', () => {
    const recoveryAttempts = LIMITS.recoveryAttempts;
    const last = { recoveryAttempts, recoveryNextAt: NOW, recoveryOutcome: 'reserved' } as const;
    assert.equal(judgeAttempt(interrupted(last), NOW - 1, true), 'wait');
    assert.equal(judgeAttempt(interrupted(last), NOW - 1), 'block', 'nobody else is there');
    assert.equal(judgeAttempt(interrupted(last), NOW, true), 'block', 'its spacing is over');
    const known = interrupted({ ...last, recoveryOutcome: 'failed' });
    assert.equal(judgeAttempt(known, NOW - 1, true), 'block', 'its outcome is known');
    assert.equal(judgeAttempt(interrupted(), NOW, true), 'reserve', 'none was made');
  });

  test('T-15 an order past its grace is not assessed and takes no turn', () => {
    const orderAt = NOW - LIMITS.orderGraceMs;
    assert.equal(judgeAttempt(interrupted({ orderAt }), NOW), 'reserve', 'in its grace');
    assert.equal(judgeAttempt(interrupted({ orderAt: orderAt - 1 }), NOW), 'late');
    assert.equal(judgeBegin(task({ orderAt: orderAt - 1 }), NOW), 'late');
    assert.equal(judgeBegin(task({ orderAt }), NOW), 'begin');
  });
});

describe('a `continue`', () => {
  test('R-16 is void when no turn has followed within ten minutes', () => {
    const granted = grantTask(interrupted(), NOW);
    assert.equal(granted.state, 'active');
    assert.equal(judgeBegin(granted, NOW), 'begin');
    assert.equal(judgeBegin(granted, NOW + LIMITS.recoveryGrantMs), 'begin');
    assert.equal(judgeBegin(granted, NOW + LIMITS.recoveryGrantMs + 1), 'assess');
    assert.equal(judgeBegin({ ...granted, recoveryGrantedAt: null }, NOW), 'assess');
    assert.equal(judgeBegin(granted, NOW - 1), 'assess', 'under a clock that was set back');
  });

  test('R-16 is void for a host that has started since', () => {
    const granted = grantTask(interrupted(), NOW);
    assert.equal(judgeBegin(granted, NOW + 1, NOW + 1), 'assess');
    assert.equal(judgeBegin(granted, NOW + 1, NOW), 'begin');
  });

  test('R-3 starts the count anew only with a turn that was completed after it', () => {
    const granted = grantTask(reserveAttempt(interrupted(), NOW, SPACING), NOW);
    assert.equal(passRecovery(granted), granted, 'no turn has begun');
    const followed = followGrant(granted);
    assert.equal(judgeBegin(followed, NOW + DAY), 'begin', 'a turn of it may follow the other');
    const passed = passRecovery(followed);
    assert.deepEqual(
      [passed.recoveryState, passed.recoveryEpoch, passed.recoveryAttempts],
      ['none', 2, 0],
    );
    assert.equal(passed.recoveryLifetimeAttempts, 1);
    const again = needAssessment(followed, NOW, { tools: [] });
    assert.deepEqual([again.recoveryEpoch, again.recoveryAttempts], [1, 1], 'it goes on counting');
    assert.equal(passRecovery(task()).recoveryEpoch, 1, 'of one that was never interrupted');
  });

  test('R-8 a new epoch moves no deadline, no budget, no spacing and not the lifetime count', () => {
    const used = reserveAttempt(interrupted(), NOW, SPACING);
    const { recoveryEpoch, recoveryAttempts, recoveryOutcome, ...rest } = openEpoch(used);
    assert.deepEqual([recoveryEpoch, recoveryAttempts, recoveryOutcome], [2, 0, null]);
    assert.partialDeepStrictEqual(used, rest);
  });
});

test('R-1 whatever lets a task go on leads unassessed work to its assessment', () => {
  const blocked = task({ state: 'blocked', reason: 'budget_exhausted' });
  assert.equal(goOn(blocked, NOW).state, 'active');
  const next = goOn({ ...blocked, recoveryState: 'needed' }, NOW);
  assert.deepEqual([next.state, next.waitKind], ['waiting', 'assessment']);
  assert.equal(next.outcomeData, '{"tools":[]}', 'no call of it was running');
  const grant = { recoveryState: 'granted', recoveryGrantedAt: NOW } as const;
  assert.equal(goOn({ ...blocked, ...grant }, NOW + MINUTE).state, 'active');
  assert.equal(goOn({ ...blocked, ...grant }, NOW + DAY).state, 'waiting');
});

test('each state of a recovery is left by the moves of its table alone', () => {
  const moved = (from: RecoveryState): readonly string[] => {
    const one = task({ recoveryState: from, recoveryGrantedAt: NOW });
    const to = [
      needAssessment(one, NOW, {}).recoveryState,
      followGrant(one).recoveryState,
      passRecovery(one).recoveryState,
    ];
    return [...new Set(to)].filter((state) => state !== from).toSorted();
  };
  for (const [from, to] of Object.entries(RECOVERY_MOVES)) {
    const known = [...to].filter((state) => state !== 'granted').toSorted();
    assert.deepEqual(moved(from as RecoveryState), known, from);
  }
});
