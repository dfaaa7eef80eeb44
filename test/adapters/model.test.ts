import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { faultOf, KEY, replyOf, stageOf, user, verdict } from './model-stage.ts';

describe('a reply', () => {
  test('comes as its text, live in its pieces', async () => {
    const { ask, heard } = await stageOf([says(['Good ', 'morning', '.'])]);
    const reply = replyOf(await ask());
    assert.equal(reply.text, 'Good morning.');
    assert.equal(reply.stop, 'end');
    assert.deepEqual(reply.calls, []);
    assert.deepEqual(heard.texts, ['Good ', 'morning', '.']);
  });

  test('T-9: names the model that the provider reported, not the configured one', async () => {
    const { ask, heard, model } = await stageOf([says('x', { model: 'really-this-2' })]);
    const reply = replyOf(await ask());
    assert.equal(model.name, 'configured-1');
    assert.equal(reply.model, 'really-this-2');
    assert.deepEqual(heard.models, ['house/really-this-2']);
  });

  test('T-9: names the reported model before the first text is there', async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, heard, server } = await stageOf([says(['a', 'b'], { between: gate.promise })]);
    const named = Promise.withResolvers<void>();
    heard.models.push = (name) => {
      assert.deepEqual(heard.texts, []);
      assert.equal(name, 'house/scripted-1');
      named.resolve();
      return 1;
    };
    const outcome = ask();
    await named.promise;
    assert.equal(server.requests.length, 1);
    gate.resolve();
    assert.equal(verdict(await outcome), 'reply end: ab');
  });

  test('T-9: claims no model that nobody reported', async () => {
    const { ask, heard } = await stageOf([says('x', { model: null })]);
    assert.equal(replyOf(await ask()).model, 'unreported');
    assert.deepEqual(heard.models, []);
  });

  test('carries calls with the raw text of their arguments', async () => {
    const args = ['{ "path":', '"a.txt", "n": 1.0 }'];
    const calls = [
      { name: 'read', args, id: 'c1' },
      { name: 'list', args: '{}' },
    ];
    const { ask } = await stageOf([{ kind: 'reply', text: 'Looking.', calls }]);
    const reply = replyOf(await ask());
    assert.equal(reply.stop, 'calls');
    assert.equal(reply.text, 'Looking.');
    assert.deepEqual(reply.calls, [
      { id: 'c1', name: 'read', args: '{ "path":"a.txt", "n": 1.0 }' },
      { id: 'call_2', name: 'list', args: '{}' },
    ]);
  });

  test('carries malformed arguments exactly as the model wrote them', async () => {
    const { ask } = await stageOf([callsTool('read', '{"path": "a.txt" oops')]);
    assert.equal(replyOf(await ask()).calls[0]?.args, '{"path": "a.txt" oops');
  });

  test('has empty arguments where the model wrote none', async () => {
    const { ask } = await stageOf([callsTool('list', '')]);
    assert.equal(replyOf(await ask()).calls[0]?.args, '{}');
  });

  test('has an id of its own for each call, whatever the server gave', async () => {
    const call = { name: 'list', args: '{}' };
    const calls = [
      { ...call, id: 'same' },
      { ...call, id: 'same' },
      { ...call, id: '' },
    ];
    const { ask } = await stageOf([{ kind: 'reply', calls }]);
    const ids = replyOf(await ask()).calls.map(({ id }) => id);
    assert.equal(ids[0], 'same');
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.every((id) => id !== ''));
  });

  test('says when it was cut at the output limit', async () => {
    const { ask } = await stageOf([says('half a', { finish: 'length' })]);
    assert.equal(replyOf(await ask()).stop, 'length');
  });

  test('is whole although its finish has an unusual name', async () => {
    const { ask } = await stageOf([says('done', { finish: 'eos_token' })]);
    assert.equal(verdict(await ask()), 'reply end: done');
  });

  test('T-8: may be empty; that is the host to judge', async () => {
    const { ask } = await stageOf([says('')]);
    assert.equal(verdict(await ask()), 'reply end: ');
  });

  test('leaves thoughts out of the text', async () => {
    const { ask, heard } = await stageOf([says('42', { thinking: 'let me see' })]);
    assert.equal(replyOf(await ask()).text, '42');
    assert.deepEqual(heard.texts, ['42']);
  });

  test('is read from one JSON document where a server does not stream', async () => {
    const { ask, heard } = await stageOf([
      says('all at once', { stream: 'no', model: 'plain-1' }),
      callsTool('read', { path: 'a' }, { stream: 'no' }),
    ]);
    const reply = replyOf(await ask());
    assert.equal(reply.text, 'all at once');
    assert.equal(reply.model, 'plain-1');
    assert.deepEqual(reply.usage, { inputTokens: 10, outputTokens: 2, cost: null });
    assert.deepEqual(heard.texts, ['all at once']);
    const call = { id: 'call_1', name: 'read', args: '{"path":"a"}' };
    assert.deepEqual(replyOf(await ask()).calls, [call]);
  });

  test('is read from a stream with another content type', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] };
    const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
    const { ask } = await stageOf([{ kind: 'raw', contentType: 'text/plain', body }]);
    assert.equal(verdict(await ask()), 'reply end: hi');
  });
});

