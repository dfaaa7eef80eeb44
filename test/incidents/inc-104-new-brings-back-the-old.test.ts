import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, Installation, OPTIONS, says } from '../support/host.ts';
import { askedIn, heldCall, restOf, say, talkTo, wordsOf } from '../support/acts.ts';

test('INC-104 W-2 after /new nothing of the old session is asked, and nothing queued for it starts', async () => {
  const place = new Installation();
  const held = heldCall();
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked === 'an old secret') return held.hold();
    if (asked === 'remind me') return asks(['task_wait', { for: 'instant', seconds: 600 }]);
    return says(`heard ${asked}`);
  };
  const engine = await place.host({ options: { ...OPTIONS, whileBusy: 'wait' } });
  const here = await talkTo(engine);
  await say(engine, here, 'remind me');
  await restOf(engine);
  await say(engine, here, 'an old secret');
  await held.begun;
  for (const text of ['queued one', 'queued two', 'queued three']) await say(engine, here, text);
  await say(engine, here, '/new');
  await say(engine, here, 'a fresh question');
  held.release(says('the old answer'));
  await restOf(engine);

  const requests = place.model.requests.map((request) => JSON.stringify(request.messages));
  const fresh = requests.find((text) => text.includes('a fresh question')) ?? assert.fail();
  for (const old of ['old secret', 'old answer', 'remind me', 'queued'])
    assert.ok(!fresh.includes(old), old);
  assert.ok(!requests.some((text) => text.includes('queued')), 'nothing queued has a turn');
  const words = (await place.rows('outbox')).map(wordsOf);
  const said =
    words.find((text) => text.includes('fresh session')) ?? assert.fail(words.join('\n'));
  assert.match(said, /3/);
  assert.match(said, /remind me/);
  assert.ok(words.includes('heard a fresh question'));
  assert.ok(
    words.some((text) => text.includes('the old answer')),
    'what ran is answered',
  );
  await engine.stop(0);
});
