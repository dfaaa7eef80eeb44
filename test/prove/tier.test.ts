import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { ProgressFile } from './progress.ts';
import type { Proof, ProofOrder } from './proof.ts';
import { runTier, type TierReport } from './tier.ts';

const say = (): void => undefined;

/** A proof of which each piece passes, but for those that are named. */
function counted(bad: readonly number[] = []): Proof & { readonly orders: ProofOrder[] } {
  const orders: ProofOrder[] = [];
  return {
    name: 'pieces',
    unit: 'pieces',
    counts: { full: 10, release: 40 },
    chunk: 15,
    orders,
    run: (order) => {
      orders.push(order);
      const failures = bad
        .filter((piece) => piece >= order.from && piece < order.from + order.count)
        .map((piece) => `piece ${piece}`);
      return Promise.resolve({ ran: order.count, failures, figures: { reached: order.count } });
    },
    judge: ({ reached = 0 }) => (reached < 10 ? [`reached ${reached} times`] : []),
  };
}

function full(proof: Proof, floors: Record<string, number>): Promise<TierReport> {
  const progress = new ProgressFile(null, 'a');
  return runTier({ tier: 'full', proofs: [proof], floors, progress, say });
}

describe('a tier', () => {
  test('is green when all ran, and says how many', async () => {
    const { problems, proofs } = await full(counted(), { pieces: 10 });
    assert.deepEqual(problems, []);
    assert.equal(proofs['pieces']?.ran, 10);
    assert.deepEqual(proofs['pieces']?.figures, { reached: 10 });
  });

  test('is red under its floor, and without a floor', async () => {
    const under = await full(counted(), { pieces: 11 });
    assert.deepEqual(under.problems, ['pieces ran 10 pieces, its floor is 11']);
    const without = await full(counted(), {});
    assert.equal(without.problems.length, 1);
  });

  test('is red when pieces that were asked for did not run, whatever ran before', async () => {
    const proof: Proof = { ...counted(), run: () => Promise.resolve({ ran: 9, failures: [] }) };
    const { problems } = await full({ ...proof, judge: () => [] }, { pieces: 1 });
    assert.deepEqual(problems, ['pieces: 9 of 10 from 1 on ran to their end']);
  });

  test('is red when a piece failed, when nothing ran, and when something was reached too seldom', async () => {
    assert.deepEqual((await full(counted([3]), { pieces: 10 })).problems, ['pieces: piece 3']);
    const proof = { ...counted(), counts: { full: 3, release: 40 } };
    assert.deepEqual((await full(proof, { pieces: 3 })).problems, ['pieces: reached 3 times']);
    const progress = new ProgressFile(null, 'a');
    const none = await runTier({ tier: 'full', proofs: [], floors: {}, progress, say });
    assert.deepEqual(none.problems, ['no proof ran']);
  });
});

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sekisho-prove-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('the release tier', () => {
  test('goes on where it was cut, keeps what failed before, and adds the figures up', async (context) => {
    const path = join(folder(context), 'kept', 'release.json');
    const proof = counted([2]);
    const cut = {
      ...proof,
      run: (order: ProofOrder) =>
        order.from > 15 ? Promise.reject(new Error('cut')) : proof.run(order),
    };
    const order = { tier: 'release', floors: {}, say } as const;
    const first = new ProgressFile(path, 'a');
    await assert.rejects(runTier({ ...order, proofs: [cut], progress: first }), /cut/);
    const again = new ProgressFile(path, 'a');
    const report = await runTier({ ...order, proofs: [proof], progress: again });
    assert.deepEqual(
      proof.orders.map(({ from, count }) => [from, count]),
      [
        [1, 15],
        [16, 15],
        [31, 10],
      ],
    );
    assert.deepEqual(report.problems, ['pieces: piece 2']);
    assert.equal(report.proofs['pieces']?.ran, 40);
    assert.deepEqual(report.proofs['pieces']?.figures, { reached: 40 });
  });

  test('begins anew on another commit', async (context) => {
    const path = join(folder(context), 'release.json');
    const order = { tier: 'release', floors: {}, say } as const;
    await runTier({ ...order, proofs: [counted()], progress: new ProgressFile(path, 'a') });
    const proof = counted();
    const other = await runTier({
      ...order,
      proofs: [proof],
      progress: new ProgressFile(path, 'b'),
    });
    assert.equal(proof.orders.length, 3);
    assert.equal(other.proofs['pieces']?.ran, 40);
  });

  test('runs a range of it alone, which owes no more than its own pieces', async (context) => {
    const path = join(folder(context), 'release.json');
    const proof = counted();
    const order = { tier: 'release', floors: {}, say, range: { from: 21, count: 4 } } as const;
    const progress = new ProgressFile(path, 'a');
    const report = await runTier({ ...order, proofs: [proof], progress });
    assert.deepEqual(report.problems, []);
    assert.deepEqual(
      proof.orders.map(({ from, count }) => [from, count]),
      [[21, 4]],
    );
  });
});
