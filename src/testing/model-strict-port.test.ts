import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelMessage, ModelReply, ModelRequest } from '../ports/model.ts';
import { requestTokens, strictlyCounted, strictRefusal } from './model-strict-port.ts';

const user = (text: string): ModelMessage => ({ role: 'user', text });
const call: ModelMessage = {
  role: 'assistant',
  text: '',
  calls: [{ id: 'a', name: 'look', args: '{}' }],
};
const result: ModelMessage = {
  role: 'tool',
  callId: 'a',
  name: 'look',
  text: 'a tree',
  isError: false,
};

function request(...messages: readonly ModelMessage[]): ModelRequest {
  return { system: 'You help.', messages, tools: [] };
}

test('a request counts with everything that is in it', () => {
  const bare = request(user('x'));
  const tools = [{ name: 'look', description: 'x'.repeat(400), parameters: {} }];
  assert.ok(requestTokens({ ...bare, tools }) >= requestTokens(bare) + 100);
});

test('what is larger than the window is refused as every adapter refuses it', () => {
  const asked = request(user('x'.repeat(400)));
  const tokens = requestTokens(asked);
  assert.equal(strictRefusal(asked, tokens), undefined);
  const fault = strictRefusal(asked, tokens - 1);
  assert.deepEqual(
    [fault?.class, fault?.code, fault?.scope],
    ['refused', 'context_too_long', 'request'],
  );
  assert.match(fault?.message ?? '', new RegExp(`${tokens} tokens > ${tokens - 1}`));
});

test('half of a pair is refused, a whole one is taken', () => {
  assert.equal(strictRefusal(request(user('look'), call, result, user('x')), 10_000), undefined);
  for (const messages of [[call, user('x')], [user('x'), result], [call, result, result], [call]])
    assert.equal(strictRefusal(request(...messages), 10_000)?.code, 'http_400');
});

test('an answer counts what it says and what it calls', () => {
  const reply: ModelReply = {
    kind: 'reply',
    provider: 'p',
    model: 'm',
    text: 'x'.repeat(8),
    calls: [{ id: 'a', name: 'look', args: '{"a":1} ' }],
    stop: 'calls',
    usage: { inputTokens: 1, outputTokens: 1, cost: 3 },
  };
  const asked = request(user('x'));
  const counted = strictlyCounted(reply, asked);
  const usage = { inputTokens: requestTokens(asked), outputTokens: 4, cost: 3 };
  assert.deepEqual(counted, { ...reply, usage });
});
