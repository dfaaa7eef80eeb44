import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restOf, pass, say, talkTo } from '../support/acts.ts';
import { asks, Installation, judges, says } from '../support/host.ts';
import { codesOf, elapse, SPACING, taskOf } from '../engine/recovery-support.ts';
import { mortal } from '../engine/upkeep-support.ts';

test('INC-002 a command that hangs comes back three times at most, over ten restarts and redeliveries', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', { at: 'the dead command' }]);
  place.tools.perform = () => new Promise(() => {});
  place.assessor.answer = () => judges('continue', 'it looks harmless');
  const first = await mortal(place);
  const here = await talkTo(first.engine);
  const id = await say(first.engine, here, 'run the command', { externalId: 'update-500' });
  await pass();
  first.kill();
  const started = place.tools.ran.length;
  for (let start = 0; start < 10; start += 1) {
    const { engine, kill } = await mortal(place);
    const again = await say(engine, here, 'run the command', { externalId: 'update-500' });
    assert.equal(again, id, 'a redelivery is the message that there was');
    await elapse(place, SPACING);
    kill();
  }
  const message = (await place.rows('message')).find((row) => row['id'] === id);
  const taskId = message?.['task_id'] as `task_${string}`;
  const task = await taskOf(place, taskId);
  assert.deepEqual([task.state, task.reason], ['blocked', 'recovery_no_progress']);
  assert.equal(task.recoveryLifetimeAttempts, 3);
  assert.equal(place.assessor.requests.length, 3);
  assert.equal(place.tools.ran.length - started, 3, 'once more for each `continue`, and no more');
  assert.deepEqual(await codesOf(place, taskId), ['recovery_no_progress']);

  place.model.answer = () => says('yes?');
  const engine = await place.host();
  const other = await say(engine, here, 'are you there?');
  await restOf(engine);
  const answered = await engine.store.query('message.byId', { id: other });
  assert.deepEqual([answered?.state, answered?.taskId === taskId], ['done', false]);
  assert.equal((await taskOf(place, taskId)).state, 'blocked');
});

test('INC-002 a stop is kept over restarts: a stopped task is never assessed', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', {}]);
  place.tools.perform = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const here = await talkTo(engine);
  await say(engine, here, 'run the command');
  await pass();
  await say(engine, here, '/stop');
  await pass();
  kill();
  for (let start = 0; start < 3; start += 1) {
    const next = await mortal(place);
    await elapse(place, SPACING);
    next.kill();
  }
  assert.equal(place.assessor.requests.length, 0);
  assert.deepEqual(
    (await place.rows('task')).map((row) => row['state']),
    ['stopped'],
  );
});
