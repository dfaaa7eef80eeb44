import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isId } from '../../kernel/ids.ts';
import { createIds, secureRandom } from './ids.ts';

test('ids have their prefix, their length and their alphabet', () => {
  const ids = createIds({ now: () => 1_800_000_000_000, random: secureRandom });
  assert.ok(isId('task', ids.next('task')));
  assert.ok(isId('conversation', ids.next('conversation')));
  assert.equal(ids.next('run').length, 'run_'.length + 16);
});

test('ids of one millisecond sort by creation', () => {
  const ids = createIds({ now: () => 1_800_000_000_000, random: secureRandom });
  const made = Array.from({ length: 2000 }, () => ids.next('event'));
  assert.deepEqual(made.toSorted(), made);
  assert.equal(new Set(made).size, 2000);
});

test('a clock that goes back makes no id lower than the last', () => {
  let now = 1_800_000_000_000;
  const ids = createIds({ now: () => now, random: secureRandom });
  const made = [0, 5, -60_000, -60_000, 6].map((step) => {
    now = 1_800_000_000_000 + step;
    return ids.next('event');
  });
  assert.deepEqual(made.toSorted(), made);
});

test('a full counter borrows the next millisecond', () => {
  const counts = [2 ** 32 - 1, 7];
  const ids = createIds({ now: () => 1000, random: () => counts.shift() ?? 0 });
  const first = ids.next('event');
  const second = ids.next('event');
  assert.ok(first < second);
  const later = createIds({ now: () => 1001, random: () => 7 });
  assert.equal(second, later.next('event'));
});
