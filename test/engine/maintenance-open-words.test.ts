// Words that a turn has taken up and that nobody has answered yet, when the session changes under them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { inTime, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, asks, BEN, fails, Installation, says } from '../support/host.ts';

/** Asks for a house, then answers with words that the session has no room for, until its fence is blocked. */
async function outgrown(also: (engine: Engine, here: ConversationId) => Promise<unknown>): Promise<{
  readonly place: Installation;
  readonly engine: Engine;
  readonly conversation: ConversationId;
}> {
  const place = new Installation();
  place.model.contextWindow = 8_000;
  place.model.strictWindow = 8_000;
  place.summariser.answer = () => fails('transient', 'http_500');
  place.model.answer = ({ messages }) => {
    const texts = messages.map(({ text }) => text);
    if (texts.some((text) => text.includes('GREEN'))) return says('painted green');
    const isAsked = texts.at(-1) === 'Paint the house';
    const wait = { for: 'answer', question: 'Which colour?' };
    return isAsked ? asks(['task_wait', wait]) : says('x'.repeat(3_000));
  };
  const engine: Engine = await place.host();
  const conversation = await talkTo(engine);
  for (let turn = 0; turn < 3; turn += 1) {
    await say(engine, conversation, `some words ${'y'.repeat(2_000)}`);
    await restOf(engine);
  }
  await say(engine, conversation, 'Paint the house');
  await restOf(engine);
  const green = say(engine, conversation, `GREEN ${'z'.repeat(14_500)}`);
  await Promise.all([green, also(engine, conversation)]);
  await inTime(place, async () => {
    const row = await engine.store.query('conversation.byId', { id: conversation });
    return row?.fence === 'blocked';
  });
  return { place, engine, conversation };
}

test('M-21 after the maintenance was given up, the request has what its person said last', async () => {
  const { place, engine, conversation } = await outgrown(async () => undefined);
  await say(engine, conversation, '/new', { principal: ADMIN });
  await restOf(engine);
  const texts = place.model.requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  assert.equal(texts.length, 2);
  assert.ok(texts[0]?.endsWith('Paint the house'));
  assert.match(texts[1] ?? '', /GREEN z{14500}$/);
  await engine.stop(0);
});

test('M-21 so it has where another has said something since', async () => {
  const { place, engine, conversation } = await outgrown((at, here) =>
    say(at, here, 'Something else', { principal: BEN }),
  );
  await say(engine, conversation, '/new', { principal: ADMIN });
  await restOf(engine);
  const asked = place.model.requests.map(({ messages }) => messages.map(({ text }) => text));
  const other = asked.findLastIndex((texts) => texts.at(-1) === 'Something else');
  const own = asked.findLastIndex((texts) => texts.some((text) => /GREEN z{14500}$/.test(text)));
  assert.ok(other >= 0 && other < own, `${other} ${own}`);
  assert.ok(asked[own]?.some((text) => text.endsWith('Paint the house')));
  await engine.stop(0);
});
