// The keys of what the host does by itself: assessments after a crash, and the upkeep of long conversations.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engineOptions } from '../../src/compose/options.ts';
import { folderOf, load, problemsOf } from './config-cases.ts';

test('the keys of recovery are read, fractions of a second among them', async (t) => {
  const text = [
    'model: { provider: rehearsal }',
    'models: { assessment: { provider: openai-compatible, baseURL: http://127.0.0.1:9/v1, name: judge } }',
    'recovery: { safeMode: false, spacingSeconds: 0.1, callTimeoutSeconds: 2.5 }',
    'notices: { recoveryDiagnostics: true }',
  ].join('\n');
  const { values } = await load(folderOf(t), { text });
  assert.equal(values['models.assessment']?.name, 'judge');
  const traits = { exclusive: true, description: '' };
  assert.deepEqual(engineOptions(values, traits, 1).recovery, {
    safeMode: false,
    spacingMs: 100,
    callMs: 2500,
    diagnostics: true,
  });
  const silent = await load(folderOf(t), { text: '' });
  assert.deepEqual(engineOptions(silent.values, traits, 1).recovery, {
    safeMode: true,
    spacingMs: 60_000,
    callMs: 60_000,
    diagnostics: false,
  });
});

describe('what recovery is not given', () => {
  const cases: readonly [text: string, expected: RegExp][] = [
    ['recovery: { safeMode: later }', /^recovery\.safeMode: "later" .*true \| false/],
    ['recovery: { spacingSeconds: 0.05 }', /^recovery\.spacingSeconds: 0\.05 .*0\.1 to 86400/],
    ['recovery: { spacingSeconds: 86401 }', /^recovery\.spacingSeconds: 86401 .*0\.1 to 86400/],
    ['recovery: { callTimeoutSeconds: 601 }', /^recovery\.callTimeoutSeconds: 601 .*0\.1 to 600/],
    ['recovery: { callTimeoutSeconds: off }', /^recovery\.callTimeoutSeconds: "off" .*0\.1 to 600/],
    [
      'models: { assessment: { provider: gpt } }',
      /^models\.assessment\.provider: gpt is no provider/,
    ],
    ['notices: { recoveryDiagnostics: 1 }', /^notices\.recoveryDiagnostics: 1 .*true \| false/],
  ];
  for (const [text, expected] of cases) {
    test(text, async (t) => {
      const [problem, ...more] = await problemsOf(folderOf(t), { text });
      assert.deepEqual(more, []);
      assert.match(`${problem?.key}: ${problem?.what} ${problem?.allowed}`, expected);
    });
  }
});

test('the keys of maintenance are read, fractions of a second among them', async (t) => {
  const text = [
    'model: { provider: rehearsal }',
    'models: { summary: { provider: openai-compatible, baseURL: http://127.0.0.1:9/v1, name: pen } }',
    'maintenance: { startAt: 0.5, firstDelaySeconds: 0.25, maxDelaySeconds: 2.5 }',
  ].join('\n');
  const { values } = await load(folderOf(t), { text });
  assert.equal(values['models.summary']?.name, 'pen');
  const traits = { exclusive: true, description: '' };
  assert.deepEqual(engineOptions(values, traits, 1).maintenance, {
    startAt: 0.5,
    firstDelayMs: 250,
    maxDelayMs: 2500,
  });
  const silent = await load(folderOf(t), { text: '' });
  assert.deepEqual(engineOptions(silent.values, traits, 1).maintenance, {
    startAt: 0.8,
    firstDelayMs: 1000,
    maxDelayMs: 60_000,
  });
  assert.equal(silent.values['models.summary'], undefined);
});

describe('what maintenance is not given', () => {
  const cases: readonly [text: string, expected: RegExp][] = [
    ['maintenance: { startAt: 0.05 }', /^maintenance\.startAt: 0\.05 .*0\.1 to 0\.95/],
    ['maintenance: { startAt: 1 }', /^maintenance\.startAt: 1 .*0\.1 to 0\.95/],
    ['maintenance: { startAt: 80% }', /^maintenance\.startAt: "80%" .*0\.1 to 0\.95/],
    ['maintenance: { firstDelaySeconds: 0 }', /^maintenance\.firstDelaySeconds: 0 .*0\.1 to 86400/],
    ['maintenance: { maxDelaySeconds: -1 }', /^maintenance\.maxDelaySeconds: -1 .*0\.1 to 86400/],
    [
      'maintenance: { maxDelaySeconds: off }',
      /^maintenance\.maxDelaySeconds: "off" .*0\.1 to 86400/,
    ],
    [
      'maintenance: { firstDelaySeconds: 90 }',
      /^maintenance\.maxDelaySeconds: is less than maintenance\.firstDelaySeconds a number from 90/,
    ],
    ['maintenance: { maxRecoveryFailures: 9 }', /^maintenance\.maxRecoveryFailures: unknown key/],
    ['models: { summary: { provider: gpt } }', /^models\.summary\.provider: gpt is no provider/],
    ['models: { summary: { name: pen } }', /^models\.summary: a model without a provider/],
  ];
  for (const [text, expected] of cases) {
    test(text, async (t) => {
      const [problem, ...more] = await problemsOf(folderOf(t), { text });
      assert.deepEqual(more, []);
      assert.match(`${problem?.key}: ${problem?.what} ${problem?.allowed}`, expected);
    });
  }
});
