// What goes over the wire to a server that speaks Anthropic's messages, byte for byte where it matters.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { anthropic } from '../../src/adapters/model/anthropic.ts';
import type { RemoteModelOptions } from '../../src/adapters/model/format.ts';
import { isObject } from '../../src/kernel/json.ts';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { startModelServer, type ModelServer } from '../../src/testing/model-server.ts';
import { KEY, replyOf, stageOf, user, verdict, type Stage } from './model-stage.ts';

const stage = (
  script: readonly ModelAnswer[] = [],
  options: Partial<RemoteModelOptions> = {},
): Promise<Stage> => stageOf(script, options, anthropic);

const CACHED = { cache_control: { type: 'ephemeral' } };

describe('a request in Anthropic’s format', () => {
  test('carries the conversation, its calls and their results', async () => {
    const { ask, server } = await stage();
    const schema = { type: 'object', properties: { path: { type: 'string' } }, required: [] };
    await ask({
      messages: [
        user('read a'),
        {
          role: 'assistant',
          text: 'Reading.',
          calls: [
            { id: 'c1', name: 'read', args: '{"path":"a"}' },
            { id: 'c2', name: 'read', args: '{"path" oops' },
          ],
        },
        { role: 'tool', callId: 'c1', name: 'read', text: 'A', isError: false },
        { role: 'tool', callId: 'c2', name: 'read', text: 'invalid_args', isError: true },
        user('and now?'),
      ],
      tools: [{ name: 'read', description: 'Reads a file.', parameters: schema }],
    });
    const result = (id: string, content: string, is_error: boolean): object => ({
      type: 'tool_result',
      tool_use_id: id,
      content,
      is_error,
    });
    assert.equal(server.requests[0]?.path, '/v1/messages');
    assert.deepEqual(server.requests[0]?.body, {
      model: 'configured-1',
      messages: [
        { role: 'user', content: 'read a' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Reading.' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a' } },
            { type: 'tool_use', id: 'c2', name: 'read', input: {} },
          ],
        },
        { role: 'user', content: [result('c1', 'A', false), result('c2', 'invalid_args', true)] },
        { role: 'user', content: [{ type: 'text', text: 'and now?', ...CACHED }] },
      ],
      max_tokens: 8_192,
      stream: true,
      system: [{ type: 'text', text: 'You help.', ...CACHED }],
      tools: [{ name: 'read', description: 'Reads a file.', input_schema: schema, ...CACHED }],
    });
  });

  test('says who asks, and nothing of the library or the environment', async () => {
    process.env['ANTHROPIC_CUSTOM_HEADERS'] = 'x-somebody: else';
    process.env['ANTHROPIC_AUTH_TOKEN'] = 'token-of-somebody';
    const { ask, server } = await stage();
    await ask();
    delete process.env['ANTHROPIC_CUSTOM_HEADERS'];
    delete process.env['ANTHROPIC_AUTH_TOKEN'];
    const headers = server.requests[0]?.headers ?? {};
    assert.match(headers['user-agent'] ?? '', /^sekisho\/\d+\.\d+\.\d+$/);
    assert.equal(headers['x-api-key'], KEY);
    assert.equal(headers['anthropic-version'], '2023-06-01');
    assert.deepEqual(Object.keys(headers).toSorted(), [
      'accept',
      'anthropic-version',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-api-key',
    ]);
  });

  test('has no key header without a key', async () => {
    const { ask, server } = await stage([], { apiKey: undefined });
    assert.equal(verdict(await ask()), 'reply end: ok');
    assert.equal(server.requests[0]?.headers['x-api-key'], undefined);
  });

  test('a key that looks like a subscription’s changes nothing', async () => {
    const { ask, server } = await stage([], { apiKey: 'sk-ant-oat01-0123456789' });
    await ask();
    assert.equal(server.requests[0]?.headers['x-api-key'], 'sk-ant-oat01-0123456789');
    assert.doesNotMatch(server.requests[0]?.text ?? '', /Claude Code/);
  });

  test('goes to the same place with and without the version in its address', async () => {
    const server = await startModelServer();
    after(() => server.close());
    const bare = server.url.replace(/\/v1$/, '');
    for (const baseURL of [bare, `${bare}/`, server.url, `${server.url}/`]) {
      const { ask } = await stage([], { baseURL });
      assert.equal(verdict(await ask()), 'reply end: ok');
    }
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      Array.from({ length: 4 }, () => '/v1/messages'),
    );
  });

  test('T-13: gives calls of other models ids that are plain and none twice', async () => {
    const { ask, server } = await stage();
    const said = (id: string): Parameters<typeof ask>[0] => ({
      messages: [
        user('go'),
        { role: 'assistant', text: '', calls: [{ id, name: 'list', args: '{}' }] },
        { role: 'tool', callId: id, name: 'list', text: 'first', isError: false },
        { role: 'assistant', text: '', calls: [{ id, name: 'list', args: '{}' }] },
        { role: 'tool', callId: id, name: 'list', text: 'second', isError: false },
      ],
    });
    await ask(said('functions.list:0'));
    await ask(said('call_1'));
    const idsOf = (at: number): string[][] => {
      const messages = server.requests[at]?.body['messages'];
      const blocks = Array.isArray(messages)
        ? messages.flatMap((message) => (isObject(message) ? message['content'] : []))
        : [];
      const ids = (name: string): string[] =>
        blocks
          .flat()
          .flatMap((block) =>
            isObject(block) && name in block ? [JSON.stringify(block[name])] : [],
          );
      return [ids('id'), ids('tool_use_id')];
    };
    assert.deepEqual(idsOf(0), [
      ['"call_1_0"', '"call_3_0"'],
      ['"call_1_0"', '"call_3_0"'],
    ]);
    assert.deepEqual(idsOf(1), [
      ['"call_1"', '"call_3_0"'],
      ['"call_1"', '"call_3_0"'],
    ]);
  });

  test('names the longest answer that the model is known to give, within reason', async () => {
    const cases: readonly [Partial<RemoteModelOptions>, number][] = [
      [{}, 8_192],
      [{ outputTokensMax: 16_000 }, 16_000],
      [{ outputTokensMax: 128_000 }, 32_000],
      [{ contextWindow: 8_000 }, 2_000],
    ];
    for (const [options, expected] of cases) {
      const { ask, server } = await stage([], options);
      await ask();
      assert.equal(server.requests[0]?.body['max_tokens'], expected);
    }
  });
});

