import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inThreads } from './crew.ts';

describe('threads', () => {
  test('give what they did in the order in which it was asked for', async () => {
    const counts: number[] = [];
    const orders = [5, 1, 3, 2].map((from) => ({ from, seeds: 1 }));
    const done = (count: number): void => void counts.push(count);
    const sets = await inThreads('seeds', orders, { threads: 2, done });
    assert.deepEqual(
      sets.map(({ from, seeds }) => [from, seeds]),
      orders.map(({ from }) => [from, 1]),
    );
    assert.deepEqual(counts, [1, 2, 3, 4]);
  });

  test('that break are no success', async () => {
    await assert.rejects(inThreads('scenario', [{ scenario: 9_999 }]), /none is 9999/);
  });
});
