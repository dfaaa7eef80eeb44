import { failOver, type FailoverTally } from '../crash/standby.ts';
import { inBlocks, unreached } from './postgres-blocks.ts';
import type { Proof } from './proof.ts';
import { add } from './rounds.ts';

/** T16: a synchronous standby takes over from a primary that is killed under load. */
export const standby: Proof = {
  name: 'standby',
  unit: 'failovers to a synchronous standby',
  counts: { full: 2, release: 20 },
  chunk: 5,
  run: (order) => inBlocks('standby', order, failOvers),
  judge: (sums) => [
    ...unreached(sums, ['ackedBefore']),
    ...((sums['slowFailovers'] ?? 0) === 0
      ? []
      : [`${sums['slowFailovers']} failovers took more than 5 s to write again`]),
  ],
};

const WRITABLE_MS = 5_000;

/** Every second address leads to the standby before its promotion. */
async function failOvers(from: number, count: number): Promise<Record<string, number>> {
  const sums: Record<string, number> = { slowFailovers: 0 };
  for (let piece = from; piece < from + count; piece += 1) {
    const tally: FailoverTally = await failOver({ seed: piece, movesEarly: piece % 2 === 0 });
    add(sums, tally);
    if (tally.writableMs > WRITABLE_MS) sums['slowFailovers'] = (sums['slowFailovers'] ?? 0) + 1;
  }
  return sums;
}
