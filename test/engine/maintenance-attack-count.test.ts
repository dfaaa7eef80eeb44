import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import { heldCall, pass, restOf, say, talkTo } from '../support/acts.ts';
import { fails, Installation, OPTIONS, says } from '../support/host.ts';
import { later, repliesIn, toldOf } from './maintenance-support.ts';

const WINDOW = 8_000;
const MESSAGES = 40;

/** A provider with a window of its own that counts so many tokens for a character, and what it refused. */
function countsBy(place: Installation, perChar: number, reply: string): { refused: number } {
  const seen = { refused: 0 };
  place.model.contextWindow = WINDOW;
  place.model.answer = (request): ModelOutcome => {
    const inputTokens = Math.ceil(sizeOf(request) * perChar);
    if (inputTokens > WINDOW) {
      seen.refused += 1;
      return fails('refused', 'context_too_long');
    }
    const usage = { inputTokens, outputTokens: Math.ceil(reply.length * perChar), cost: 0 };
    return { ...says(reply), usage };
  };
  return seen;
}

function sizeOf({ system, messages, tools }: ModelRequest): number {
  return system.length + JSON.stringify(messages).length + JSON.stringify(tools).length;
}

describe('a conversation is counted as its provider counts', () => {
  for (const [language, perChar, words] of [
    ['of one token a character', 1, '你好'],
    ['of five characters a token', 0.2, 'lorem ipsu'],
  ] as const) {
    test(`M-13 M-19 in a language ${language} it goes on for ever, with no failure and no refusal`, async () => {
      const place = new Installation();
      const seen = countsBy(place, perChar, words.repeat(150));
      const engine = await place.host();
      const here = await talkTo(engine);
      for (let n = 0; n < MESSAGES; n += 1) {
        // A third of the window now and then, right behind a request that nearly filled it.
        const chars = (n % 7 === 0 ? 2_800 : 200) / perChar;
        await say(engine, here, words.repeat(chars / words.length));
        await later(place, 1_000);
      }
      await restOf(engine);
      const operations = await place.rows('operation');
      assert.ok(operations.length > 2, 'it was maintained again and again');
      for (const { state, lifetime_failures: failures } of operations)
        assert.deepEqual({ state, failures }, { state: 'done', failures: 0 });
      assert.equal((await repliesIn(place, here)).length, MESSAGES);
      assert.equal(seen.refused, 0);
      assert.deepEqual(await toldOf(place, here), []);
      await engine.stop(0);
    });
  }
});

test('a request holds every word of turns that have taken up many at once', async () => {
  const place = new Installation();
  const options = { ...OPTIONS, whileBusy: 'collect' } as const;
  const engine = await place.host({ options });
  const here = await talkTo(engine);
  const said: string[] = [];
  const sayOne = async (text: string): Promise<void> => {
    said.push(text);
    await say(engine, here, text);
  };
  for (let turn = 0; turn < 30; turn += 1) {
    const first = heldCall();
    place.model.answer = first.hold;
    await sayOne(`turn ${turn}.`);
    await first.begun;
    for (let n = 0; n < 18; n += 1) await sayOne(`word ${turn}-${n}.`);
    place.model.answer = () => says('ok');
    first.release(says('ok'));
    await restOf(engine);
  }
  await engine.stop(0);
  // What a host remembers of it goes with the host.
  const next = await place.host({ options });
  await say(next, here, 'and now?');
  await restOf(next);
  await pass();
  const asked = JSON.stringify(place.model.requests.at(-1)?.messages);
  assert.ok(said.length > 500, 'more than one read gives');
  assert.deepEqual(
    said.filter((text) => !asked.includes(text)),
    [],
  );
  await next.stop(0);
});
