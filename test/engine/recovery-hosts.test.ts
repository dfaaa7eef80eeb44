import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import { eventually, heldCall } from '../support/acts.ts';
import { fails, Installation, judges, says } from '../support/host.ts';
import { codesOf, cutWork, elapse, SPACING, taskOf } from './recovery-support.ts';

test('R-6 R-16 the third attempt is not given up while its call is out on another host', async () => {
  const place = new Installation({ exclusive: false });
  const { taskId } = await cutWork(place);
  place.assessor.answer = () => fails('transient', 'http_500');
  await place.host();
  // The lease of the dead host runs out, then two attempts fail.
  await eventually(async () => {
    await elapse(place, SECOND);
    return (await taskOf(place, taskId)).recoveryAttempts === 2;
  });
  const third = heldCall();
  place.assessor.answer = third.hold;
  await elapse(place, SPACING);
  await third.begun;
  await place.host();
  await elapse(place, 40 * SECOND);
  assert.equal((await taskOf(place, taskId)).recoveryOutcome, 'reserved');
  place.model.answer = () => says('paid');
  third.release(judges('continue'));
  await elapse(place, SECOND);
  assert.equal((await taskOf(place, taskId)).state, 'completed');
  assert.deepEqual(await codesOf(place, taskId), []);
});

test('R-16 two hosts make one assessment of a task, each counted once', async () => {
  const place = new Installation({ exclusive: false });
  const { taskId } = await cutWork(place);
  place.assessor.answer = () => fails('transient', 'http_500');
  await Promise.all([place.host(), place.host()]);
  await elapse(place, 4 * SPACING);
  const task = await taskOf(place, taskId);
  assert.equal(task.reason, 'recovery_assessment_failed');
  assert.equal(place.assessor.requests.length, task.recoveryLifetimeAttempts);
  assert.deepEqual(await codesOf(place, taskId), ['recovery_assessment_failed']);
});
