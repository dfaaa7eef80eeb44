// Kills hosts of one installation over PostgreSQL under load: one of them or both, back at once or after the lease.
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../src/testing/sim-random.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import type { KillTally } from './kill-checks.ts';
import { checkShared } from './postgres-checks.ts';
import { Load } from './postgres-load.ts';
import { Pair, type Place } from './postgres-pair.ts';
import { withServer } from './postgres-server.ts';

/** Beyond the lease of `Pair`, and the tick at which the other host looks. */
const TAKEN_OVER_MS = 3_500;

export interface SharedTally extends KillTally {
  readonly hostsKilled: number;
  /** Turns that a host took over which had not begun them. */
  readonly takenOver: number;
}

/** Runs the cycles, checks everything and gives the figures. Throws an `AssertionError` at the first breach. */
export async function killHosts(cycles: number, seed: number): Promise<SharedTally> {
  return withServer([], async (server) => {
    const random = seededRandom(seed, 'postgres-kill');
    const pair = await Pair.start({ storeUrl: server.url, random });
    try {
      const load = new Load(pair, random);
      load.begin();
      let hostsKilled = 0;
      for (let cycle = 0; cycle < cycles; cycle += 1) hostsKilled += await oneCycle(pair, random);
      await load.settle();
      await pair.end();
      const { asked, ledger } = pair;
      const tally = await checkShared(server.url, { acked: load.acked, asked, ledger, cycles });
      const takenOver = await countTakenOver(server.ask.bind(server));
      return { ...tally, hostsKilled, takenOver };
    } finally {
      await pair.close();
    }
  });
}

async function oneCycle(pair: Pair, random: Random): Promise<number> {
  await pause(random.between(300, 1_800));
  const one: Place = random.chance(0.5) ? 0 : 1;
  const places: readonly Place[] = random.chance(0.2) ? [0, 1] : [one];
  await Promise.all(places.map((place) => pair.kill(place)));
  if (random.chance(0.5)) await pause(TAKEN_OVER_MS);
  await Promise.all(places.map((place) => pair.start(place)));
  return places.length;
}

/** Turns whose end was written by another host than the one that had them. */
async function countTakenOver(
  ask: <T extends Record<string, unknown>>(sql: string) => Promise<readonly T[]>,
): Promise<number> {
  const rows = await ask<{ readonly taken: number }>(`select count(*)::int as taken from event
    join turn on turn.id = event.turn_id
    where event.type = 'turn.ended' and event.by not like '%' || turn.host_id`);
  return rows[0]?.taken ?? 0;
}
