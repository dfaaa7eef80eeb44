import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { composeAgents, planAgents } from '../../src/compose/agents.ts';
import { loadConfig, type Config } from '../../src/compose/config/load.ts';
import { shownValues } from '../../src/compose/config/show.ts';
import { composeModels, type HostModels } from '../../src/compose/models.ts';
import { engineOptions } from '../../src/compose/options.ts';
import { knownSecrets } from '../../src/compose/secrecy.ts';
import type { Agent } from '../../src/engine/engine.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Model } from '../../src/ports/model.ts';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = createSystemClock();
const ENV = { FIRST_KEY: 'first-key-0123456789', OTHER_KEY: 'other-key-0123456789' };
const TEXT = `
model:
  provider: openai-compatible
  baseURL: http://127.0.0.1:9/v1
  name: big
  apiKey: { env: FIRST_KEY }
  timeoutSeconds: 7
  fallbacks:
  - { name: small }
  - { provider: anthropic, name: claude-haiku-4-5, apiKey: { file: other-key }, contextWindow: 200000 }
models:
  classifier: { name: small, price: { input: 1, output: 2 } }
agents:
- { name: Writer, workspace: writing, instructions: WRITER.md }
- name: Clerk
  workspace: files
  model: { provider: rehearsal, fallbacks: [{ name: small }] }
`;

async function configOf(t: TestContext, text: string): Promise<Config> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sekisho-models-')));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'sekisho.yaml'), text);
  writeFileSync(join(folder, 'other-key'), `${ENV.OTHER_KEY}\n`);
  writeFileSync(join(folder, 'WRITER.md'), 'You write.');
  const config = await loadConfig({ cwd: folder, env: ENV });
  mkdirSync(config.values.data);
  return config;
}

const models = (config: Config): Promise<HostModels> =>
  composeModels(config, { env: {}, clock, log: SILENT, mask: (model) => model });

const nameOf = ({ provider, name }: Model): string => `${provider}/${name}`;

describe('the models of a host', () => {
  test('are those that are configured, each once, the first one first', async (t) => {
    const { first, fallbacks, assessment, classifier, all } = await models(await configOf(t, TEXT));
    const claude = 'anthropic/claude-haiku-4-5';
    assert.equal(nameOf(first), 'openai-compatible/big');
    assert.deepEqual(fallbacks.map(nameOf), ['openai-compatible/small', claude]);
    assert.equal(nameOf(classifier), 'openai-compatible/small');
    assert.equal(assessment, first, 'what is not configured is the first model');
    assert.deepEqual(all.map(nameOf), [
      'openai-compatible/big',
      'openai-compatible/small',
      claude,
      'rehearsal/rehearsal',
    ]);
  });

  test('one of them judges recovery where it is configured', async (t) => {
    const text = [
      'model: { provider: openai-compatible, baseURL: http://127.0.0.1:9/v1, name: big }',
      'models: { assessment: { provider: rehearsal } }',
    ].join('\n');
    const { assessment, first } = await models(await configOf(t, text));
    assert.equal(nameOf(assessment), 'rehearsal/rehearsal');
    assert.equal(nameOf(first), 'openai-compatible/big');
  });

  test('one of them writes the summaries where it is configured, else the first one', async (t) => {
    const first =
      'model: { provider: openai-compatible, baseURL: http://127.0.0.1:9/v1, name: big, apiKey: { env: FIRST_KEY } }\n';
    const silent = await models(await configOf(t, first));
    assert.equal(silent.summary, silent.first);
    const text = `${first}models: { summary: { name: pen, contextWindow: 8000 } }\n`;
    const { summary, all } = await models(await configOf(t, text));
    assert.deepEqual([nameOf(summary), summary.contextWindow], ['openai-compatible/pen', 8000]);
    assert.equal(summary.account, silent.first.account, 'behind the key of the first one');
    assert.deepEqual(all.map(nameOf), ['openai-compatible/big', 'openai-compatible/pen']);
  });

  test('X-6: the key of the model that writes the summaries is a secret', async (t) => {
    const text =
      'model: { provider: rehearsal }\n' +
      'models: { summary: { provider: openai, name: pen, apiKey: { env: OTHER_KEY } } }\n';
    const config = await configOf(t, text);
    assert.ok(knownSecrets(config, {}, undefined).includes(ENV.OTHER_KEY));
    assert.ok(!JSON.stringify(shownValues(config)).includes(ENV.OTHER_KEY));
  });

  test('T-18: share limits where they share address and key', async (t) => {
    const { first, fallbacks, classifier } = await models(await configOf(t, TEXT));
    assert.equal(fallbacks[0]?.account, first.account);
    assert.equal(classifier.account, first.account);
    assert.notEqual(fallbacks[1]?.account, first.account);
  });

  test('have the price that is configured, else the catalogue’s, else none', async (t) => {
    const { first, fallbacks, classifier } = await models(await configOf(t, TEXT));
    assert.deepEqual([first.rates, first.price], [null, 'unpriced']);
    assert.deepEqual(classifier.rates, { input: 1, output: 2 });
    assert.ok((fallbacks[1]?.rates?.output ?? 0) > 0);
    assert.equal(fallbacks[1]?.price, 'costs-money');
    assert.equal(fallbacks[1]?.contextWindow, 200_000);
  });

  test('use the key of the first one where they are others of its provider', async (t) => {
    const first =
      'model: { provider: openai, name: big, apiKey: { env: FIRST_KEY }, fallbacks: [{ name: b }] }';
    const { first: one, fallbacks } = await models(await configOf(t, first));
    assert.equal(fallbacks[0]?.account, one.account);
    assert.doesNotMatch(one.account, /no key/);
  });

  test('are one where two are configured alike', async (t) => {
    const text = 'model: { provider: rehearsal, fallbacks: [{ provider: rehearsal }] }\n';
    const { first, classifier, all } = await models(await configOf(t, text));
    assert.equal(classifier, first);
    assert.deepEqual(all.map(nameOf), ['rehearsal/rehearsal']);
  });

  test('are the one that is found where none is configured', async (t) => {
    const config = await configOf(t, 'locale: en\n');
    const parts = { env: { ANTHROPIC_API_KEY: 'k' }, clock, log: SILENT };
    const found = await composeModels(config, { ...parts, mask: (model) => model });
    assert.equal(found.first.provider, 'anthropic');
    assert.deepEqual(found.all, [found.first]);
  });

  test('X-6: their keys are all known as secrets, and shown as their sources alone', async (t) => {
    const config = await configOf(t, TEXT);
    const secrets = knownSecrets(config, {}, undefined);
    const shown = JSON.stringify(shownValues(config));
    for (const secret of Object.values(ENV)) {
      assert.ok(secrets.includes(secret));
      assert.ok(!shown.includes(secret));
    }
    assert.match(shown, /FIRST_KEY/);
    assert.match(shown, /other-key/);
  });
});

