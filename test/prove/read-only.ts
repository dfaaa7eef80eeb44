// Starts on a disk that is mounted read-only (G-6).
import { canMount } from '../crash/mounts.ts';
import { readOnlyRound } from '../crash/read-only.ts';
import type { Proof } from './proof.ts';
import { runRounds, unable } from './rounds.ts';

/** Each start is refused with the reason and the way out and changes nothing; mounted to be written it goes on. */
export const readOnly: Proof = {
  name: 'read-only',
  unit: 'starts',
  counts: { full: 12, release: 60 },
  chunk: 12,
  run: async (order) =>
    canMount
      ? runRounds(order, { script: 'test/crash/read-only.ts', play: readOnlyRound })
      : unable('mounting needs root'),
  judge: ({ acked = 0 }) => (acked > 0 ? [] : ['nothing was there before']),
};
