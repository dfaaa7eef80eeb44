import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canMount } from '../crash/mounts.ts';
import { diskFull } from './disk-full.ts';
import type { Proof } from './proof.ts';
import { readOnly } from './read-only.ts';

const skipped = canMount ? '' : ' (skipped: mounting needs root)';

async function one(proof: Proof, piece: number): Promise<Readonly<Record<string, number>>> {
  const order = { tier: 'full', from: piece, count: 1, say: () => {} } as const;
  const { ran, failures, figures = {} } = await proof.run(order);
  assert.deepEqual(failures, []);
  assert.equal(ran, 1);
  return figures;
}

test(
  `G-6 Y64 a disk that is full refuses what is new with the reason, and heals by itself${skipped}`,
  { skip: !canMount },
  async () => {
    const { rounds = 0, refused = 0 } = await one(diskFull, 4);
    assert.equal(rounds, 1);
    assert.ok(refused > 0);
  },
);

test(
  `G-6 a start on a read-only disk says so, changes nothing, and goes on once it may be written${skipped}`,
  { skip: !canMount },
  async () => {
    assert.deepEqual(Object.keys(await one(readOnly, 3)), ['refused', 'acked']);
  },
);

test('a proof of disks in which nothing was full, or nothing was there, is red', () => {
  assert.ok((diskFull.judge?.({ rounds: 20, refused: 400, waited: 0 }, 'full') ?? []).length > 0);
  assert.ok((diskFull.judge?.({ rounds: 20, refused: 1, waited: 9 }, 'full') ?? []).length > 0);
  assert.ok((readOnly.judge?.({ refused: 12, acked: 0 }, 'full') ?? []).length > 0);
});
