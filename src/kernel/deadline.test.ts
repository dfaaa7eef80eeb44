import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeadline } from './deadline.ts';

test('a deadline is an addition with its unit, or an instant with its zone', () => {
  assert.deepEqual(readDeadline('+90m'), { addMs: 5_400_000 });
  assert.deepEqual(readDeadline('+2D'), { addMs: 172_800_000 });
  assert.deepEqual(readDeadline('2026-12-24T18:00:00+01:00'), { at: 1_798_131_600_000 });
  const none = ['', '+', '2d', '+0d', '-2d', '+2w', '+1.5d', '+4000d', 'tomorrow', '2026-12-24'];
  for (const text of none) assert.equal(readDeadline(text), undefined, text);
});
