import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RECOVERY_FAILURES } from '../../src/core/maintenance/record.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, asks, BEN, fails, Installation, says } from '../support/host.ts';
import { elapse, operationOf } from './maintenance-support.ts';

test('M-19 V7 two sessions of a conversation that never fit share the failures of one operation', async () => {
  const place = new Installation();
  const engine = await place.host();
  const here = await talkTo(engine);
  place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which colour?' }]);
  const long = 'with much to know. '.repeat(1_000);
  await say(engine, here, `Paint the house, ${long}`);
  await restOf(engine);
  await say(engine, here, '/new');
  await restOf(engine);
  await say(engine, here, `Paint the shed, ${long}`, { principal: BEN });
  await restOf(engine);
  const [house, shed] = (await place.rows('task')).map(({ id }) => String(id));
  // Whatever is asked, and however short: the provider refuses it.
  place.model.answer = () => fails('refused', 'context_too_long');
  const answers = [
    [ANNA, house],
    [BEN, shed],
  ] as const;
  for (const [principal, replyTo] of answers)
    await engine.acceptMessage({
      conversationId: here,
      text: 'green',
      principal,
      ...(replyTo === undefined ? {} : { replyTo }),
    });
  await elapse(place, 200 * SECOND);
  const operations = await place.rows('operation');
  assert.equal(operations.length, 1, 'a new one exists only after a completed turn');
  const { state, reason, failures, id } = await operationOf(place, here);
  assert.equal(state, 'blocked');
  assert.ok(reason === 'exhausted' || reason === 'base_too_large');
  assert.ok(failures <= MAX_RECOVERY_FAILURES);
  assert.ok(place.model.requests.length < 20, 'it asks the provider a few times');
  place.model.answer = () => says('painted');
  await say(engine, here, `/admit ${id}`, { principal: ADMIN });
  await elapse(place, 10 * SECOND);
  const states = (await place.rows('task')).map((task) => task['state']);
  assert.deepEqual(states, ['completed', 'completed']);
  await engine.stop(0);
});
