// The scripted server as a strict provider, asked by the real models and by hand.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelMessage } from '../../src/ports/model.ts';
import { callsTool, fails, says } from '../../src/testing/model-answer.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import {
  faultOf,
  FORMATS,
  replyOf,
  stageOf,
  user,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

const SUMMARY = {
  name: 'summary',
  schema: { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
};
const WIDE = { window: 100_000 };

for (const [name, spoken] of Object.entries(FORMATS)) describe(name, () => strict(spoken));

function strict(spoken: Spoken): void {
  const stage = async (window: number, more = {}): Promise<Stage> => {
    const made = await stageOf([], {}, spoken.format);
    made.server.holdTo({ window, ...more });
    return made;
  };

  test('counts what a request and its answer take', async () => {
    const { ask, server } = await stage(100_000);
    server.enqueue(says('x'.repeat(40)));
    const { usage } = replyOf(await ask());
    const [request] = server.requests;
    assert.equal(usage.inputTokens, Math.ceil((request?.text.length ?? 0) / 4));
    assert.equal(usage.inputTokens, request?.tokens);
    assert.equal(usage.outputTokens, 10);
  });

  test('counts the tools as well', async () => {
    const { ask, server } = await stage(100_000);
    await ask();
    const parameters = { type: 'object', properties: { path: { type: 'string' } } };
    await ask({ tools: [{ name: 'read', description: 'x'.repeat(4_000), parameters }] });
    const [bare = 0, armed = 0] = server.requests.map(({ tokens }) => tokens);
    assert.ok(armed - bare > 1_000, `${bare} and ${armed}`);
  });

  test('refuses what is larger than its window in the vendor’s words', async () => {
    const { ask, server } = await stage(500);
    const small = await ask({ messages: [user('x'.repeat(400))] });
    assert.equal(verdict(small), 'reply end: ok');
    const fault = faultOf(await ask({ messages: [user('x'.repeat(4_000))] }));
    assert.equal(verdict(fault), 'refused context_too_long');
    assert.match(fault.message, /HTTP 400: .*500/);
    assert.equal(server.requests.length, 2, 'what was refused is there to look at');
  });

  test('a window that is changed holds from the next request on', async () => {
    const { ask, server } = await stage(500);
    const long = { messages: [user('x'.repeat(4_000))] };
    assert.equal(verdict(await ask(long)), 'refused context_too_long');
    server.holdTo(WIDE);
    assert.equal(verdict(await ask(long)), 'reply end: ok');
    server.holdTo(null);
    assert.equal(replyOf(await ask(long)).usage.inputTokens, 10);
  });

  test('calls for a summary are answered by their own script', async () => {
    const summary = () => says('{"summary":"they met"}');
    const { ask, server } = await stage(100_000, { summary });
    server.enqueue(says('an answer'));
    assert.equal(replyOf(await ask({ answer: SUMMARY })).text, '{"summary":"they met"}');
    assert.equal(replyOf(await ask()).text, 'an answer', 'the queue is as it was');
  });

  test('and by a summary of few words where there is none', async () => {
    const { ask } = await stage(100_000);
    const { text } = replyOf(await ask({ answer: SUMMARY }));
    assert.deepEqual(JSON.parse(text), { summary: 'what was said so far' });
  });

  test('a script may fail a summary', async () => {
    const { ask } = await stage(100_000, { summary: () => fails(503) });
    assert.equal(verdict(await ask({ answer: SUMMARY })), 'transient http_503');
  });

  test('takes calls with their results', async () => {
    const { ask, server } = await stage(100_000);
    server.enqueue(callsTool('look', {}));
    const { calls } = replyOf(await ask());
    const [call] = calls;
    assert.ok(call !== undefined);
    const messages: ModelMessage[] = [
      user('look'),
      { role: 'assistant', text: 'I look', calls },
      { role: 'tool', callId: call.id, name: 'look', text: 'a tree', isError: false },
      user('and now?'),
    ];
    assert.equal(verdict(await ask({ messages })), 'reply end: ok');
  });

  const halves: readonly (readonly [what: string, messages: readonly ModelMessage[]])[] = [
    [
      'a call without its result',
      [
        user('look'),
        { role: 'assistant', text: '', calls: [{ id: 'call_a', name: 'look', args: '{}' }] },
        user('and now?'),
      ],
    ],
    [
      'a result without its call',
      [
        user('look'),
        { role: 'tool', callId: 'call_a', name: 'look', text: 'a tree', isError: false },
      ],
    ],
  ];
  for (const [what, messages] of halves) {
    test(`refuses ${what}, whatever the library makes of it`, async () => {
      const { ask } = await stage(100_000);
      assert.equal(verdict(await ask({ messages })), 'refused http_400');
    });
  }
}

describe('asked by hand', () => {
  const tool = { role: 'tool', tool_call_id: 'a', content: 'x' };
  const called = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
  };
  const used = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'a', name: 'l', input: {} }],
  };
  const given = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
  const cases: readonly (readonly [path: string, messages: readonly object[], says: RegExp])[] = [
    ['chat/completions', [called], /did not have response messages: a/],
    ['chat/completions', [tool], /must be a response to a preceeding message/],
    ['chat/completions', [called, tool, tool], /must be a response/],
    ['messages', [used, { role: 'user', content: 'x' }], /without `tool_result` blocks .*: a\./],
    ['messages', [{ role: 'user', content: [given] }], /unexpected `tool_use_id` .*: a\./],
    ['messages', [used, { role: 'user', content: [given, given] }], /unexpected `tool_use_id`/],
  ];
  for (const [path, messages, expected] of cases) {
    test(`${path} refuses ${JSON.stringify(messages)}`, async (t) => {
      const server = await startModelServer([], { strict: WIDE });
      t.after(() => server.close());
      const body = JSON.stringify({ model: 'm', messages });
      const response = await fetch(`${server.url}/${path}`, { method: 'POST', body });
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { readonly error: { readonly message: string } };
      assert.match(error.message, expected);
    });
  }
});
