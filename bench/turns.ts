import { join } from 'node:path';
import { Connection, demand } from './connection.ts';
import { inFolder, median, quantile, round, usedBy, type Figures } from './measure.ts';
import { withHost, type HostProcess } from './process.ts';
import { readWal } from './wal.ts';

/** Turns that are not counted: code gets hot and the history of each conversation fills. */
const WARM_UP = 300;
const TURNS = 1_000;
/** Few enough that the log is not begun anew while its commits are counted. */
const COUNTED_TURNS = 40;
const LANES = 16;
const WAIT_SECONDS = 60;

export interface Lane {
  /** One turn: a run in the lane's conversation, answered once it has ended. Gives its time in ms. */
  turn(): Promise<number>;
  close(): void;
}

export async function openLane(host: HostProcess, lane: number): Promise<Lane> {
  const connection = await Connection.open(host);
  const opened = await demand(connection, {
    path: '/v1/conversations',
    body: { address: `lane${lane}` },
    status: 201,
  });
  const body = { input: 'hello', conversation: opened['id'], wait: WAIT_SECONDS };
  return {
    async turn() {
      const began = performance.now();
      await demand(connection, { path: '/v1/runs', body, status: 200 });
      return performance.now() - began;
    },
    close: () => connection.close(),
  };
}

/** So many turns one after another, each with its time in milliseconds. */
export async function inTurn(lane: Lane, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) times.push(await lane.turn());
  return times;
}

/** turns one after another in one conversation, over HTTP. */
export async function benchTurns(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: 1 }, async (host) => {
      const lane = await openLane(host, 0);
      await inTurn(lane, WARM_UP);
      const commits = await commitsPerTurn(host, lane);
      const before = usedBy(host.pid);
      const times = await inTurn(lane, TURNS);
      const after = usedBy(host.pid);
      lane.close();
      const found = {
        p50Ms: round(median(times), 2),
        p99Ms: round(quantile(times, 0.99), 2),
        cpuMs: round((after.cpuMs - before.cpuMs) / TURNS, 2),
        writtenBytes: round((after.writtenBytes - before.writtenBytes) / TURNS),
        ...commits,
      };
      const isQuick = found.p50Ms <= 6 && found.cpuMs <= 6;
      const met = isQuick && found.writtenBytes <= 80_000 && found.commits <= 3;
      return { met, ...found };
    }),
  );
}

async function commitsPerTurn(
  host: HostProcess,
  lane: Lane,
): Promise<{ readonly commits: number; readonly pages: number }> {
  const wal = join(host.folder, 'data/sekisho.db-wal');
  for (;;) {
    const before = readWal(wal);
    await inTurn(lane, COUNTED_TURNS);
    const after = readWal(wal);
    if (after.salt !== before.salt) continue;
    return {
      commits: round((after.commits - before.commits) / COUNTED_TURNS, 2),
      pages: round((after.frames - before.frames) / COUNTED_TURNS, 1),
    };
  }
}

/** the same in 16 conversations at once. */
export async function benchManyTurns(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: LANES }, async (host) => {
      const lanes = await Promise.all(Array.from({ length: LANES }, (_, n) => openLane(host, n)));
      await Promise.all(lanes.map((lane) => inTurn(lane, WARM_UP / 2)));
      const before = usedBy(host.pid);
      const began = performance.now();
      const times = await Promise.all(lanes.map((lane) => inTurn(lane, TURNS / 4)));
      const seconds = (performance.now() - began) / 1000;
      const after = usedBy(host.pid);
      for (const lane of lanes) lane.close();
      const turns = times.flat();
      const turnsPerSecond = round(turns.length / seconds);
      return {
        met: turnsPerSecond >= 400,
        turnsPerSecond,
        p50Ms: round(median(turns), 1),
        p99Ms: round(quantile(turns, 0.99), 1),
        cpuMs: round((after.cpuMs - before.cpuMs) / turns.length, 2),
        writtenBytes: round((after.writtenBytes - before.writtenBytes) / turns.length),
      };
    }),
  );
}
