import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priced } from './price.ts';

const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

test('a long request costs its tier, all of its tokens', () => {
  const price = {
    input: 1,
    output: 2,
    tiers: [
      { inputTokensAbove: 100, input: 5, output: 10 },
      { inputTokensAbove: 1_000, input: 50, output: 100 },
    ],
  };
  assert.equal(priced({ ...NONE, input: 100, output: 1 }, price).cost, 102);
  assert.equal(priced({ ...NONE, input: 1, cacheRead: 100, output: 1 }, price).cost, 515);
  assert.equal(priced({ ...NONE, input: 1_001 }, price).cost, 50_050);
});

test('what a cache holds costs as input where it has no price of its own', () => {
  const counted = { input: 1, output: 1, cacheRead: 10, cacheWrite: 100 };
  assert.deepEqual(priced(counted, { input: 2, output: 3 }), {
    inputTokens: 111,
    outputTokens: 1,
    cost: 225,
  });
  assert.equal(priced(counted, undefined).cost, null);
});
