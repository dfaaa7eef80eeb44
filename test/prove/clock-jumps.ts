// A wall clock that is set while the real process runs (design principle 8, Y39, Y42).
import { canSetClock, clockRound } from '../crash/clock-jumps.ts';
import type { Proof } from './proof.ts';
import { runRounds, unable } from './rounds.ts';

/** Nothing ends early or begins twice, every wait ends, the order is kept, and each doubt is told once. */
export const clockJumps: Proof = {
  name: 'clock-jumps',
  unit: 'rounds',
  counts: { full: 12, release: 200 },
  chunk: 24,
  run: async (order) =>
    canSetClock
      ? runRounds(order, { script: 'test/crash/clock-jumps.ts', play: clockRound, sideBySide: 3 })
      : unable('libfaketime is not installed'),
  judge: ({ jumps = 0, doubts = 0, expired = 0 }) => [
    ...(jumps > 0 ? [] : ['no clock was set']),
    ...(doubts >= jumps ? [] : [`${doubts} doubts of ${jumps} clocks that were set`]),
    ...(expired > 0 ? [] : ['no confirmed clock has let an approval expire']),
  ],
};
