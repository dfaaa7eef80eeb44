import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldCall, order, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, BEN, Installation, says } from '../support/host.ts';

test('INC-068 T-11 two people with the same address on two channels share no conversation and no words', async () => {
  const place = new Installation();
  place.model.answer = () => says('noted');
  const engine = await place.host();
  const open = (channel: string, principal: typeof ANNA) =>
    engine.openConversation({ channel, address: '42', principal });
  const [annas, bens] = [await open('api', ANNA), await open('terminal', BEN)];
  assert.notEqual(annas, bens);
  await say(engine, annas, 'the secret of Anna');
  await restOf(engine);
  await say(engine, bens, 'what do you know?', { principal: BEN });
  await restOf(engine);
  const request = place.model.requests.at(-1);
  assert.ok(request !== undefined && !JSON.stringify(request).includes('secret of Anna'));
  await engine.stop(0);
});

test('INC-068 W-1 a stop is for the own work alone, unless it is an admin’s', async () => {
  const place = new Installation();
  const held = heldCall();
  place.model.answer = held.hold;
  const engine = await place.host();
  const { taskId } = await order(engine, 'long work', await talkTo(engine));
  await held.begun;
  const stopBy = async (principal: typeof ANNA) =>
    engine.stopTask({ taskId, principal, channel: 'api' });
  const state = async () => (await engine.store.query('task.byId', { id: taskId }))?.state;
  await stopBy(BEN);
  assert.equal(await state(), 'active', 'another person may not');
  await stopBy(ADMIN);
  assert.notEqual(await state(), 'active');
  held.release(says('too late'));
  await restOf(engine);
  assert.deepEqual(
    (await place.rows('outbox')).filter(({ kind }) => kind === 'reply'),
    [],
  );
  await engine.stop(0);
});
