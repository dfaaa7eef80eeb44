// Breaks the PostgreSQL server below two hosts under load, which have to find back to it by themselves.
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import type { KillTally } from './kill-checks.ts';
import { checkShared } from './postgres-checks.ts';
import { Load } from './postgres-load.ts';
import { Pair } from './postgres-pair.ts';
import { withServer, type OwnServer } from './postgres-server.ts';

/** Of twelve pieces in a row one cuts every connection and one restarts the server; the others kill a backend. */
export type ServerFault = 'kill' | 'terminate' | 'restart';
const ROUND = 12;

/** What a piece does to the server, by its number from 1 on. */
export function faultOf(piece: number): ServerFault {
  const place = piece % ROUND;
  return place === 0 ? 'restart' : place === 6 ? 'terminate' : 'kill';
}

export interface FaultTally extends KillTally {
  readonly kills: number;
  readonly terminations: number;
  readonly restarts: number;
  /** Commits whose outcome a host did not learn, and units that it decided again for a lost connection. */
  readonly unknownCommits: number;
  readonly lostConnections: number;
  /** From the server's return to the next thing that was committed and acknowledged, of all faults together. */
  readonly writableMs: number;
  /** How often that took longer than 5 s. */
  readonly lateWrites: number;
}

/** Runs the faults one by one, checks everything and gives the figures. Throws an `AssertionError` at the first breach. */
export async function breakServer(
  faults: readonly ServerFault[],
  seed: number,
): Promise<FaultTally> {
  return withServer([], async (server) => {
    const random = seededRandom(seed, 'postgres-faults');
    const pair = await Pair.start({ storeUrl: server.url, random });
    try {
      const load = new Load(pair, random);
      load.begin();
      const written = await breakAll(server, { faults, random, load });
      await load.settle();
      await pair.end();
      const { asked, ledger } = pair;
      const cycles = faults.length;
      const tally = await checkShared(server.url, { acked: load.acked, asked, ledger, cycles });
      return { ...tally, ...fired(server, faults), ...seenBy(pair), ...written };
    } finally {
      await pair.close();
    }
  });
}

const LATE_MS = 5_000;

async function breakAll(
  server: OwnServer,
  {
    faults,
    random,
    load,
  }: { readonly faults: readonly ServerFault[]; readonly random: Random; readonly load: Load },
): Promise<Pick<FaultTally, 'writableMs' | 'lateWrites'>> {
  let [writableMs, lateWrites] = [0, 0];
  for (const fault of faults) {
    await pause(random.between(1_000, 3_000));
    await breakOnce(server, fault, random);
    const ms = Math.round(await load.writableMs());
    writableMs += ms;
    if (ms > LATE_MS) lateWrites += 1;
  }
  return { writableMs, lateWrites };
}

const OTHERS = `select pid from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()`;

async function breakOnce(server: OwnServer, fault: ServerFault, random: Random): Promise<void> {
  if (fault === 'restart') {
    await server.quit();
    await pause(random.between(0, 2_000));
    await server.start();
    return;
  }
  if (fault === 'terminate') {
    await server.ask(`select pg_terminate_backend(pid) from (${OTHERS}) as others`);
    return;
  }
  // One that works, where there is one: its commit may be under way.
  const busy = await server.ask<{ pid: number }>(`${OTHERS} order by state <> 'active', random()`);
  const [first] = busy;
  if (first === undefined) throw new Error('no host is connected');
  const again = server.nextReady();
  server.killBackend(first.pid);
  await again;
}

/** What the server itself says was done to it. */
function fired(
  server: OwnServer,
  faults: readonly ServerFault[],
): Pick<FaultTally, 'kills' | 'terminations' | 'restarts'> {
  const said = (text: string): number => server.said.split(text).length - 1;
  return {
    kills: said('was terminated by signal 9'),
    terminations: Math.min(
      said('terminating connection due to administrator command'),
      faults.filter((fault) => fault === 'terminate').length,
    ),
    restarts: said('received immediate shutdown request'),
  };
}

function seenBy(pair: Pair): Pick<FaultTally, 'unknownCommits' | 'lostConnections'> {
  const count = (code: string): number =>
    pair.logged(0, `"code":"${code}"`, 'again') + pair.logged(1, `"code":"${code}"`, 'again');
  return { unknownCommits: count('unknown'), lostConnections: count('disconnected') };
}
