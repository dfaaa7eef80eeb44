import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDays, sumUsed } from '../../src/engine/budget/usage.ts';
import { eventually, restOf, say, talkTo } from '../support/acts.ts';
import { Installation, says } from '../support/host.ts';

test('T-20 what the summaries of a day used stands beside the models of its turns', async () => {
  const place = new Installation();
  place.model.contextWindow = 8_000;
  place.model.strictWindow = 8_000;
  place.model.answer = () => says('x'.repeat(6_000));
  const engine = await place.host();
  const conversation = await talkTo(engine);
  for (let turn = 0; turn < 4; turn += 1) {
    await say(engine, conversation, `words ${'y'.repeat(2_000)}`);
    await restOf(engine);
    await eventually(() => engine.health().maintaining.length === 0);
  }
  assert.ok(place.summariser.requests.length > 0);
  const [today] = await readDays(engine.parts, 1, place.clock.now());
  const rows = today?.rows ?? [];
  const summaries = rows.find(({ model }) => model === 'summaries');
  const calls = place.summariser.requests.length;
  assert.deepEqual(summaries, {
    provider: null,
    model: 'summaries',
    inputTokens: 10 * calls,
    outputTokens: 5 * calls,
    cost: 3 * calls,
    calls,
    unpriced: 0,
  });
  const turns = rows.filter((row) => row !== summaries);
  assert.equal(sumUsed(rows).cost, sumUsed(turns).cost + 3 * calls);
  await engine.stop(0);
});
