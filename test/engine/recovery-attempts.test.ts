import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import { everyRow, pass, wordsOf } from '../support/acts.ts';
import { ADMIN, fails, Installation, judges, OPTIONS, says } from '../support/host.ts';
import { codesOf, cutWork, elapse, eventsOf, SPACING, taskOf } from './recovery-support.ts';
import { mortal } from './upkeep-support.ts';

const FAILURES: readonly (readonly [string, () => ModelOutcome])[] = [
  ['technical failures', () => fails('transient', 'http_500')],
  ['refusals of the provider', () => fails('refused', 'http_401', { scope: 'account' })],
  ['answers that are no JSON', () => says('I would say: continue')],
  ['unknown verdicts', () => says('{"verdict":"maybe","reason":"x"}')],
  ['answers without a text', () => says('')],
  ['nonsense', () => fails('nonsense', 'nonsense')],
];

describe('three assessments that fail', () => {
  for (const [name, outcome] of FAILURES)
    test(`R-3 R-5 R-9 over three restarts by ${name}: one notice, and never a fourth call`, async () => {
      const place = new Installation();
      const options = { ...OPTIONS, deadlineMs: 7 * DAY };
      const { taskId } = await cutWork(place, { options });
      const { deadline } = await taskOf(place, taskId);
      place.assessor.answer = outcome;
      for (const attempt of [1, 2, 3]) {
        const { kill } = await mortal(place, { options });
        await elapse(place, attempt === 1 ? SECOND : SPACING);
        assert.equal(place.assessor.requests.length, attempt);
        assert.equal((await taskOf(place, taskId)).recoveryAttempts, attempt);
        kill();
      }
      const blocked = await taskOf(place, taskId);
      assert.deepEqual(
        [blocked.state, blocked.reason, blocked.deadline],
        ['blocked', 'recovery_assessment_failed', deadline],
      );
      for (let restart = 0; restart < 10; restart += 1) {
        const { kill } = await mortal(place, { options });
        await elapse(place, 2 * SPACING);
        kill();
      }
      assert.equal(place.assessor.requests.length, LIMITS.recoveryAttempts);
      assert.equal(place.tools.ran.length, 1);
      assert.equal((await taskOf(place, taskId)).turnsUsed, 1, 'no turn');
      assert.deepEqual(await codesOf(place, taskId), ['recovery_assessment_failed']);
    });
});

test('R-8 the reset is refused before and accepted after: one fresh assessment, the deadline as it was', async () => {
  const place = new Installation();
  const options = { ...OPTIONS, deadlineMs: 7 * DAY };
  const { taskId } = await cutWork(place, { options });
  const engine = await place.host({ options });
  const order = { taskId, principal: ADMIN, channel: 'api' };
  await elapse(place, 2 * SPACING - SECOND);
  const before = await everyRow(place);
  const refused = await engine.resetBudget(order);
  assert.equal(refused.kind === 'refused' && refused.code, 'not_budget_blocked');
  assert.deepEqual(await everyRow(place), before);
  await elapse(place, SPACING);
  const blocked = await taskOf(place, taskId);
  assert.equal(blocked.reason, 'recovery_assessment_failed');

  const { requests } = place.assessor;
  place.assessor.answer = () => judges('inconclusive');
  const reset = await engine.resetBudget(order);
  assert.equal(reset.kind, 'ordered');
  const reopened = await taskOf(place, taskId);
  assert.deepEqual(
    [reopened.recoveryEpoch, reopened.recoveryAttempts, reopened.recoveryLifetimeAttempts],
    [2, 0, 3],
  );
  await elapse(place, SPACING);
  assert.equal(requests.length, 4, 'one fresh assessment');
  const assessed = await taskOf(place, taskId);
  assert.equal(assessed.deadline, blocked.deadline);
  assert.equal(assessed.reason, 'recovery_inconclusive');
  assert.deepEqual(await codesOf(place, taskId), [
    'recovery_assessment_failed',
    'recovery_inconclusive',
  ]);
});

test('R-3 V6 each attempt is reserved before its call and due a spacing after the one before', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  const seen: [number, number][] = [];
  place.assessor.answer = async () => {
    const { recoveryAttempts, recoveryOutcome } = await taskOf(place, taskId);
    assert.equal(recoveryOutcome, 'reserved');
    seen.push([place.clock.now(), recoveryAttempts]);
    return fails('transient', 'http_500');
  };
  await place.host();
  await elapse(place, 10 * SPACING);
  assert.deepEqual(
    seen.map(([, attempt]) => attempt),
    [1, 2, 3],
  );
  const reserved = await eventsOf(place, taskId, 'assessment.reserved');
  const instants = reserved.map(({ at }) => Number(at));
  assert.deepEqual(
    instants.slice(1).map((at, index) => at - (instants[index] ?? 0)),
    [SPACING, SPACING],
  );
});

