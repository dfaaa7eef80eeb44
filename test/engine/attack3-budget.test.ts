// What is spent is counted, whatever becomes of the call that spent it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import { fails, Installation, says, taskIn } from '../support/host.ts';
import { eventually, say, talkTo } from '../support/acts.ts';

/** An answer that was paid for and is of no use. */
function empty(): ModelOutcome {
  const fault = fails('transient', 'empty');
  return { ...fault, usage: { inputTokens: 100, outputTokens: 1, cost: 7 } };
}

test('V15 T-18 what the tries of a model call used that failed is counted', async () => {
  const place = new Installation();
  place.model.answer = () => (place.model.requests.length <= 3 ? empty() : says('done'));
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'Count the files');
  await eventually(() => {
    place.clock.advance(SECOND);
    return place.model.requests.length === 4;
  });
  const { tokensUsed, costUsed } = await taskIn(engine, here, 'completed');
  assert.deepEqual([tokensUsed, costUsed], [3 * 101 + 15, 3 * 7 + 3]);
  await engine.stop(0);
});

test('V15 what a call used that no model answered is counted too', async () => {
  const place = new Installation();
  const refusal = {
    ...fails('refused', 'http_400'),
    usage: { inputTokens: 9, outputTokens: 0, cost: 2 },
  };
  place.model.answer = () => refusal;
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'Count the files');
  const { tokensUsed, costUsed } = await taskIn(engine, here, 'failed');
  assert.deepEqual([tokensUsed, costUsed], [9, 2]);
  await engine.stop(0);
});
