import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedIn, heldCall, order, restOf, say, talkTo } from '../support/acts.ts';
import { ANNA, Installation, OPTIONS, says } from '../support/host.ts';

const LATER = ['one', 'two', 'three'];

for (const ends of ['is stopped', 'is killed', 'is answered'] as const) {
  test(`INC-032 T-10 what came while a turn ran keeps its order when it ${ends}`, async () => {
    const place = new Installation();
    const options = { ...OPTIONS, whileBusy: 'wait' } as const;
    let engine = await place.host({ options });
    const conversationId = await talkTo(engine);
    const held = heldCall();
    place.model.answer = held.hold;
    const run = await order(engine, 'long work', conversationId);
    await held.begun;
    for (const text of LATER) await say(engine, conversationId, text);
    place.model.answer = (request) => says(`answer to ${askedIn(request)}`);
    if (ends === 'is killed') engine = await place.host({ options: { ...options, pid: 2 } });
    if (ends === 'is stopped')
      await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
    if (ends !== 'is killed') held.release(says('the long answer'));
    await restOf(engine);
    const asked = place.model.requests.map(askedIn).filter((text) => LATER.includes(text));
    assert.deepEqual(asked, LATER, 'each once, in the order of its acceptance');
    const messages = await place.rows('message');
    assert.equal(messages.length, 1 + LATER.length, 'nothing vanished');
    const states = messages.slice(1).map(({ state }) => state);
    assert.deepEqual(states, ['done', 'done', 'done']);
    await engine.stop(0);
  });
}
