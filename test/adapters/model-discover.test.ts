import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { discoverModel, type DiscoveredModel } from '../../src/adapters/model/discover.ts';
import type { ModelFetch } from '../../src/adapters/model/keep-alive-fetch.ts';
import { startModelServer, type ModelServer } from '../../src/testing/model-server.ts';
import { askOf, manualClock, verdict, type ManualClock } from './model-stage.ts';

const LOCAL = 'http://127.0.0.1:11434/v1';

/** A fetch that finds `server` where a local one is looked for, and notes what was asked. */
function redirected(server: ModelServer | null): {
  readonly fetch: ModelFetch;
  readonly asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    fetch(url, init) {
      asked.push(`${init.method} ${url}`);
      if (server === null) return Promise.reject(new Error('ECONNREFUSED'));
      return fetch(url.replace(LOCAL, server.url), init);
    },
  };
}

async function discover(
  env: Readonly<Record<string, string>>,
  server: ModelServer | null,
  clock: ManualClock = manualClock(),
): Promise<DiscoveredModel & { readonly asked: string[]; readonly clock: ManualClock }> {
  const { fetch, asked } = redirected(server);
  return { ...(await discoverModel(env, { clock, fetch })), asked, clock };
}

async function localServer(models: readonly string[]): Promise<ModelServer> {
  const server = await startModelServer([], { models });
  after(() => server.close());
  return server;
}

test('an OpenAI key is taken first, with a known price and window, and nobody is asked', async () => {
  const env = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'a' };
  const { model, why, asked } = await discover(env, await localServer(['llama3.2']));
  assert.equal(model.provider, 'openai');
  assert.equal(model.price, 'costs-money');
  assert.ok(model.contextWindow >= 128_000);
  assert.match(why, /OPENAI_API_KEY/);
  assert.doesNotMatch(why, /sk-1/);
  assert.deepEqual(asked, []);
});

test('the first model of a local server is taken, and it answers', async () => {
  const server = await localServer(['llama3.2', 'qwen3']);
  const { model, why, clock, asked } = await discover({ OPENAI_API_KEY: ' ' }, server);
  assert.deepEqual(
    [model.provider, model.name, model.price],
    ['openai-compatible', 'llama3.2', 'free'],
  );
  assert.match(why, /11434.*llama3\.2/);
  assert.deepEqual(clock.waiting, []);
  assert.equal(verdict(await askOf(model, { texts: [], models: [] })), 'reply end: ok');
  assert.deepEqual(asked, [`GET ${LOCAL}/models`, `POST ${LOCAL}/chat/completions`]);
  assert.equal(server.requests[1]?.body['model'], 'llama3.2');
});

test('an Anthropic key is taken where there is no OpenAI key', async () => {
  const { model, why, asked } = await discover({ ANTHROPIC_API_KEY: 'sk-ant-1' }, null);
  assert.equal(model.provider, 'anthropic');
  assert.equal(model.price, 'costs-money');
  assert.ok((model.rates?.input ?? 0) > 0);
  assert.match(why, /ANTHROPIC_API_KEY/);
  assert.doesNotMatch(why + model.account, /sk-ant-1/);
  assert.deepEqual(asked, []);
});

test('a key of a provider that is not supported yet is passed over with the reason', async () => {
  const { model, skipped } = await discover({ GEMINI_API_KEY: 'g' }, null);
  assert.equal(model.provider, 'rehearsal');
  assert.equal(skipped.length, 1);
  assert.match(skipped[0] ?? '', /GEMINI_API_KEY.*not supported yet/);
});

test('with nothing there it is the rehearsal', async () => {
  const { model, why, skipped } = await discover({}, null);
  assert.equal(model.provider, 'rehearsal');
  assert.match(why, /no usable key and nothing answers at .*11434/);
  assert.deepEqual(skipped, []);
});

test('a local server without models, or with another protocol, is nobody', async () => {
  assert.equal((await discover({}, await localServer([]))).model.provider, 'rehearsal');
  const other: ModelFetch = () => Promise.resolve(new Response('<html>', { status: 200 }));
  const { model } = await discoverModel({}, { clock: manualClock(), fetch: other });
  assert.equal(model.provider, 'rehearsal');
});

test('a local server that does not answer is given up after 300 ms, and left', async () => {
  const clock = manualClock();
  const left = Promise.withResolvers<void>();
  const silent: ModelFetch = (_url, { signal }) => {
    signal.addEventListener('abort', () => left.resolve());
    return new Promise(() => undefined);
  };
  const found = discoverModel({}, { clock, fetch: silent });
  assert.deepEqual(clock.waiting, [300]);
  clock.pass(300);
  assert.equal((await found).model.provider, 'rehearsal');
  await left.promise;
});
