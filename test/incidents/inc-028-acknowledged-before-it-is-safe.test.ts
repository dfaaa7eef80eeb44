import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, pass, restOf, say, talkTo } from '../support/acts.ts';
import { ANNA, Installation, says } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';

test('INC-028 T-1 what is not in the inbox is not acknowledged, also when a later message is', async () => {
  const place = new Installation();
  place.model.answer = () => says('done');
  let accepted = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'inbox.accept') return undefined;
    accepted += 1;
    return accepted === 1 ? 'hangs' : undefined;
  });
  const first = await place.host({ store });
  const conversationId = await talkTo(first);
  let isAcknowledged = false;
  const lost = { conversationId, text: 'the first', principal: ANNA, externalId: 'x1' };
  void first.acceptMessage(lost).finally(() => (isAcknowledged = true));
  await eventually(() => accepted === 1);
  await say(first, conversationId, 'the second', { externalId: 'x2' });
  await pass();
  assert.equal(isAcknowledged, false);
  // Its host dies; the platform, which was told nothing, sends it again, and once more.
  const engine = await place.host();
  for (const _ of [1, 2]) await say(engine, conversationId, 'the first', { externalId: 'x1' });
  await restOf(engine);
  const messages = (await place.rows('message')).map(({ external_id: id, state }) => [id, state]);
  assert.deepEqual(messages, [
    ['x2', 'done'],
    ['x1', 'done'],
  ]);
  const replies = (await place.rows('outbox')).filter(({ kind }) => kind === 'reply');
  assert.equal(replies.length, 2);
  await engine.stop(0);
});
