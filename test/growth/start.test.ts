import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { ANNA, Installation, OPTIONS, until } from '../support/host.ts';
import { CountingStore, type Counts } from './counting-store.ts';

const LANES = 8;

/** What a host asks of the store from its start until it is idle, over so many ended tasks. */
async function startOver(ended: number): Promise<Counts> {
  const place = new Installation();
  const former = await place.host();
  const lanes = Array.from({ length: LANES }, (_, lane) => talk(former, lane, ended / LANES));
  await Promise.all(lanes);
  await former.stop(0);
  assert.equal((await place.rows('task')).length, ended);
  const store = new CountingStore(place.store);
  const engine = await place.host({ store });
  place.clock.advance(OPTIONS.tickMs);
  await engine.stop(0);
  return store.take();
}

async function talk(engine: Engine, lane: number, turns: number): Promise<void> {
  const address = `lane${lane}`;
  const conversationId = await engine.openConversation({
    channel: 'api',
    address,
    principal: ANNA,
  });
  for (let turn = 0; turn < turns; turn += 1) {
    const said = await engine.acceptMessage({ conversationId, text: 'hello', principal: ANNA });
    if (said.kind !== 'accepted') assert.fail();
    await until(engine, conversationId, async () => {
      const message = await engine.store.query('message.byId', { id: said.messageId });
      return message?.state === 'done';
    });
  }
}

test('a start over 2,000 ended tasks asks no more than one over 16', async () => {
  const few = await startOver(16);
  assert.ok(few.commits > 0 && few.queries > 0);
  assert.deepEqual(await startOver(2_000), few);
});
