import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import { fails, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { eventually, order, pass, wordsOf } from '../support/acts.ts';

// The commonest outage: the provider lists its models while every call fails.
test('T-18 T-12 a day without the provider is told once, uses up no turn, and is gone on with', async () => {
  const place = new Installation();
  place.model.answer = () => fails('transient', 'http_500');
  const engine = await place.host({ options: { ...OPTIONS, turnsLimit: 2, deadlineMs: 2 * DAY } });
  const run = await order(engine, 'hello');
  const end = place.clock.now() + DAY;
  await eventually(async () => {
    await pass(2);
    place.clock.advance(2 * 60_000);
    return place.clock.now() >= end;
  });
  const turns = (await place.rows('turn')).length;
  assert.ok(turns > 3, `${turns} turns have found out`);
  const [waiting] = await place.rows('task');
  assert.deepEqual([waiting?.['wait_kind'], waiting?.['turns_used']], ['provider', 1]);
  assert.deepEqual(
    (await place.rows('outbox')).map(({ code }) => code),
    ['awaits_provider'],
  );
  const asked = place.model.requests.length;
  assert.ok(asked < 6 + 2 * (DAY / HOUR) * 60, `${asked} calls in a day`);

  place.model.answer = () => says('here again');
  await eventually(async () => {
    await pass(2);
    place.clock.advance(60_000);
    return (await place.rows('task'))[0]?.['state'] === 'completed';
  });
  await taskIn(engine, run.conversationId, 'completed');
  const words = (await place.rows('outbox')).map(wordsOf);
  assert.equal(words.length, 2, words.join('\n'));
  assert.equal(words.at(-1), 'here again');
  await engine.stop(0);
});