describe('usage', () => {
  const usage = { input: 1_000, output: 31 };

  test('is tokens, and no cost where no price is known', async () => {
    const { ask, model } = await stageOf([says('x', { usage })]);
    const counted = { inputTokens: 1_000, outputTokens: 31, cost: null };
    assert.deepEqual(replyOf(await ask()).usage, counted);
    assert.equal(model.price, 'unpriced');
  });

  test('costs whole millionths of a dollar', async () => {
    const price = { input: 0.15, output: 0.6 };
    const { ask, model } = await stageOf([says('x', { usage })], { price });
    assert.equal(replyOf(await ask()).usage.cost, 169);
    assert.equal(model.price, 'costs-money');
  });

  test('costs nothing at a price of zero', async () => {
    const { ask, model } = await stageOf([says('x', { usage })], {
      price: { input: 0, output: 0 },
    });
    assert.equal(replyOf(await ask()).usage.cost, 0);
    assert.equal(model.price, 'free');
  });

  test('is estimated where the provider reports none, so that a budget still bounds it', async () => {
    const { ask, server } = await stageOf([says('12345678', { usage: null })]);
    const counted = replyOf(await ask()).usage;
    const bytes = Number(server.requests[0]?.headers['content-length']);
    assert.deepEqual(counted, { inputTokens: Math.ceil(bytes / 4), outputTokens: 2, cost: null });
  });
});

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

  test('goes over a kept connection: 20 calls, at most 2 connections', async () => {
    const { ask, server } = await stageOf();
    for (let call = 0; call < 20; call += 1) {
      // The last bytes of an answer come when the reply is complete and the library has turned away.
      const end = Promise.withResolvers<void>();
      server.enqueue(says('ok', { afterDone: end.promise }));
      assert.equal(verdict(await ask()), 'reply end: ok');
      end.resolve();
      assert.equal(await server.requests[call]?.over, 'answered');
    }
    assert.equal(server.requests.length, 20);
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });
});

test('the library is loaded by the first call, not by the start of the host', () => {
  const folder = join(import.meta.dirname, '../../src/adapters/model');
  const files = globSync('*.ts', { cwd: folder });
  const imports = files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/^import[^;]*'@earendil-works[^;]*;/gm),
    ].map(([line]) => line),
  );
  assert.ok(imports.length > 0, 'a check that looked at nothing has not passed');
  assert.deepEqual(
    imports.filter((line) => !line.startsWith('import type')),
    [],
  );
});

describe('retries are the harness’s', () => {
  const answers: Readonly<Record<string, ModelAnswer>> = {
    '429': fails(429, { 'retry-after': '0', 'x-should-retry': 'true' }),
    '503': fails(503),
    reset: { kind: 'reset' },
    'cut stream': says('a', { end: 'cut' }),
    redirect: fails(307, { location: '/v1/chat/completions' }),
  };
  for (const [what, answer] of Object.entries(answers)) {
    test(`one ${what} is one request`, async () => {
      const { ask, server } = await stageOf([answer]);
      faultOf(await ask());
      assert.equal(verdict(await ask()), 'reply end: ok');
      assert.equal(server.requests.length, 2);
    });
  }
});
