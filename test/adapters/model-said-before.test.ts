// A conversation is sent again with each call: what is known of it is sent as the library once made it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SaidBefore } from '../../src/adapters/model/said-before.ts';
import type { ModelMessage } from '../../src/ports/model.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { askOf, FORMATS, stageOf, user, type Stage } from './model-stage.ts';

const TOOLS = [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object' } }];
const TEXTS = [
  'hello',
  '',
  '   ',
  '"messages":"\\u0000messages"',
  '\u0000messages',
  'naïve “関所” \u{1F600}',
  'half of a pair: \ud800 and \udc00',
  '{"role":"system"}',
  'a\nb\\n$& $1',
];

/** A conversation of turns, each with an answer at its end. */
function turnOf(random: Random, number: number): readonly ModelMessage[] {
  const text = (): string => random.pick(TEXTS);
  const messages: ModelMessage[] = [user(text())];
  if (random.chance(0.3)) messages.push(user(text()));
  while (random.chance(0.4)) {
    const ids = random.chance(0.5) ? [`c${number}`] : ['same', `c${number}b`];
    const args = random.pick(['{"path":"a"}', '{}', '{"path" oops', '{"n":1.0}']);
    const calls = ids.map((id) => ({ id, name: 'read', args }));
    messages.push({ role: 'assistant', text: text(), calls });
    for (const { id } of calls)
      messages.push({
        role: 'tool',
        callId: id,
        name: 'read',
        text: text(),
        isError: random.chance(0.5),
      });
    if (random.chance(0.2)) messages.push(user(text()));
  }
  return [...messages, { role: 'assistant', text: random.pick(['done', 'ja']), calls: [] }];
}

/** What a model that has never been asked before sends. */
async function sentWhole(
  stage: Stage,
  format: string,
  messages: readonly ModelMessage[],
  provider: string,
): Promise<string | undefined> {
  const server = await startModelServer();
  const options = { provider, baseURL: server.url, name: 'configured-1', contextWindow: 128_000 };
  const timeouts = { firstTokenMs: 1_000, callMs: 5_000 };
  const model = FORMATS[format]?.format({ ...options, timeouts, clock: stage.clock });
  assert.ok(model !== undefined);
  await askOf(model, stage.heard, { messages: structuredClone(messages), tools: TOOLS });
  await server.close();
  return server.requests[0]?.text;
}

for (const format of Object.keys(FORMATS)) {
  for (const provider of ['house', 'openrouter', 'mistral']) {
    test(`what was said before is sent as it would be made anew: ${format}, ${provider}`, async () => {
      const random = seededRandom(7, 'said');
      const stage = await stageOf([], { provider }, FORMATS[format]?.format);
      const history: ModelMessage[] = [];
      for (let number = 0; number < 25; number += 1) {
        const turn = turnOf(random, number);
        const seed = random.chance(0.3) ? [user('a summary')] : [];
        const facts = random.chance(0.3) ? [user('what the host knows')] : [];
        const messages = [...seed, ...history, ...facts, ...turn.slice(0, -1)];
        await stage.ask({ messages, tools: TOOLS });
        const sent = stage.server.requests.at(-1)?.text;
        assert.equal(sent, await sentWhole(stage, format, messages, provider));
        history.push(...turn);
      }
    });
  }
}

test('a message that becomes more or less than one is sent with all others as the library makes them', async () => {
  const stage = await stageOf();
  const asked: ModelMessage = {
    role: 'assistant',
    text: '',
    calls: [{ id: 'c1', name: 'read', args: '{}' }],
  };
  const turn = [user('one'), { role: 'assistant', text: 'done', calls: [] } as const];
  const before = [...turn, user('two'), { role: 'assistant', text: 'done', calls: [] } as const];
  await stage.ask({ messages: [...before, user('three')], tools: TOOLS });
  const orphan = [...before, user('three'), asked];
  await stage.ask({ messages: orphan, tools: TOOLS });
  assert.equal(stage.server.requests.length, 2);
  const sent = stage.server.requests.at(-1)?.text;
  assert.equal(sent, await sentWhole(stage, 'openai-compatible', orphan, 'house'));
  assert.match(sent ?? '', /No result provided/);
});

test('only what is new is made', () => {
  const said = new SaidBefore();
  const [first, second] = [turnOf(seededRandom(1, 'said'), 1), turnOf(seededRandom(2, 'said'), 2)];
  const own = [user('now')];
  const payload = (messages: readonly ModelMessage[]): object => ({
    messages: [{ role: 'system' }, ...messages.map(({ role }) => ({ role }))],
  });
  const one = said.open([...first, ...own]);
  assert.equal(one.fresh.length, first.length + 1);
  one.payload(payload(one.fresh));
  const two = said.open([...first, ...second, ...own]);
  assert.deepEqual(two.fresh, [...second, ...own]);
  const other = said.open([...structuredClone(first), ...own]);
  assert.equal(other.fresh.length, first.length + 1, 'equal ones are not the ones that were made');
});