describe('the agents of a host', () => {
  async function agentsOf(config: Config): Promise<readonly Agent[]> {
    const parts = { values: config.values, env: {}, clock, log: SILENT, secrets: [] };
    const sandbox = { unavailable: 'not in this test' };
    const mask = (text: string): string => text;
    const plans = planAgents(config.values);
    return composeAgents(plans, await models(config), sandbox, { ...parts, mask });
  }

  test('T-21: are one called main where none is named', async (t) => {
    const config = await configOf(t, 'agent: { name: Ada }\nmodel: { provider: rehearsal }\n');
    const [agent, ...others] = await agentsOf(config);
    assert.deepEqual(others, []);
    assert.equal(agent?.name, 'main');
    assert.match((await agent?.instructions()) ?? '', /^You are Ada,/);
  });

  test('T-21: have each their name, instructions, folder, tools and models', async (t) => {
    const config = await configOf(t, TEXT);
    const writerFile = config.values.agents[0]?.instructions ?? '';
    writeFileSync(writerFile, 'Rhyme.');
    const [writer, clerk] = await agentsOf(config);
    assert.ok(writer !== undefined && clerk !== undefined);
    assert.deepEqual([writer.name, clerk.name], ['Writer', 'Clerk']);
    assert.match(await writer.instructions(), /^You are Writer,[^]*Rhyme\.$/);
    assert.match(await clerk.instructions(), /^You are Clerk,(?![^]*Rhyme)/);
    assert.deepEqual([writer.model, clerk.model].map(nameOf), [
      'openai-compatible/big',
      'rehearsal/rehearsal',
    ]);
    assert.equal(writer.fallbacks.length, 2);
    assert.deepEqual(clerk.fallbacks.map(nameOf), ['openai-compatible/small']);

    const call = (name: string, args: object): Parameters<Agent['tools']['run']>[0] => ({
      name,
      args: JSON.stringify(args),
      stepId: 'step_1',
    });
    const { signal } = new AbortController();
    await writer.tools.run(call('write', { path: 'a.txt', content: 'mine' }), signal);
    const read = await clerk.tools.run(call('read', { path: 'a.txt' }), signal);
    assert.equal(read.kind, 'error');
    const over = await clerk.tools.run(call('read', { path: '../writing/a.txt' }), signal);
    assert.equal(over.kind, 'error');
  });

  test('E-4: their commands are asked about as it is configured', async (t) => {
    const text = 'tools: { command: { approval: always, approver: other, allow: [echo hi] } }\n';
    const [agent] = await agentsOf(await configOf(t, `model: { provider: rehearsal }\n${text}`));
    const examine = (command: string): ReturnType<Agent['tools']['examine']> | undefined =>
      agent?.tools.examine({ name: 'command', args: JSON.stringify({ command }), stepId: 's' });
    const asked = await examine('ls');
    assert.deepEqual([asked?.needsApproval, asked?.approver], [true, 'other']);
    assert.equal((await examine('echo hi there'))?.needsApproval, false);
  });
});

test('the options of the engine are the configured bounds', async (t) => {
  const text =
    'limits: { turns: 3, tokens: 4, costUsd: 0.5, continuations: 0, deadline: off }\n' +
    'tools: { approvalHours: 2 }\nwhileBusy: interrupt\n';
  const { values } = await configOf(t, text);
  const options = engineOptions(values, { exclusive: true, description: '' }, 1);
  assert.equal(options.deadlineMs, null);
  assert.deepEqual(
    [
      options.turnsLimit,
      options.tokensLimit,
      options.costLimitMicroUsd,
      options.continuationsLimit,
    ],
    [3, 4, 500_000, 0],
  );
  assert.deepEqual([options.whileBusy, options.approvalMs], ['interrupt', 2 * 3_600_000]);
});
