import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chunksLeft, rangesWith, type Range } from './ranges.ts';

const rangeOf = fc.record({
  from: fc.integer({ min: 1, max: 60 }),
  count: fc.integer({ min: 1, max: 20 }),
});

const pieces = (ranges: readonly Range[]): ReadonlySet<number> =>
  new Set(ranges.flatMap(({ from, count }) => Array.from({ length: count }, (_, at) => from + at)));

test('what was run and what is left are the whole, and nothing is in both', () => {
  const property = fc.property(
    fc.array(rangeOf),
    rangeOf,
    fc.integer({ min: 1, max: 9 }),
    (ran, wanted, chunk) => {
      const done = ran.reduce<readonly Range[]>(rangesWith, []);
      assert.deepEqual(pieces(done), pieces(ran));
      const left = chunksLeft(wanted, done, chunk);
      const [has, lacks] = [pieces(done), pieces(left)];
      for (const piece of pieces([wanted])) assert.notEqual(has.has(piece), lacks.has(piece));
      const most = left.reduce((sum, { count }) => sum + count, 0);
      assert.equal(most, lacks.size, 'a piece is in two chunks');
      assert.ok(left.every(({ count }) => count >= 1 && count <= chunk));
      assert.ok([...lacks].every((piece) => pieces([wanted]).has(piece)));
    },
  );
  fc.assert(property);
});

test('ranges that touch are one', () => {
  const ranges = [
    { from: 11, count: 10 },
    { from: 1, count: 10 },
  ].reduce<readonly Range[]>(rangesWith, []);
  assert.deepEqual(ranges, [{ from: 1, count: 20 }]);
});