describe('a reply in Anthropic’s format', () => {
  test('counts what a cache held by its own price', async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 100,
      output_tokens: 5,
    };
    const body = JSON.stringify({
      model: 'm',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage,
    });
    const price = { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 };
    const { ask } = await stage([{ kind: 'raw', contentType: 'application/json', body }], {
      price,
    });
    assert.deepEqual(replyOf(await ask()).usage, {
      inputTokens: 1_110,
      outputTokens: 5,
      cost: 100 + 1_000 + 1_250 + 250,
    });
  });

  test('is complete with its last event, although its end is split and the body stays open', async () => {
    const open = Promise.withResolvers<void>();
    const { ask } = await stage([says(['a', 'b'], { afterDone: open.promise })]);
    assert.equal(verdict(await ask()), 'reply end: ab');
    open.resolve();
  });

  test('is not ended by a text that quotes the last event', async () => {
    const quoted = '\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
    const { ask } = await stage([says([quoted, 'more'])]);
    assert.equal(replyOf(await ask()).text, `${quoted}more`);
  });
});

type Message = Anthropic.MessageParam;
const HELLO: Message[] = [{ role: 'user', content: 'hello' }];
const BODY = { model: 'asked-1', max_tokens: 100, messages: HELLO };

async function pair(
  script: readonly ModelAnswer[] = [],
): Promise<{ readonly server: ModelServer; readonly client: Anthropic }> {
  const server = await startModelServer(script);
  after(() => server.close());
  const baseURL = server.url.replace(/\/v1$/, '');
  return { server, client: new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 }) };
}

describe('the scripted model server, asked by Anthropic’s client', () => {
  test('streams text with a reason and usage', async () => {
    const { client } = await pair([says(['Good ', 'day'], { usage: { input: 7, output: 3 } })]);
    const message = await client.messages.stream(BODY).finalMessage();
    assert.deepEqual(message.content, [{ type: 'text', text: 'Good day' }]);
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(message.model, 'scripted-1');
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [7, 3]);
  });

  test('streams thoughts, and calls in pieces', async () => {
    const { client } = await pair([callsTool('read', { path: 'a.txt' }, { thinking: 'well' })]);
    const message = await client.messages.stream(BODY).finalMessage();
    assert.deepEqual(message.content, [
      { type: 'thinking', thinking: 'well', signature: 'signed' },
      { type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a.txt' } },
    ]);
    assert.equal(message.stop_reason, 'tool_use');
  });

  test('answers in one document when no stream is asked for', async () => {
    const { client, server } = await pair([callsTool('read', { path: 'a' }), says('hi')]);
    const called = await client.messages.create(BODY);
    assert.equal(called.stop_reason, 'tool_use');
    const message = await client.messages.create(BODY);
    assert.deepEqual(message.content, [{ type: 'text', text: 'hi' }]);
    assert.equal(message.usage.input_tokens, 10);
    assert.deepEqual(
      server.requests.map(({ lastText }) => lastText),
      ['hello', 'hello'],
    );
    assert.equal(server.duplicates().length, 1);
  });

  test('lists its models', async () => {
    const { client } = await pair();
    const { data } = await client.models.list();
    assert.deepEqual(
      data.map(({ id }) => id),
      ['scripted-1'],
    );
  });

  test('fails with a status, its type and headers', async () => {
    const { client } = await pair([fails(429, { 'retry-after': '7' }), fails(529)]);
    await assert.rejects(client.messages.create(BODY), (error: unknown) => {
      assert.ok(error instanceof Anthropic.RateLimitError);
      assert.equal(error.headers.get('retry-after'), '7');
      assert.match(error.message, /rate_limit_error.*scripted 429/);
      return true;
    });
    await assert.rejects(client.messages.create(BODY), /overloaded_error/);
  });

  test('breaks the connection when it is told to', async () => {
    const { client } = await pair([{ kind: 'reset' }, says('half', { end: 'reset' })]);
    await assert.rejects(client.messages.create(BODY), Anthropic.APIConnectionError);
    await assert.rejects(client.messages.stream(BODY).finalMessage());
  });
});
