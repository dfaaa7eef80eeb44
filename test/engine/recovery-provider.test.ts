import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { asideAccount } from '../../src/engine/budget/aside.ts';
import { restOf, say } from '../support/acts.ts';
import { fails, Installation, judges, OPTIONS } from '../support/host.ts';
import { codesOf, cutWork, elapse, SPACING, taskOf } from './recovery-support.ts';
import { mortal } from './upkeep-support.ts';

describe('a provider that cannot be reached', () => {
  test('R-15 the first attempt is a real one; then none is reserved until it returns', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    await place.host();
    await elapse(place, SPACING + SECOND);
    const waits = await taskOf(place, taskId);
    assert.deepEqual(
      [waits.state, waits.waitKind, waits.reason],
      ['waiting', 'provider', 'interrupted'],
    );
    assert.equal(waits.waitId, asideAccount(place.assessor.account));
    assert.equal(waits.recoveryAttempts, 1);
    assert.deepEqual(await codesOf(place, taskId), []);
    await elapse(place, 2 * HOUR);
    assert.equal(place.assessor.requests.length, 1, 'a probe is no attempt');
    assert.deepEqual(await codesOf(place, taskId), ['assessment_unreached'], 'told once');
    place.assessor.alive = true;
    place.assessor.answer = () => judges('continue');
    await elapse(place, 6 * MINUTE);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    assert.equal(place.assessor.requests.length, 2);
  });

  test('R-15 one that answers the probe but fails the assessment has failed an attempt', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    await place.host();
    await elapse(place, 3 * SPACING);
    assert.equal(place.assessor.requests.length, 3);
    assert.equal((await taskOf(place, taskId)).reason, 'recovery_assessment_failed');
  });

  test('R-15 what waits for it ends at its deadline, and after a start the first attempt is real', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs: HOUR };
    const { taskId } = await cutWork(place, { options });
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    const { kill } = await mortal(place, { options });
    await elapse(place, SPACING + SECOND);
    kill();
    assert.equal((await taskOf(place, taskId)).waitKind, 'provider');
    await place.host({ options });
    await elapse(place, 2 * HOUR);
    assert.equal((await taskOf(place, taskId)).state, 'expired');
  });
});

describe('a provider that cannot be reached by the assessment alone', () => {
  async function parked(place: Installation) {
    const cut = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    const host = await mortal(place, { assessment: place.assessor, model: place.model });
    await elapse(place, SPACING + SECOND);
    assert.equal((await taskOf(place, cut.taskId)).waitKind, 'provider');
    return { ...cut, ...host };
  }

  test('R-15 limits no turn: a person is answered at once', async () => {
    const place = new Installation();
    // Both are asked through one account.
    Object.defineProperty(place.assessor, 'account', { value: place.model.account });
    const { engine, conversationId } = await parked(place);
    const id = await say(engine, conversationId, 'are you there?');
    await restOf(engine);
    assert.equal((await engine.store.query('message.byId', { id }))?.state, 'done');
    // And what reaches the provider lets the assessment be made, though no probe does.
    place.assessor.answer = () => judges('continue');
    await elapse(place, SPACING);
    const states = (await place.rows('task')).map((row) => row['state']);
    assert.deepEqual(states, ['completed', 'completed']);
  });

  test('R-15 after a start the first attempt is a real one again, whatever a probe says', async () => {
    const place = new Installation();
    const { taskId, kill } = await parked(place);
    kill();
    place.assessor.answer = () => judges('continue');
    await place.host();
    await elapse(place, SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
  });
});
