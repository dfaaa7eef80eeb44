import { killHosts } from '../crash/postgres-kills.ts';
import { inBlocks, unreached } from './postgres-blocks.ts';
import type { Proof } from './proof.ts';

/** T9: kill -9 of two hosts that share a PostgreSQL, under load. */
export const postgresKills: Proof = {
  name: 'postgres-kills',
  unit: 'kills of a host or of both',
  counts: { full: 20, release: 200 },
  chunk: 20,
  run: (order) => inBlocks('postgres-kills', order, (from, count) => killHosts(count, from)),
  judge: (sums) => unreached(sums, ['interrupted', 'takenOver', 'shortened']),
};
