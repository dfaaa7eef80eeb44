// The scripted server against the vendor's own client: what it cannot tell from the real one, we need not.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import OpenAI from 'openai';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { startModelServer, type ModelServer } from '../../src/testing/model-server.ts';

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
const HELLO: Message[] = [{ role: 'user', content: 'hello' }];

async function pair(
  script: readonly ModelAnswer[] = [],
): Promise<{ readonly server: ModelServer; readonly client: OpenAI }> {
  const server = await startModelServer(script);
  after(() => server.close());
  return { server, client: new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }) };
}

function body(messages = HELLO): {
  readonly model: string;
  readonly messages: Message[];
} {
  return { model: 'asked-1', messages };
}

describe('the scripted model server, asked by the vendor’s client', () => {
  test('streams text with a finish and usage', async () => {
    const { client } = await pair([says(['Good ', 'day'], { usage: { input: 7, output: 3 } })]);
    const stream = client.chat.completions.stream({
      ...body(),
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    assert.equal(completion.choices[0]?.message.content, 'Good day');
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    assert.equal(completion.model, 'scripted-1');
    assert.equal(completion.usage?.total_tokens, 10);
  });

  test('streams calls in pieces', async () => {
    const { client } = await pair([callsTool('read', { path: 'a.txt' })]);
    const stream = client.chat.completions.stream(body());
    const message = await stream.finalMessage();
    const call = message.tool_calls?.[0];
    assert.ok(call?.type === 'function');
    assert.deepEqual(call.function, { name: 'read', arguments: '{"path":"a.txt"}' });
  });

  test('answers in one document when no stream is asked for', async () => {
    const { client, server } = await pair([callsTool('read', { path: 'a' }), says('hi')]);
    const called = await client.chat.completions.create(body());
    assert.equal(called.choices[0]?.finish_reason, 'tool_calls');
    const completion = await client.chat.completions.create(body());
    assert.equal(completion.choices[0]?.message.content, 'hi');
    assert.equal(completion.usage?.prompt_tokens, 10);
    assert.equal(server.requests.length, 2);
  });

  test('lists its models', async () => {
    const { client } = await pair();
    const models = await client.models.list();
    assert.deepEqual(
      models.data.map(({ id }) => id),
      ['scripted-1'],
    );
  });

  test('fails with a status and headers', async () => {
    const { client } = await pair([fails(429, { 'retry-after': '7' })]);
    await assert.rejects(client.chat.completions.create(body()), (error: unknown) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.equal(error.headers.get('retry-after'), '7');
      assert.match(error.message, /scripted 429/);
      return true;
    });
  });

  test('breaks the connection when it is told to', async () => {
    const { client } = await pair([{ kind: 'reset' }, says('half', { end: 'reset' })]);
    const create = client.chat.completions.create(body());
    await assert.rejects(create, OpenAI.APIConnectionError);
    await assert.rejects(client.chat.completions.stream(body()).finalMessage());
  });
});

describe('the scripted model server', () => {
  test('gives the queued answers in order, then asks its responder', async () => {
    const { client, server } = await pair([says('first')]);
    server.respondWith(({ order, lastText }) => says(`${order}: ${lastText}`));
    server.enqueue(says('second'));
    const texts: unknown[] = [];
    for (let call = 0; call < 3; call += 1) {
      const completion = await client.chat.completions.create(body());
      texts.push(completion.choices[0]?.message.content);
    }
    assert.deepEqual(texts, ['first', 'second', '3: hello']);
  });

  test('counts how often it saw the same messages', async () => {
    const { client, server } = await pair();
    const other: Message[] = [{ role: 'user', content: 'bye' }];
    await client.chat.completions.create(body());
    await client.chat.completions.create(body(other));
    await client.chat.completions.create(body());
    assert.equal(server.timesSeen([{ role: 'user', content: 'hello' }]), 2);
    assert.equal(server.timesSeen([{ role: 'user', content: 'never' }]), 0);
    assert.deepEqual(
      server.duplicates().map((group) => group.map(({ order }) => order)),
      [[1, 3]],
    );
  });

  test('holds an answer until its gate opens, and tells when a request arrived', async () => {
    const gate = Promise.withResolvers<void>();
    const { client, server } = await pair([says('late', { before: gate.promise })]);
    const completion = client.chat.completions.create(body());
    const request = await server.arrived(1);
    assert.equal(request.lastText, 'hello');
    gate.resolve();
    assert.equal((await completion).choices[0]?.message.content, 'late');
    assert.equal(await request.over, 'answered');
    assert.equal(request.aborted, false);
  });

  test('sees that a client left', async () => {
    const { client, server } = await pair([{ kind: 'stall' }]);
    const stop = new AbortController();
    const left = client.chat.completions.create(body(), { signal: stop.signal });
    const request = await server.arrived(1);
    stop.abort();
    await assert.rejects(left, OpenAI.APIUserAbortError);
    assert.equal(await request.over, 'aborted');
  });

  test('refuses other paths, and closes twice', async () => {
    const { server } = await pair();
    assert.equal((await fetch(`${server.url}/embeddings`, { method: 'POST' })).status, 404);
    await server.close();
    await server.close();
    await assert.rejects(fetch(server.url));
  });
});
