import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import { STRICT_CHARS_PER_TOKEN } from '../../src/testing/model-strict.ts';
import { restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { ADMIN, Installation, says } from '../support/host.ts';
import {
  comesTo,
  later,
  messagesOf,
  noticesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  toldOf,
} from '../engine/maintenance-support.ts';

const WINDOW = 8_000;
/** Nine thousand tokens, as the provider counts them. */
const TOO_LARGE = 'i'.repeat(9_000 * STRICT_CHARS_PER_TOKEN);

for (const when of ['from the start', 'in the middle'] as const)
  test(`INC-010 a base of 9k in a window of 8k, ${when}: its largest part is named once, what is said is kept, and all goes on once it is smaller (heartbeats are not built: ticks in their place)`, async () => {
    const place = new Installation();
    place.model.contextWindow = WINDOW;
    place.model.strictWindow = WINDOW;
    place.model.answer = ({ messages }) => says(`to: ${messages.at(-1)?.text}`);
    let instructions = 'You are a test.';
    const given = { options: ONE_BY_ONE, instructions: () => Promise.resolve(instructions) };
    let engine = await place.host(given);
    const here = await talkTo(engine);
    if (when === 'in the middle') {
      await say(engine, here, 'before it grew');
      await restOf(engine);
    }
    const before = (await repliesIn(place, here)).length;
    instructions = TOO_LARGE;
    const words = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    for (const [index, text] of words.entries()) {
      await say(engine, here, text);
      await later(place, 31 * SECOND);
      if (index !== 7 && index !== 14) continue;
      await engine.stop(0);
      engine = await place.host(given);
    }
    const blocked = await comesTo(engine, here, 'blocked');
    // What the provider said of smaller instructions is all that is known, until it has said more.
    const tries = when === 'from the start' ? 0 : 1;
    assert.ok(
      place.summariser.requests.length <= tries,
      'no operation can help, and none is tried',
    );
    assert.ok(place.model.requests.length <= before + tries, 'nothing is sent again and again');
    assert.equal(blocked.reason, 'base_too_large');
    assert.ok(blocked.attempts <= tries);
    const told = (await noticesOf(place, here)).filter(({ level }) => level !== 'waiting');
    const codes = told.map(({ code }) => code);
    assert.deepEqual(codes, ['maintenance_too_large', 'maintenance_kept']);
    const [notice] = told;
    const sizes = JSON.parse(String(notice?.['params'])) as Readonly<Record<string, number>>;
    const parts = ['instructions', 'tools', 'seed', 'message'].map((part) => sizes[part] ?? 0);
    assert.equal(Math.max(...parts), sizes['instructions'], 'the part that is too large');
    assert.match(wordsOf(notice ?? {}), new RegExp(`/admit ${blocked.id}`));
    // The first is of the turn that was ended for it; all others wait as they were said.
    const kept = (await messagesOf(place, here)).slice(before + 1);
    assert.ok(kept.every(({ state }) => state === 'unclaimed'));

    instructions = 'You are a test.';
    const order = {
      operationId: blocked.id,
      expectedVersion: blocked.version,
      receiptId: 'mended',
    };
    await engine.admit({ ...order, principal: ADMIN, channel: 'api' });
    const done = await comesTo(engine, here, 'done');
    assert.deepEqual([done.epoch, done.failures], [2, 0], 'its count starts at 0');
    await restOf(engine);
    const replies = await repliesIn(place, here);
    assert.equal(replies.length, before + 20);
    assert.deepEqual(
      replies.slice(before + 1),
      words.slice(1).map((text) => `to: ${text}`),
      'in order',
    );
    assert.ok((await messagesOf(place, here)).every(({ state }) => state === 'done'));
  });

test('INC-010 a summary that was produced is no success while the next request does not fit: a real failure, the seventh of which needs a person', async () => {
  const place = new Installation();
  place.model.contextWindow = WINDOW;
  place.model.strictWindow = WINDOW;
  place.model.answer = () => says('a'.repeat(1_500));
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  // What was counted for the last request was wrong by far: whatever is planned is too much.
  place.summariser.answer = ({ system }) => {
    const [, half = '0'] = /at most (\d+) characters/.exec(system) ?? [];
    return says(JSON.stringify({ summary: 's'.repeat(5 * Number(half)) }));
  };
  for (let n = 0; n < 20; n += 1) {
    await say(engine, here, `message ${n}`);
    await later(place, 61 * SECOND);
  }
  for (let n = 0; n < 8; n += 1) await later(place, 61 * SECOND);
  await say(engine, here, 'and now?');
  const { state, reason, failures } = await operationOf(place, here);
  assert.deepEqual([state, reason, failures], ['blocked', 'exhausted', 7]);
  assert.equal(place.summariser.requests.length, 7);
  assert.deepEqual(await toldOf(place, here), [
    'maintenance_waiting',
    'maintenance_exhausted',
    'maintenance_kept',
  ]);
});
