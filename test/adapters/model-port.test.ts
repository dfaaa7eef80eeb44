// What a model is beside its calls: its rates, whose limits it shares, whether it lives; and calls of a shape.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownModel } from '../../src/adapters/model/catalogue.ts';
import type { RemoteModelOptions } from '../../src/adapters/model/format.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  faultOf,
  FORMATS,
  KEY,
  replyOf,
  stageOf,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { taskId: { type: ['string', 'null'] }, reason: { type: 'string' } },
  required: ['taskId', 'reason'],
  additionalProperties: false,
};
const ANSWER = { name: 'classification', schema: SCHEMA };
const FIELDS: Readonly<Record<string, JsonObject>> = {
  'openai-compatible': {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'classification', schema: SCHEMA, strict: true },
    },
  },
  anthropic: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
};

for (const [name, spoken] of Object.entries(FORMATS)) {
  describe(name, () => {
    signs(spoken);
    answers(spoken, FIELDS[name] ?? {});
  });
}

function signs(spoken: Spoken): void {
  const stage = (
    script: readonly ModelAnswer[] = [],
    options: Partial<RemoteModelOptions> = {},
  ): Promise<Stage> => stageOf(script, options, spoken.format);
  const going = (): AbortSignal => new AbortController().signal;

  test('says its rates, and null where no price is known', async () => {
    const { model } = await stage([], { price: { input: 0.15, output: 0.6, cacheRead: 0.1 } });
    assert.deepEqual(model.rates, { input: 0.15, output: 0.6 });
    assert.equal((await stage()).model.rates, null);
  });

  test('T-18: shares its limits by provider, address and key, and never says the key', async () => {
    const { model } = await stage();
    const account = async (options: Partial<RemoteModelOptions>): Promise<string> =>
      (await stage([], { baseURL: 'http://h/v1', ...options })).model.account;
    const one = await account({});
    assert.equal(await account({ name: 'another-model', baseURL: 'http://h/v1/' }), one);
    const others = [
      await account({ apiKey: 'sk-another-key' }),
      await account({ apiKey: undefined }),
      await account({ baseURL: 'http://other/v1' }),
      await account({ provider: 'else' }),
    ];
    assert.equal(new Set([one, ...others]).size, 5);
    assert.ok([model.account, one, ...others].every((shown) => !shown.includes(KEY)));
  });

  test('T-18: lives when its models are listed, which is no call', async () => {
    const { model, server } = await stage();
    assert.equal(await model.probe(going()), 'alive');
    const [request] = server.requests;
    assert.equal(server.requests.length, 1);
    assert.equal(`${request?.method} ${request?.path}`, 'GET /v1/models');
    const key = request?.headers['x-api-key'] ?? request?.headers.authorization;
    assert.ok(key?.includes(KEY));
  });

  for (const [status, sign] of [
    [401, 'alive'],
    [404, 'alive'],
    [429, 'alive'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ] as const) {
    test(`T-18: ${status} to the question is ${sign}`, async () => {
      const body = new Response('{}').body;
      const fetch = (): ReturnType<NonNullable<RemoteModelOptions['fetch']>> =>
        Promise.resolve({ status, headers: { get: () => null }, body });
      const { model } = await stage([], { fetch });
      assert.equal(await model.probe(going()), sign);
    });
  }

  test('T-18: is unreachable when nobody is there', async () => {
    const { model, server } = await stage();
    await server.close();
    assert.equal(await model.probe(going()), 'unreachable');
  });

  test('T-18: is unreachable when it does not answer in time, and is left', async () => {
    const left = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { model, clock } = await stage([], {
      fetch: (_url, { signal }) => {
        signal.addEventListener('abort', () => left.resolve());
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const sign = model.probe(going());
    await asked.promise;
    assert.deepEqual(clock.waiting, [LIMITS.probeCallMs]);
    clock.pass(LIMITS.probeCallMs);
    assert.equal(await sign, 'unreachable');
    await left.promise;
  });

  test('a question that is called off ends at once', async () => {
    const { model, clock } = await stage([], {
      fetch: (_url, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          if (signal.aborted) reject(new Error('aborted'));
        }),
    });
    assert.equal(await model.probe(AbortSignal.abort()), 'unreachable');
    const off = new AbortController();
    const sign = model.probe(off.signal);
    off.abort();
    assert.equal(await sign, 'unreachable');
    assert.deepEqual(clock.waiting, []);
  });
}

function answers(spoken: Spoken, field: JsonObject): void {
  const stage = (script: readonly ModelAnswer[]): Promise<Stage> =>
    stageOf(script, {}, spoken.format);
  const rejects = (status: number, more: object = {}): ModelAnswer =>
    fails(status, {}, JSON.stringify({ error: { message: 'unknown field', ...more } }));

  test('an answer of a shape is asked for by the field, and taken from the text', async () => {
    const { ask, server } = await stage([says('{"taskId":null,"reason":"new"}')]);
    assert.equal(replyOf(await ask({ answer: ANSWER })).text, '{"taskId":null,"reason":"new"}');
    const { body } = server.requests[0] ?? {};
    const [[name, value] = ['', null]] = Object.entries(field);
    assert.deepEqual(body?.[name], value);
  });

  for (const status of [400, 422]) {
    test(`a server that answers the field with ${status} gets the shape in words, from then on at once`, async () => {
      const { ask, server } = await stage([rejects(status), says('{"a":1}'), says('{"a":2}')]);
      assert.equal(replyOf(await ask({ answer: ANSWER })).text, '{"a":1}');
      assert.equal(replyOf(await ask({ answer: ANSWER })).text, '{"a":2}');
      assert.equal(server.requests.length, 3);
      const [name = ''] = Object.keys(field);
      assert.deepEqual(
        server.requests.map(({ body }) => name in body),
        [true, false, false],
      );
      const inWords = server.requests.map(({ text }) => text.includes('JSON Schema'));
      assert.deepEqual(inWords, [false, true, true]);
      assert.match(server.requests[1]?.text ?? '', /taskId/);
    });
  }

  test('what refuses both is a fault, and the field is not given up', async () => {
    const { ask, server } = await stage([rejects(400), rejects(400), says('{}')]);
    assert.equal(verdict(await ask({ answer: ANSWER })), 'refused http_400');
    await ask({ answer: ANSWER });
    assert.equal(server.requests.length, 3);
    const [name = ''] = Object.keys(field);
    assert.ok(name in (server.requests[2]?.body ?? {}));
  });

  test('no other failure is asked again', async () => {
    const others = [fails(401), fails(429), fails(500), rejects(400, { code: 'content_filter' })];
    const { ask, server } = await stage(others);
    for (const _ of others) faultOf(await ask({ answer: ANSWER }));
    assert.equal(server.requests.length, others.length);
  });

  for (const [what, text] of [
    ['in a fence', '```json\n{"a":{"b":1}}\n```'],
    ['between words', 'Here it is: {"a":{"b":1}} I hope it helps.'],
    ['after thoughts', '<think>{ maybe }</think>\n{"a":{"b":1}}'],
  ] as const) {
    test(`an answer ${what} is found`, async () => {
      const { ask } = await stage([says(text)]);
      assert.equal(replyOf(await ask({ answer: ANSWER })).text, '{"a":{"b":1}}');
    });
  }

  test('a text without an answer stays as it is', async () => {
    const { ask } = await stage([says('I cannot {say}.')]);
    assert.equal(replyOf(await ask({ answer: ANSWER })).text, 'I cannot {say}.');
  });

  test('a shape that is open is not asked for strictly', async () => {
    const { ask, server } = await stage([says('{}')]);
    await ask({ answer: { name: 'n', schema: { ...SCHEMA, required: ['reason'] } } });
    assert.doesNotMatch(server.requests[0]?.text ?? '', /"strict":true/);
  });
}

describe('the catalogue', () => {
  const lookUp = (provider: string, baseURL: string, name: string): ReturnType<typeof knownModel> =>
    knownModel({ provider, baseURL, name });

  test('knows the models of a provider by name', async () => {
    const known = await lookUp('anthropic', 'https://api.anthropic.com', 'claude-haiku-4-5');
    assert.ok((known?.price.input ?? 0) > 0);
    assert.ok((known?.outputTokensMax ?? 0) >= 32_000);
    assert.ok((await lookUp('openai', 'https://api.openai.com/v1', 'gpt-5-mini')) !== undefined);
  });

  test('knows a compatible server by its address', async () => {
    const url = 'https://api.openai.com/v1';
    assert.ok((await lookUp('openai-compatible', url, 'gpt-5-mini')) !== undefined);
    const local = 'http://127.0.0.1:11434/v1';
    assert.equal(await lookUp('openai-compatible', local, 'gpt-5-mini'), undefined);
  });

  test('knows nothing of other names, whatever they are', async () => {
    for (const name of ['none', 'constructor', '__proto__']) {
      assert.equal(await lookUp('openai', 'https://api.openai.com/v1', name), undefined);
    }
    assert.equal(await lookUp('constructor', 'http://h', 'none'), undefined);
  });
});
