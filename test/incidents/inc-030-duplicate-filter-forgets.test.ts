import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import { ANNA, Installation, OPTIONS } from '../support/host.ts';

/** The filter is the inbox itself: how many come in between is of no account to it. */
const OTHERS = 300;

test('INC-030 V1 a message that comes again is one entry, one turn and one answer, however late', async () => {
  const place = new Installation();
  let engine = await place.host();
  const conversationId = await talkTo(engine);
  const again = { externalId: 'event-1' };
  const first = await say(engine, conversationId, 'the same', again);
  await restOf(engine);
  place.clock.advance(6 * MINUTE);
  assert.equal(await say(engine, conversationId, 'the same', again), first);
  place.clock.advance(2 * HOUR);
  const both = await Promise.all([
    say(engine, conversationId, 'the same', again),
    say(engine, conversationId, 'the same', again),
  ]);
  assert.deepEqual(both, [first, first]);
  await engine.stop(0);
  engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  for (let other = 0; other < OTHERS; other += 1)
    // oxlint-disable-next-line no-await-in-loop -- one message comes after the other
    await say(engine, conversationId, '/why', { externalId: `other-${other}` });
  assert.equal(await say(engine, conversationId, 'the same', again), first, 'after a restart');
  await pass();
  const entries = (await place.rows('message')).filter(
    ({ external_id: id }) => id === again.externalId,
  );
  assert.equal(entries.length, 1);
  assert.equal((await place.rows('turn')).length, 1);
  assert.equal(place.model.requests.length, 1);
  await engine.stop(0);
});

test('INC-030 the same id on another channel address is another message', async () => {
  const place = new Installation();
  const engine = await place.host();
  const here = await talkTo(engine);
  const first = await say(engine, here, 'the same', { externalId: 'event-1' });
  const conversationId = await engine.openConversation({
    channel: 'terminal',
    address: 'there',
    principal: ANNA,
  });
  const other = await say(engine, conversationId, 'the same', { externalId: 'event-1' });
  assert.notEqual(other, first);
  await restOf(engine);
  assert.equal((await place.rows('turn')).length, 2);
  await engine.stop(0);
});
