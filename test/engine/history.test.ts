import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelMessage, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import { ANNA, asks, fails, Installation, says, until } from '../support/host.ts';

/** An answer, calls and then an answer, a refusal, or nothing and then something. */
function answer({ messages }: ModelRequest): ModelOutcome {
  const last = messages.at(-1);
  if (last?.role === 'tool') return says('done');
  const number = messages.filter(({ role }) => role === 'user').length;
  if (number % 11 === 3) return fails('refused', 'http_400');
  if (number % 11 === 6) return says('');
  return number % 3 === 1 ? asks(['look', { number }], ['pay', { number }]) : says(`a${number}`);
}

async function talk(turns: number, again: 'same-host' | 'new-host'): Promise<ModelMessage[][]> {
  const place = new Installation();
  place.model.answer = answer;
  let engine = await place.host();
  const opening = { channel: 'api', address: 'here', principal: ANNA };
  const conversationId = await engine.openConversation(opening);
  for (let turn = 0; turn < turns; turn += 1) {
    await say(engine, conversationId, `m${turn}`);
    if (again === 'same-host') continue;
    await engine.stop(0);
    engine = await place.host();
  }
  await engine.stop(0);
  return place.model.requests.map(({ messages }) => [...messages]);
}

async function say(engine: Engine, conversationId: ConversationId, text: string): Promise<void> {
  const said = await engine.acceptMessage({ conversationId, text, principal: ANNA });
  if (said.kind !== 'accepted') assert.fail();
  await until(engine, conversationId, async () => {
    const message = await engine.store.query('message.byId', { id: said.messageId });
    return message?.state === 'done';
  });
}

test('a host that goes on asks the model what one that starts anew would ask', async () => {
  const kept = await talk(140, 'same-host');
  const read = await talk(140, 'new-host');
  assert.equal(kept.length, read.length);
  for (const [index, messages] of kept.entries()) {
    const text = JSON.stringify(messages);
    assert.ok(text === JSON.stringify(read[index]), `request ${index + 1} is another`);
  }
  const longest = kept.reduce((most, { length }) => Math.max(most, length), 0);
  assert.ok(longest > LIMITS.historyStepsMax, `${longest} messages: the bound was never met`);
});

test('what another host said between two turns of this one is not left out', async () => {
  const place = new Installation({ exclusive: false });
  place.model.answer = ({ messages }) => says(`seen ${messages.length}`);
  const one = await place.host();
  const two = await place.host();
  const opening = { channel: 'api', address: 'here', principal: ANNA };
  const conversationId = await one.openConversation(opening);
  await say(one, conversationId, 'first');
  await say(two, conversationId, 'second');
  await say(one, conversationId, 'third');
  const said = place.model.requests.at(-1)?.messages.map(({ text }) => text);
  assert.deepEqual(said, ['first', 'seen 1', 'second', 'seen 3', 'third']);
  await Promise.all([one.stop(0), two.stop(0)]);
});
