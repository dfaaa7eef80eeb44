// What is said after `/new` belongs to the fresh session, whatever still runs of the old one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Installation, OPTIONS, says } from '../support/host.ts';
import { heldCall, restOf, say, talkTo } from '../support/acts.ts';
import { type } from '../support/orders.ts';

for (const whileBusy of ['steer', 'interrupt'] as const)
  test(`W-2 what is said after /new does not join the turn that runs in the old session: ${whileBusy}`, async () => {
    const place = new Installation();
    const held = heldCall();
    place.model.answer = () => (place.model.requests.length === 1 ? held.hold() : says('done'));
    const engine = await place.host({ options: { ...OPTIONS, whileBusy } });
    const here = await talkTo(engine);
    await say(engine, here, 'an old story');
    await held.begun;
    await type(engine, here, '/new');
    await say(engine, here, 'something fresh');
    held.release(says('the end of the story'));
    await restOf(engine);
    const tasks = await place.rows('task');
    assert.deepEqual(
      tasks.map((task) => [task['mandate_text'], task['state']]),
      [
        ['an old story', 'completed'],
        ['something fresh', 'completed'],
      ],
    );
    assert.notEqual(tasks[0]?.['session_id'], tasks[1]?.['session_id']);
    const last = JSON.stringify(place.model.requests.at(-1)?.messages);
    assert.equal(last.includes('story'), false);
    await engine.stop(0);
  });
