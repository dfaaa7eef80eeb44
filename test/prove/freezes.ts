import { freezeHosts, freezeOf } from '../crash/freeze.ts';
import { inBlocks, unreached } from './postgres-blocks.ts';
import type { Proof } from './proof.ts';

/** T14: one of two hosts is stopped beyond its lease while it works, and wakes once the other has taken over. */
export const freezes: Proof = {
  name: 'freezes',
  unit: 'hosts stopped beyond their lease in a turn, an assessment, a summary or anything',
  counts: { full: 5, release: 100 },
  chunk: 20,
  run: (order) =>
    inBlocks('freezes', order, (from, count) => {
      const kinds = Array.from({ length: count }, (_, index) => freezeOf(from + index));
      return freezeHosts(kinds, from);
    }),
  judge: (sums) => [
    ...unreached(sums, ['turnsTaken', 'summariesRefused', 'assessmentsRefused']),
    ...(sums['turnsRefused'] === sums['turnsTaken']
      ? []
      : [`${sums['turnsRefused']} of ${sums['turnsTaken']} turns were refused`]),
  ],
};
