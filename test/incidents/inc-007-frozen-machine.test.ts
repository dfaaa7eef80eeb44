import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import { eventually, heldCall, order, pass } from '../support/acts.ts';
import { Installation, judges, says } from '../support/host.ts';
import { elapse, taskOf } from '../engine/recovery-support.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { mortal } from '../engine/upkeep-support.ts';

// SIGSTOP for a host: nothing of it reaches the store until it is thawed.
test('INC-007 R-14 V19 a host that thaws after its lease writes nothing; one answer is given, by the other', async () => {
  const place = new Installation({ exclusive: false });
  const store = new ShakyStore(place.store);
  const frozen = heldCall();
  place.model.answer = frozen.hold;
  place.assessor.answer = () => judges('continue');
  const one = await place.host({ store });
  const { taskId } = await order(one, 'mid step');
  await frozen.begun;
  const thaw = Promise.withResolvers<void>();
  store.onQuery = () => thaw.promise;
  store.mishap = () => 'hangs';
  place.model.answer = () => says('answered by the second host');
  const two = await place.host();
  await elapse(place, 40 * SECOND);
  await eventually(async () => (await taskOf(place, taskId)).state === 'completed');

  store.onQuery = () => Promise.resolve();
  store.mishap = () => undefined;
  thaw.resolve();
  frozen.release(says('answered by the frozen host'));
  await elapse(place, 40 * SECOND);
  const replies = (await place.rows('outbox')).filter((row) => row['kind'] === 'reply');
  assert.deepEqual(
    replies.map((row) => row['text']),
    ['answered by the second host'],
  );
  assert.equal((await taskOf(place, taskId)).state, 'completed');
  await two.stop(0);
});

test('INC-007 R-14 what says that it runs without a living host is interrupted, and a new message is taken', async () => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const { taskId, conversationId } = await order(engine, 'mid step');
  await pass();
  kill();
  assert.deepEqual(
    (await place.rows('turn')).map((row) => row['state']),
    ['running'],
  );
  place.model.answer = () => says('ready');
  const next = await place.host();
  assert.deepEqual(
    (await place.rows('turn')).map((row) => row['end']),
    ['interrupted'],
  );
  assert.equal((await taskOf(place, taskId)).waitKind, 'assessment');
  const { taskId: other } = await order(next, 'something new', conversationId);
  await eventually(async () => (await taskOf(place, other)).state === 'completed');
});
