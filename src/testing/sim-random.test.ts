import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hashText, seededRandom } from './sim-random.ts';

const draws = (seed: number, name: string): number[] => {
  const random = seededRandom(seed, name);
  return Array.from({ length: 1_000 }, () => random.next());
};

describe('seeded chance', () => {
  test('gives the same draws for the same seed and stream, and others for others', () => {
    assert.deepEqual(draws(7, 'faults'), draws(7, 'faults'));
    assert.notDeepEqual(draws(7, 'faults'), draws(8, 'faults'));
    assert.notDeepEqual(draws(7, 'faults'), draws(7, 'workload'));
  });

  test('is spread evenly over [0, 1), also across neighbouring seeds', () => {
    const firsts = Array.from({ length: 2_000 }, (_, seed) => seededRandom(seed, 'x').next());
    for (const numbers of [draws(1, 'x'), firsts]) {
      assert.ok(numbers.every((one) => one >= 0 && one < 1));
      const mean = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
      assert.ok(Math.abs(mean - 0.5) < 0.04, String(mean));
    }
  });

  test('keeps whole numbers within their bounds and reaches both', () => {
    const random = seededRandom(1, 'x');
    const seen = new Set(Array.from({ length: 200 }, () => random.between(3, 5)));
    assert.deepEqual(
      [...seen].toSorted((a, b) => a - b),
      [3, 4, 5],
    );
    assert.equal(random.chance(0), false);
    assert.equal(random.chance(1), true);
    assert.throws(() => random.pick([]), RangeError);
  });

  test('a hash goes on from where it stood', () => {
    assert.equal(hashText('ab'), hashText('b', hashText('a')));
    assert.notEqual(hashText('ab'), hashText('ba'));
  });
});
