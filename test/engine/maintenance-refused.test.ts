// Sessions that are maintained though their model's window would hold them (M-13, M-19).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { restOf, say, talkTo } from '../support/acts.ts';
import {
  asks,
  fails,
  Installation,
  says,
  ScriptedModel,
  type GivenParts,
} from '../support/host.ts';
import { comesTo, elapse, ONE_BY_ONE, repliesIn } from './maintenance-support.ts';

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

async function open(place: Installation, given: GivenParts = {}): Promise<Stand> {
  const engine = await place.host({ options: ONE_BY_ONE, ...given });
  return { place, engine, here: await talkTo(engine) };
}

test('M-13 a session of very many steps is maintained however little of the window it takes, and few are kept', async () => {
  const place = new Installation();
  place.model.contextWindow = 100_000_000;
  const stand = await open(place);
  const { engine, here } = stand;
  place.model.answer = ({ messages }) => {
    if (messages.at(-1)?.role === 'tool') return says('looked');
    const calls = Array.from({ length: 9 }, (_, part) => ['look', { part }] as const);
    return asks(...calls);
  };
  let turns = 0;
  while ((await place.rows('operation')).length === 0) {
    turns += 1;
    await say(engine, here, `message ${turns}`);
    await restOf(engine);
  }
  const { length: steps } = await place.rows('step');
  assert.ok(steps >= LIMITS.sessionStepsMax && steps < LIMITS.sessionStepsMax + 20, `${steps}`);
  await comesTo(engine, here, 'done');
  await say(engine, here, 'and now?');
  await restOf(engine);
  const { messages = [] } = place.model.requests.at(-2) ?? {};
  const kept = messages.filter(({ role }) => role !== 'user').length;
  assert.ok(kept > 0 && kept <= LIMITS.sessionStepsKept, `${kept} steps are kept`);
});

describe('a request that the provider refuses as too long', () => {
  test('M-13 a provider’s “too long” begins an operation in place of a retry, and no fallback is asked the same', async () => {
    const place = new Installation();
    const fallback = new ScriptedModel(() => says('from the fallback'), 'fallback');
    const stand = await open(place, { fallbacks: [fallback] });
    const sizes: number[] = [];
    const most = 20_000;
    place.model.answer = ({ messages }) => {
      const size = JSON.stringify(messages).length;
      sizes.push(size);
      // It reports nothing that would have said so before.
      return size > most ? fails('refused', 'context_too_long') : says('x'.repeat(900));
    };
    for (let n = 0; n < 40; n += 1) {
      await say(stand.engine, stand.here, `message ${n} ${'y'.repeat(200)}`);
      await restOf(stand.engine);
    }
    const refused = sizes.flatMap((size, index) => (size > most ? [index] : []));
    assert.ok(refused.length > 0);
    for (const index of refused)
      assert.ok((sizes[index + 1] ?? 0) < most, 'the next request is another, smaller one');
    assert.equal(fallback.requests.length, 0);
    assert.equal((await repliesIn(place, stand.here)).length, 40, 'each is answered');
    const rows = await place.rows('operation');
    assert.equal(rows.length, refused.length);
    for (const { window, state } of rows) {
      assert.ok(Number(window) < place.model.contextWindow, 'what was refused is the limit');
      assert.equal(state, 'done');
    }
  });

  test('M-19 what was refused holds for what the host adds of its own: the next request is counted as it is sent', async () => {
    const place = new Installation();
    const stand = await open(place);
    const sizes: number[] = [];
    const most = 4_000;
    place.model.answer = ({ messages }) => {
      const size = JSON.stringify(messages).length;
      sizes.push(size);
      return size > most ? fails('refused', 'context_too_long') : says('x'.repeat(900));
    };
    for (let n = 0; n < 20; n += 1) {
      await say(stand.engine, stand.here, `message ${n} ${'y'.repeat(200)}`);
      await restOf(stand.engine);
      await elapse(place, 1_000);
    }
    assert.equal((await repliesIn(place, stand.here)).length, 20);
    const rows = await place.rows('operation');
    assert.ok(rows.every(({ state, failures }) => state === 'done' && failures === 0));
    assert.equal(rows.length, sizes.filter((size) => size > most).length, 'one for each refusal');
    for (const [index, size] of sizes.entries())
      if (size > most) assert.ok((sizes[index + 1] ?? 0) <= most, 'the next one is taken');
  });
});
