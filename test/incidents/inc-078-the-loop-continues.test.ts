import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR } from '../../src/kernel/time.ts';
import { order, restOf, talkTo } from '../support/acts.ts';
import { ADMIN, asks, Installation, says } from '../support/host.ts';

test('INC-078 T-8 an answer that never comes is urged once, and then by nobody but a person', async () => {
  const place = new Installation();
  place.model.answer = () => says('');
  const engine = await place.host();
  const { taskId } = await order(engine, 'the goal', await talkTo(engine));
  await restOf(engine);
  assert.equal(place.model.requests.length, 2);
  for (let orders = 1; orders <= 3; orders += 1) {
    place.clock.advance(HOUR);
    await restOf(engine);
    await engine.resumeTask({ taskId, principal: ADMIN, channel: 'api' });
    await restOf(engine);
    const task = await engine.store.query('task.byId', { id: taskId });
    assert.deepEqual([task?.state, task?.reason], ['blocked', 'no_outcome']);
    const urged = place.model.requests.at(-1)?.messages.slice(1) ?? [];
    assert.equal(urged.length, 1 + orders, 'the correction, and what each order brought');
    assert.equal(urged.filter(({ text }) => text.startsWith('Your last turn ended')).length, 1);
  }
  assert.equal(place.model.requests.length, 5);
  await engine.stop(0);
});

test('INC-078 V5 a model that only ever calls tools ends without progress, and stays there', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', { at: place.model.requests.length }]);
  const engine = await place.host();
  const { taskId } = await order(engine, 'the goal', await talkTo(engine));
  await restOf(engine);
  const task = await engine.store.query('task.byId', { id: taskId });
  assert.deepEqual([task?.state, task?.reason], ['blocked', 'no_progress']);
  const calls = place.model.requests.length;
  assert.ok(calls <= 100, `${calls} calls`);
  place.clock.advance(24 * HOUR);
  await restOf(engine);
  assert.equal(place.model.requests.length, calls);
  await engine.stop(0);
});
