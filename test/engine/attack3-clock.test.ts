// A wall clock that is not believed ends no turn either (design principle 8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/kernel/time.ts';
import { asks, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { askedIn, heldCall, restOf, say, talkTo } from '../support/acts.ts';

const WEEK = { options: { ...OPTIONS, deadlineMs: 7 * DAY } };

test('T-7 a turn whose clock jumps past its deadline goes on', async () => {
  const place = new Installation();
  const held = heldCall();
  place.model.answer = () => (place.model.requests.length === 1 ? held.hold() : says('done'));
  const engine = await place.host(WEEK);
  const here = await talkTo(engine);
  await say(engine, here, 'Count the files');
  await held.begun;
  place.clock.jump(30 * DAY);
  held.release(asks(['look', {}]));
  await restOf(engine);
  await taskIn(engine, here, 'completed');
  await engine.stop(0);
});

test('T-7 an answer to a question is taken up though the clock says that it is too late', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'book it'
      ? asks(['task_wait', { for: 'answer', question: 'Which day?' }])
      : says('booked');
  const engine = await place.host(WEEK);
  const here = await talkTo(engine);
  await say(engine, here, 'book it');
  const { id } = await taskIn(engine, here, 'waiting');
  place.clock.jump(30 * DAY);
  assert.equal(engine.health().clock.isTrusted, false);
  await say(engine, here, 'Friday');
  await restOf(engine);
  assert.equal((await taskIn(engine, here, 'completed')).id, id);
  await engine.stop(0);
});
