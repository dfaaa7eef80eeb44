import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../kernel/money.ts';
import {
  exhaustedBy,
  exhaustedForContinuation,
  exhaustedForTurn,
  grantFor,
  type Budget,
} from './spend.ts';

const COUNTS = {
  turnsLimit: 3,
  turnsUsed: 0,
  tokensLimit: 100,
  tokensUsed: 0,
  costLimit: 2 * USD,
  costUsed: 0,
  continuationsLimit: 2,
  continuationsUsed: 0,
};
const NOTHING = { tokens: 0, cost: 0 };

describe('what a budget forbids', () => {
  test('T-7 the count that reaches its limit forbids the next spend, and none before it', () => {
    assert.equal(exhaustedBy(COUNTS, { tokens: 99, cost: 2 * USD - 1 }), undefined);
    assert.equal(exhaustedBy({ ...COUNTS, tokensUsed: 60 }, { tokens: 40, cost: 0 }), 'tokens');
    assert.equal(exhaustedBy(COUNTS, { tokens: 0, cost: 2 * USD }), 'costUsd');
    assert.equal(exhaustedForTurn({ ...COUNTS, turnsUsed: 2 }), undefined);
    assert.equal(exhaustedForTurn({ ...COUNTS, turnsUsed: 3 }), 'turns');
    assert.equal(exhaustedForTurn({ ...COUNTS, tokensUsed: 100 }), 'tokens');
    assert.equal(exhaustedForContinuation({ ...COUNTS, continuationsUsed: 1 }), undefined);
    assert.equal(exhaustedForContinuation({ ...COUNTS, continuationsUsed: 2 }), 'continuations');
  });

  test('T-7 with no money granted, work that costs nothing goes on', () => {
    const free = { ...COUNTS, costLimit: 0 };
    assert.equal(exhaustedBy(free, NOTHING), undefined);
    assert.equal(exhaustedBy(free, { tokens: 0, cost: 1 }), 'costUsd');
  });
});

describe('what has to be granted', () => {
  test('W-7 it is typed, and what it grants lets the work go on', () => {
    assert.equal(grantFor({ ...COUNTS, turnsUsed: 3 }, 'turns'), 'turns=+3');
    assert.equal(grantFor({ ...COUNTS, tokensUsed: 250 }, 'tokens'), 'tokens=+200');
    assert.equal(grantFor({ ...COUNTS, costUsed: 2 * USD }, 'costUsd'), 'cost=+2');
    assert.equal(grantFor(COUNTS, 'continuations'), 'continuations=+2');
  });

  test('V8 what else forbids the next turn is granted with it', () => {
    const both = { ...COUNTS, turnsUsed: 3, tokensUsed: 250 };
    assert.equal(grantFor(both, 'tokens'), 'turns=+3 tokens=+200');
    assert.equal(grantFor({ ...COUNTS, continuationsUsed: 2 }, 'turns'), 'turns=+3');
    assert.equal(grantFor({ ...COUNTS, tokensUsed: 100 }, 'turns'), 'turns=+3 tokens=+100');
    assert.equal(grantFor({ ...COUNTS, tokensUsed: 99 }, 'turns'), 'turns=+3');
    assert.equal(grantFor({ ...COUNTS, costUsed: 2 * USD }, 'turns'), 'turns=+3 cost=+2');
    assert.equal(grantFor({ ...COUNTS, costUsed: 1 }, 'turns'), 'turns=+3');
    assert.equal(grantFor({ ...COUNTS, costLimit: 0 }, 'turns'), 'turns=+3', 'it costs nothing');
  });

  test('V15 W-7 granting it clears the budget, however far it was overdrawn', () => {
    const count = fc.nat(1_000_000);
    const amounts = fc.record({ limit: count, used: count });
    const budgets = fc.constantFrom<Budget>('turns', 'tokens', 'continuations');
    fc.assert(
      fc.property(amounts, budgets, ({ limit, used }, budget) => {
        const counts = {
          ...COUNTS,
          [`${budget}Limit`]: limit,
          [`${budget}Used`]: used,
        };
        const typed = grantFor(counts, budget);
        const granted = Number(new RegExp(`${budget}=\\+(\\d+)`).exec(typed)?.[1]);
        assert.ok(granted > 0);
        assert.ok(used < limit + granted);
      }),
    );
  });
});
