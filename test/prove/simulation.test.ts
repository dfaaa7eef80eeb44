import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { SOMETIMES } from '../simulation/sometimes.ts';
import { doubleCrash } from './double-crash.ts';
import { drill } from './drill.ts';
import type { Proof } from './proof.ts';
import { seeds } from './seeds.ts';
import { singleCrash } from './single-crash.ts';

/** Runs some pieces of a proof, all of which hold. */
async function prove(
  context: TestContext,
  proof: Proof,
  range: { readonly from: number; readonly count: number },
): Promise<Readonly<Record<string, number>>> {
  const say = context.diagnostic.bind(context);
  const { ran, failures, figures = {} } = await proof.run({ tier: 'full', ...range, say });
  assert.deepEqual(failures, []);
  assert.equal(ran, range.count);
  return figures;
}

describe('the proofs of the simulated world', () => {
  test('V1 V20 seeds: some are played, one of them twice', async (context) => {
    const figures = await prove(context, seeds, { from: 96, count: 8 });
    assert.equal(figures['seeds'], 8);
    assert.equal(figures['twice'], 1);
    // Eight seeds owe nothing yet; a thousand owe each event once.
    assert.deepEqual(seeds.judge?.(figures, 'full'), []);
    const seldom = seeds.judge?.({ ...figures, seeds: 1_000 }, 'full') ?? [];
    const name = Object.keys(SOMETIMES).find((one) => figures[one] === undefined);
    assert.ok(seldom.includes(`${name}: 0 in all, and 1 are the least`));
    assert.ok(seldom.includes('fewer than 10 seeds were played twice'));
  });

  test('V2 single-crash: a host dies at each point of a scenario', async (context) => {
    const figures = await prove(context, singleCrash, { from: 1, count: 1 });
    assert.ok((figures['points'] ?? 0) >= 25);
    assert.deepEqual(singleCrash.judge?.(figures, 'full'), []);
    assert.equal(singleCrash.judge?.({ ...figures, played: 1 }, 'full')?.length, 1);
  });

  test('V2 double-crash: and another one at points of what follows', async (context) => {
    const figures = await prove(context, doubleCrash, { from: 1, count: 1 });
    assert.ok((figures['pairs'] ?? 0) >= 3);
    assert.deepEqual(doubleCrash.judge?.(figures, 'full'), []);
    assert.equal(doubleCrash.judge?.(figures, 'release')?.length, 1);
  });

  test('drill: a planted defect is caught', async (context) => {
    const figures = await prove(context, drill, { from: 1, count: 1 });
    assert.equal(figures['caught'], 1);
    assert.equal(drill.judge?.({ defects: 2, caught: 1 }, 'full')?.length, 1);
  });
});
