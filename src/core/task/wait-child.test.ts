import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE } from '../../kernel/time.ts';
import { taskRow } from '../../testing/store-rows.ts';
import { judgeDue, renewWindow } from './wait.ts';
import { WAIT_KINDS } from './moves.ts';

const NOW = 1_800_000_000_000;

function waits(waitKind: (typeof WAIT_KINDS)[number] | null): ReturnType<typeof taskRow> {
  const window = { waitUntil: NOW, changedAt: NOW - 3 * HOUR, deadline: null };
  return taskRow({ state: 'waiting', waitKind, ...window });
}

test('T-6 a polling window that runs out while a worker of the task is at work is set again', () => {
  const judged = [...WAIT_KINDS, null].map((kind) => judgeDue(waits(kind), NOW, null, true));
  const alone = [...WAIT_KINDS, null].map((kind) => judgeDue(waits(kind), NOW, null, false));
  const changed = [...WAIT_KINDS, null].filter((_, index) => judged[index] !== alone[index]);
  assert.deepEqual(changed, ['worker', 'answer', null]);
  for (const kind of changed) {
    assert.equal(judgeDue(waits(kind), NOW, null, true), 'renew');
    assert.equal(judgeDue(waits(kind), NOW, null), 'block');
    assert.equal(judgeDue({ ...waits(kind), deadline: NOW }, NOW, null, true), 'expire');
  }
});

test('T-6 it is set for the same length, from when it was looked at, and again', () => {
  const late = NOW + MINUTE;
  const renewed = renewWindow(waits(null), late);
  assert.equal(renewed.waitUntil, late + 3 * HOUR);
  assert.equal(renewed.dueAt, late + 3 * HOUR);
  assert.equal(renewed.version, 2);
  assert.equal(renewWindow(renewed, late + 3 * HOUR).waitUntil, late + 6 * HOUR);
});

test('a window that is set again is looked at no later than the deadline, and never at once', () => {
  const bounded = renewWindow({ ...waits(null), deadline: NOW + HOUR }, NOW);
  assert.deepEqual([bounded.waitUntil, bounded.dueAt], [NOW + 3 * HOUR, NOW + HOUR]);
  const imported = renewWindow({ ...waits(null), waitUntil: NOW - 7 * DAY, changedAt: NOW }, NOW);
  assert.equal(imported.waitUntil, NOW + MINUTE);
});
