import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINDINGS, type FindingCode } from '../../src/engine/doctor/findings.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { sayFinding } from '../../src/text/finding.ts';

const NOW = 1_800_000_000_000;
const TASK = 'task_7K2M9QX4R1T8WZ3C';

/** A value for each field that a finding may hold. */
const VALUES: JsonObject = {
  request: 'Sort the papers',
  description: 'SQLite 3.53.4',
  detail: 'row 7 missing',
  path: '/state/api-key',
  folder: '/state',
  model: 'openai/gpt',
  taskId: TASK,
  hostId: 'host_1',
  operationId: 'mop_3H8D0V5B7N2K6PQA',
  conversationId: 'conv_3H8D0V5B7N2K6PQA',
  reason: 'no_outcome',
  check: 'tasks',
  what: 'altered',
  kind: 'turn',
  mode: '0644',
  wanted: '0600',
  command: `/task-resume ${TASK}`,
  since: NOW - 60_000,
  until: NOW + 60_000,
  endedAt: NOW - 1_000,
  models: ['openai/gpt', 'openai/mini'],
  uses: ['turns'],
  tasks: [TASK],
  version: '1.0.0',
  node: '24.0.0',
  tz: '2026c',
  endedBy: 'key:ops',
  lastHash: 'abc',
};

function dataOf(code: FindingCode, more: JsonObject = {}): JsonObject {
  const fields: readonly string[] = FINDINGS[code].data;
  const named = fields.map((field) => [field, VALUES[field] ?? 7] as const);
  return { ...Object.fromEntries(named), ...more };
}

const CODES = Object.keys(FINDINGS) as FindingCode[];
/** Codes that are said in several ways. */
const MORE: readonly (readonly [FindingCode, JsonObject])[] = [
  ['audit_broken', { what: 'missing' }],
  ['audit_broken', { what: 'displaced' }],
  ['work_unowned', { kind: 'worker' }],
  ['work_unowned', { kind: 'worker', taskId: null }],
  ['operation_blocked', { reason: 'exhausted' }],
  ['operation_waiting', { until: null }],
  ['tasks_held', { held: 1 }],
  ['tasks_sound', { open: 1 }],
  ['tasks_sound', { open: 0 }],
];
const ALL = [...CODES.map((code) => [code, {}] as const), ...MORE];

for (const locale of ['en', 'de'] as const) {
  test(`every finding is a whole sentence without a gap (${locale})`, () => {
    for (const [code, more] of ALL) {
      const found = { code, data: dataOf(code, more) };
      const { sentence } = sayFinding({ locale, timeZone: 'UTC' }, found, NOW);
      assert.match(sentence, /[.!?]$/, `${code}: ${sentence}`);
      assert.doesNotMatch(
        sentence,
        /undefined|null|NaN|\(\)| {2}|“”|„“|``/,
        `${code}: ${sentence}`,
      );
      assert.notEqual(sentence, code);
    }
  });
}

test('what is wrong has its command, where one changes it', () => {
  const without = CODES.filter((code) => {
    const { command } = sayFinding(
      { locale: 'en', timeZone: 'UTC' },
      { code, data: dataOf(code) },
      NOW,
    );
    return FINDINGS[code].level === 'problem' && command === null;
  });
  // Only a person's hands help here, and the sentence says with what.
  assert.deepEqual(without, ['store_damaged', 'audit_broken', 'disk_full', 'account_down']);
});

test('a code that a newer version found is told as it stands', () => {
  const reader = { locale: 'en', timeZone: 'UTC' } as const;
  assert.deepEqual(sayFinding(reader, { code: 'brand_new', data: {} }, NOW), {
    sentence: 'brand_new',
    command: null,
  });
});
