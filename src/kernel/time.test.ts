import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readInstant } from './time.ts';

test('an instant with its zone is read as any calendar reads it', () => {
  assert.equal(readInstant('1970-01-01T00:00:00Z'), 0);
  assert.equal(readInstant('2030-01-31T09:00:00+01:00'), Date.UTC(2030, 0, 31, 8));
  assert.equal(readInstant('2030-01-31T09:00-0530'), Date.UTC(2030, 0, 31, 14, 30));
  assert.equal(readInstant(' 2024-02-29T23:59:59.5Z '), Date.UTC(2024, 1, 29, 23, 59, 59, 500));
});

test('what is no instant is none', () => {
  const wrong = ['', 'tomorrow', '2030-01-31', '2030-01-31T09:00:00', '2030-02-30T09:00:00Z'];
  const more = ['2023-02-29T09:00:00Z', '2030-13-01T09:00:00Z', '2030-01-01T24:00:00Z'];
  for (const text of [...wrong, ...more]) assert.equal(readInstant(text), undefined, text);
});

test('every instant of the calendar comes back as it was', () => {
  const instants = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) });
  fc.assert(
    fc.property(instants, (instant) => {
      assert.equal(readInstant(new Date(instant).toISOString()), instant);
    }),
  );
});
