import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, readInstant } from '../../kernel/time.ts';
import { lastDays } from './days.ts';

const at = (text: string): number => readInstant(text) ?? NaN;

test('days of a zone begin at its own midnight, the newest first', () => {
  const [today, before] = lastDays(2, at('2026-11-30T23:30:00Z'), 'Europe/Berlin');
  assert.deepEqual(today, {
    name: '2026-12-01',
    from: at('2026-11-30T23:00:00Z'),
    to: at('2026-12-01T23:00:00Z'),
  });
  assert.deepEqual(before?.name, '2026-11-30');
  assert.equal(before?.to, today?.from);
});

test('a day on which the clock is set is shorter or longer, and none is lost', () => {
  const hours = (zone: string, now: string): readonly (readonly [string, number])[] =>
    lastDays(3, at(now), zone).map(({ name, from, to }) => [name, (to - from) / HOUR]);
  assert.deepEqual(hours('Europe/Berlin', '2026-03-30T12:00:00Z'), [
    ['2026-03-30', 24],
    ['2026-03-29', 23],
    ['2026-03-28', 24],
  ]);
  assert.deepEqual(hours('Europe/Berlin', '2026-10-25T12:00:00Z')[0], ['2026-10-25', 25]);
  // Midnight itself is skipped there.
  assert.deepEqual(hours('America/Santiago', '2026-09-06T20:00:00Z')[0], ['2026-09-06', 23]);
  assert.deepEqual(hours('Pacific/Kiritimati', '2026-01-01T00:00:00Z')[0], ['2026-01-01', 24]);
});
