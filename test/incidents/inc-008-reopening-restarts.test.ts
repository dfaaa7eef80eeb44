import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN, asks, Installation, judges, OPTIONS, says } from '../support/host.ts';
import { order, pass, restOf } from '../support/acts.ts';
import { openDoorOf } from '../http/door.ts';
import { elapse, SPACING, taskOf } from '../engine/recovery-support.ts';
import { mortal } from '../engine/upkeep-support.ts';

test('INC-008 opening, listing and subscribing starts nothing; an admission continues exactly once', async (context) => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const { taskId, runId, conversationId } = await order(engine, 'an unfinished goal');
  await pass();
  kill();
  place.model.answer = () => says('done');
  place.assessor.answer = () => judges('inconclusive');
  const door = await openDoorOf(context, place);
  await elapse(place, SPACING);
  const calls = place.model.requests.length;
  const { version } = await taskOf(place, taskId);
  const paths = [
    `/v1/conversations/${conversationId}`,
    `/v1/conversations/${conversationId}/transcript`,
    `/v1/tasks/${taskId}`,
    `/v1/tasks/${taskId}/why`,
    `/v1/runs/${runId}/events`,
    '/v1/tasks',
    '/v1/attention',
  ];
  for (let time = 0; time < 10; time += 1)
    for (const path of paths)
      assert.equal((await door.ask('GET', path, { key: 'ops' })).status, 200, path);
  await elapse(place, SPACING);
  assert.equal(place.model.requests.length, calls, '0 model calls');
  assert.equal((await taskOf(place, taskId)).version, version);

  place.assessor.answer = () => judges('continue');
  const path = `/v1/tasks/${taskId}/resume`;
  assert.equal((await door.ask('POST', path, { key: 'ops', body: {} })).status, 200);
  await elapse(place, SPACING);
  assert.equal((await taskOf(place, taskId)).state, 'completed');
  assert.equal(place.model.requests.length, calls + 1, 'exactly one continuation');
});

test('INC-008 a pause by hand is lifted by an order alone, over restarts', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 60 }]);
  const first = await mortal(place, { options: OPTIONS });
  const { taskId } = await order(first.engine, 'a goal');
  await restOf(first.engine);
  const paused = await first.engine.pauseTask({ taskId, principal: ADMIN, channel: 'api' });
  assert.equal(paused.kind, 'ordered');
  first.kill();
  place.model.answer = () => says('done');
  for (let start = 0; start < 2; start += 1) {
    const next = await mortal(place);
    await elapse(place, 3 * SPACING);
    next.kill();
    assert.equal((await taskOf(place, taskId)).state, 'paused');
  }
  assert.equal(place.assessor.requests.length, 0);
  assert.equal(place.model.requests.length, 1);
  const engine = await place.host();
  await engine.resumeTask({ taskId, principal: ADMIN, channel: 'api' });
  await restOf(engine);
  assert.equal((await taskOf(place, taskId)).state, 'completed');
});
