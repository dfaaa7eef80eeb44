// The proofs over PostgreSQL, a few pieces of each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakServer } from '../crash/postgres-faults.ts';
import { failOver } from '../crash/standby.ts';
import { freezeHosts } from '../crash/freeze.ts';
import { freezes } from './freezes.ts';
import { postgresFaults } from './postgres-faults.ts';
import { postgresKills } from './postgres-kills.ts';
import type { Proof } from './proof.ts';
import { standby } from './standby.ts';

test('V2 V19 L-2 two hosts are killed over one PostgreSQL: nothing is lost or done twice', async () => {
  const order = { tier: 'full', from: 1, count: 1, say: () => {} } as const;
  const { ran, failures, figures = {} } = await postgresKills.run(order);
  assert.deepEqual(failures, []);
  assert.equal(ran, 1);
  assert.ok((figures['acked'] ?? 0) > 0 && figures['answered'] === figures['acked']);
});

test('L-8 two hosts go on by themselves after their server was broken in each way', async () => {
  const tally = await breakServer(['kill', 'terminate', 'restart'], 1);
  const { acked, answered, kills, terminations, restarts, lostConnections } = tally;
  assert.equal(answered, acked);
  assert.deepEqual([kills, terminations, restarts], [1, 1, 1]);
  assert.ok(lostConnections > 0, 'the faults must have met somebody');
});

test('L-8 two hosts follow a standby that is promoted after they were led to it', async () => {
  const tally = await failOver({ seed: 1, movesEarly: true });
  assert.equal(tally.answered, tally.acked);
  assert.ok(tally.ackedBefore > 0, 'something must have been acknowledged before');
});

test('L-2 V19 a host that wakes beyond its lease is refused what it tries', async () => {
  const tally = await freezeHosts(['turn'], 1);
  assert.ok(tally.turnsTaken > 0);
  assert.equal(tally.turnsRefused, tally.turnsTaken);
  assert.equal(tally.answered, tally.acked);
});

/** What each proof has to have reached, and sums that are worse by one of them. */
const REACHED: readonly (readonly [Proof, Readonly<Record<string, number>>])[] = [
  [postgresKills, { acked: 9, answered: 9, interrupted: 1, takenOver: 1, shortened: 1 }],
  [
    postgresFaults,
    { acked: 9, answered: 9, kills: 1, terminations: 1, restarts: 1, unknownCommits: 1 },
  ],
  [standby, { acked: 9, answered: 9, ackedBefore: 1 }],
  [
    freezes,
    {
      acked: 9,
      answered: 9,
      turnsTaken: 2,
      turnsRefused: 2,
      summariesRefused: 1,
      assessmentsRefused: 1,
    },
  ],
];

for (const [proof, sums] of REACHED) {
  test(`${proof.name} is red when something was not reached`, () => {
    assert.deepEqual(proof.judge?.(sums, 'full'), []);
    for (const name of Object.keys(sums))
      assert.notDeepEqual(proof.judge?.({ ...sums, [name]: 0 }, 'full'), [], name);
  });
}
