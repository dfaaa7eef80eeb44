// What goes over the wire to an OpenAI-compatible server, byte for byte where it matters.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY, stageOf, user, verdict } from './model-stage.ts';

describe('a request', () => {
  test('carries the conversation, its calls and their results', async () => {
    const { ask, server } = await stageOf();
    const parameters = { type: 'object', properties: { path: { type: 'string' } } };
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
      tools: [{ name: 'read', description: 'Reads a file.', parameters }],
    });
    const called = (id: string, args: string): object => ({
      id,
      type: 'function',
      function: { name: 'read', arguments: args },
    });
    assert.deepEqual(server.requests[0]?.body, {
      model: 'configured-1',
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'read a' },
        {
          role: 'assistant',
          content: 'Reading.',
          tool_calls: [called('c1', '{"path":"a"}'), called('c2', '{}')],
        },
        { role: 'tool', content: 'A', tool_call_id: 'c1' },
        { role: 'tool', content: 'invalid_args', tool_call_id: 'c2' },
        { role: 'user', content: 'and now?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        { type: 'function', function: { name: 'read', description: 'Reads a file.', parameters } },
      ],
    });
  });

  test('says who asks, and nothing of the library or the environment', async () => {
    process.env['OPENAI_ORG_ID'] = 'org-of-somebody';
    const { ask, server } = await stageOf();
    await ask();
    delete process.env['OPENAI_ORG_ID'];
    const headers = server.requests[0]?.headers ?? {};
    assert.match(headers['user-agent'] ?? '', /^sekisho\/\d+\.\d+\.\d+$/);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual(Object.keys(headers).toSorted(), [
      'accept',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
  });

  test('has no authorization without a key', async () => {
    const { ask, server } = await stageOf([], { apiKey: undefined });
    assert.equal(verdict(await ask()), 'reply end: ok');
    assert.equal(server.requests[0]?.headers.authorization, undefined);
  });

  test('for "hello" costs few bytes outside of the tools', async () => {
    const { ask, server } = await stageOf();
    await ask({ system: '' });
    const bytes = Buffer.byteLength(server.requests[0]?.text ?? '');
    assert.ok(bytes > 0 && bytes <= 150, `${bytes} bytes`);
  });
});

test('a reply is read from a stream with another content type', async () => {
  const chunk = { choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const { ask } = await stageOf([{ kind: 'raw', contentType: 'text/plain', body }]);
  assert.equal(verdict(await ask()), 'reply end: hi');
});