test('R-3 a call that is slow does not move the next attempt', async () => {
  const place = new Installation();
  await cutWork(place);
  place.assessor.answer = () => new Promise(() => {});
  await place.host();
  await elapse(place, 3 * MINUTE + SECOND);
  assert.equal(place.assessor.requests.length, 3);
});

test('R-3 R-6 a crash during a call has used the attempt; the third blocks at the next start, once', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  place.assessor.answer = () => new Promise(() => {});
  for (const attempt of [1, 2, 3]) {
    const { kill } = await mortal(place);
    await elapse(place, attempt === 1 ? SECOND : SPACING);
    assert.equal(place.assessor.requests.length, attempt);
    kill();
  }
  assert.equal((await taskOf(place, taskId)).recoveryOutcome, 'reserved');
  for (let restart = 0; restart < 3; restart += 1) {
    const { kill } = await mortal(place);
    await pass(40);
    kill();
    const { reason, state } = await taskOf(place, taskId);
    assert.deepEqual([state, reason], ['blocked', 'recovery_assessment_failed']);
  }
  assert.equal(place.assessor.requests.length, 3);
  assert.deepEqual(await codesOf(place, taskId), ['recovery_assessment_failed']);
});

test('R-3 a crash before the reservation is committed spends nothing', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  let isCut = false;
  const never = new Promise<never>(() => {});
  const store = {
    ...place.store,
    commit: (unit: Parameters<typeof place.store.commit>[0]) => {
      isCut ||= unit.name === 'recovery.reserve';
      return isCut ? never : place.store.commit(unit);
    },
    query: (...asked: Parameters<typeof place.store.query>) =>
      isCut ? never : place.store.query(...asked),
  } as typeof place.store;
  await place.host({ store });
  await elapse(place, SECOND);
  assert.equal(isCut, true);
  assert.equal(place.assessor.requests.length, 0);
  assert.equal((await taskOf(place, taskId)).recoveryAttempts, 0);
  place.assessor.answer = () => judges('continue');
  await place.host();
  await elapse(place, SECOND);
  assert.equal((await taskOf(place, taskId)).state, 'completed');
});

test('R-3 three interruptions after a `continue` each are no progress', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  place.assessor.answer = () => judges('continue');
  place.model.answer = () => new Promise(() => {});
  for (let start = 1; start <= 3; start += 1) {
    const { engine, kill } = await mortal(place);
    await elapse(place, SPACING);
    assert.equal(engine.health().runningTurns, 1);
    kill();
  }
  const { kill } = await mortal(place);
  await elapse(place, SPACING);
  kill();
  const { state, reason, recoveryAttempts, recoveryEpoch } = await taskOf(place, taskId);
  assert.deepEqual([state, reason], ['blocked', 'recovery_no_progress']);
  assert.deepEqual([recoveryAttempts, recoveryEpoch], [3, 1]);
  assert.equal(place.assessor.requests.length, 3);
  assert.deepEqual(await codesOf(place, taskId), ['recovery_no_progress']);
  const engine = await place.host();
  const reset = await engine.resetBudget({ taskId, principal: ADMIN, channel: 'api' });
  assert.equal(reset.kind, 'ordered', '`/budget-reset` opens both');
});

test('R-3 a turn that is completed after a `continue` starts the count anew', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  place.assessor.answer = () => judges('continue');
  const { kill } = await mortal(place);
  await elapse(place, SPACING);
  kill();
  const done = await taskOf(place, taskId);
  assert.equal(done.state, 'completed');
  assert.deepEqual(
    [done.recoveryEpoch, done.recoveryAttempts, done.recoveryLifetimeAttempts, done.recoveryState],
    [2, 0, 1, 'none'],
  );
});

test('R-5 a provider that names an instant is asked then, and the attempt is used', async () => {
  const place = new Installation();
  const { taskId } = await cutWork(place);
  const retryAt = place.clock.now() + HOUR;
  place.assessor.answer = () => fails('transient', 'http_429', { retryAt });
  await place.host();
  await elapse(place, 5 * MINUTE);
  assert.equal(place.assessor.requests.length, 1);
  const waits = await taskOf(place, taskId);
  assert.deepEqual([waits.recoveryAttempts, waits.recoveryNextAt], [1, retryAt]);
});

test('R-6 R-7 the one notice names the last failure, the deadline and the exact command', async () => {
  const place = new Installation();
  const options = { ...OPTIONS, deadlineMs: DAY };
  const { taskId, conversationId } = await cutWork(place, { options });
  await place.host({ options });
  await elapse(place, 3 * SPACING);
  const rows = await place.rows('outbox');
  const notices = rows.filter((row) => row['task_id'] === taskId);
  assert.equal(notices.length, 1);
  const [notice] = notices;
  assert.ok(notice);
  assert.equal(notice['conversation_id'], conversationId);
  const words = wordsOf(notice);
  assert.match(words, /^■ I have stopped “pay the hosting bill”\./);
  assert.match(words, new RegExp(`/budget-reset ${taskId}`));
  assert.match(words, /unchanged/);
});
