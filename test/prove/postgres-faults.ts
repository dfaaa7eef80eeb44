import { breakServer, faultOf } from '../crash/postgres-faults.ts';
import { inBlocks, unreached } from './postgres-blocks.ts';
import type { Proof } from './proof.ts';

/** T16: a killed backend, connections cut and an immediate restart below two hosts under load. */
export const postgresFaults: Proof = {
  name: 'postgres-faults',
  unit: 'faults of the server: of twelve ten killed backends, one cut of all, one restart',
  counts: { full: 12, release: 240 },
  chunk: 24,
  run: (order) =>
    inBlocks('postgres-faults', order, (from, count) => {
      const pieces = Array.from({ length: count }, (_, index) => faultOf(from + index));
      return breakServer(pieces, from);
    }),
  judge: (sums) => [
    ...unreached(sums, ['kills', 'terminations', 'restarts', 'unknownCommits']),
    ...((sums['lateWrites'] ?? 0) === 0 ? [] : [`${sums['lateWrites']} outages went on for 5 s`]),
  ],
};
