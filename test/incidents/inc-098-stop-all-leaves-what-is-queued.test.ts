import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { ANNA, asks, fails, Installation, says, taskIn, until } from '../support/host.ts';
import { askedIn, eventually, heldCall, pass, restOf, say, talkTo } from '../support/acts.ts';

// One turn runs, one task is about to try its model again, one waits for an instant, one for an
// approval, and further messages wait: all of it is in the scope of one stop, and nothing starts after.
test('INC-098 W-1 stop all ends what runs, waits, is asked or queued, and nothing of it starts afterwards', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  const held = heldCall();
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked === 'later') return asks(['task_wait', { for: 'instant', seconds: 600 }]);
    if (asked === 'pay') return asks(['pay', {}]);
    return asked === 'long' ? held.hold() : says('started anew');
  };
  place.classifier.answer = () => says('{"taskId":null,"reason":"new"}');
  const engine = await place.host({ options: { ...place.parts().options, whileBusy: 'wait' } });
  const here = await talkTo(engine);
  for (const text of ['later', 'pay']) {
    await say(engine, here, text);
    await eventually(async () => (await place.rows('turn')).at(-1)?.['end'] === 'waited');
  }
  await say(engine, here, 'long');
  await held.begun;
  for (const text of ['queued one', 'queued two']) await say(engine, here, text);
  await say(engine, here, '/stop all');
  await pass();
  held.release(says('too late'));
  await restOf(engine);
  const calls = place.model.requests.length;

  place.clock.advance(HOUR);
  await pass();
  await engine.stop(0);
  const next = await place.host();
  place.clock.advance(HOUR);
  await pass();
  assert.equal(
    place.model.requests.length,
    calls,
    'nothing starts within the hour or after a restart',
  );
  const states = (await place.rows('task')).map(({ state }) => state);
  assert.deepEqual(states, ['stopped', 'stopped', 'stopped']);
  assert.deepEqual(
    (await place.rows('approval')).map(({ state }) => state),
    ['denied'],
  );
  for (const row of await place.rows('message')) assert.equal(row['state'], 'done');
  assert.equal(place.tools.ran.length, 0);
  await next.stop(0);
});

test('INC-098 a planned retry of a model call is in the scope of a stop', async () => {
  const place = new Installation();
  place.model.answer = () => fails('transient', 'http_503');
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'try');
  await eventually(() => place.model.requests.length === 1);
  const [task] = await until(engine, here, async () => {
    const open = await engine.store.query('task.openOf', { conversationId: here, limit: 1 });
    return open.length > 0 && open;
  });
  await engine.stopTask({ taskId: task?.id ?? assert.fail(), principal: ANNA, channel: 'api' });
  await taskIn(engine, here, 'stopped');
  place.clock.advance(60 * SECOND);
  await restOf(engine);
  assert.equal(place.model.requests.length, 1);
  await engine.stop(0);
});
