// A disk that fills up under load and has room again, round by round (G-6, Y64).
import { fullRound } from '../crash/disk-full.ts';
import { canMount } from '../crash/mounts.ts';
import type { Proof } from './proof.ts';
import { runRounds, unable } from './rounds.ts';

/** What was acknowledged is answered once, what is new is refused with the reason, and it heals by itself. */
export const diskFull: Proof = {
  name: 'disk-full',
  unit: 'rounds',
  counts: { full: 8, release: 200 },
  chunk: 10,
  run: async (order) =>
    canMount
      ? runRounds(order, { script: 'test/crash/disk-full.ts', play: fullRound })
      : unable('mounting needs root'),
  judge: ({ rounds = 0, refused = 0, waited = 0 }) => [
    ...(refused >= rounds ? [] : [`${refused} refusals in ${rounds} rounds`]),
    ...(waited > 0 ? [] : ['no step waited for room']),
  ],
};
