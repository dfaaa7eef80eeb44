import { join } from 'node:path';
import { Connection, demand } from './connection.ts';
import { inFolder, median, quantile, round, usedBy, type Figures } from './measure.ts';
import { withHost, type HostProcess } from './process.ts';
import { readWal } from './wal.ts';

/** Turns that are not counted: code gets hot and the history of each conversation fills. */
export const WARM_UP = 300;
export const TURNS = 1_000;
/** Few enough that the log is not begun anew while its commits are counted. */
const COUNTED_TURNS = 40;
export const LANES = 16;
const WAIT_SECONDS = 60;

export interface Lane {
  /** One turn: a run in the lane's conversation, answered once it has ended. Gives its time in ms. */
  turn(): Promise<number>;
  close(): void;
}

/** `grows`: all turns in one conversation, whose history fills. `new`: each in a conversation of its own. */
export type History = 'grows' | 'new';

export async function openLane(
  host: HostProcess,
  lane: number,
  history: History = 'grows',
): Promise<Lane> {
  const connection = await Connection.open(host);
  const opened = await demand(connection, {
    path: '/v1/conversations',
    body: { address: `lane${lane}` },
    status: 201,
  });
  const conversation = history === 'grows' ? { conversation: opened['id'] } : {};
  const body = { input: 'hello', ...conversation, wait: WAIT_SECONDS };
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

interface Turns {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly turnsPerSecond: number;
  readonly cpuMs: number;
  readonly writtenBytes: number;
}

/** `turns` in each lane at once, after as many lanes were warmed up. */
async function measure(host: HostProcess, lanes: readonly Lane[], turns: number): Promise<Turns> {
  const before = usedBy(host.pid);
  const began = performance.now();
  const times = (await Promise.all(lanes.map((lane) => inTurn(lane, turns)))).flat();
  const seconds = (performance.now() - began) / 1000;
  const after = usedBy(host.pid);
  return {
    p50Ms: round(median(times), 2),
    p99Ms: round(quantile(times, 0.99), 2),
    turnsPerSecond: round(times.length / seconds),
    cpuMs: round((after.cpuMs - before.cpuMs) / times.length, 2),
    writtenBytes: round((after.writtenBytes - before.writtenBytes) / times.length),
  };
}

/** turns one after another over HTTP; the goal is held by the conversation that grows. */
export async function benchTurns(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: 1 }, async (host) => {
      const lane = await openLane(host, 0);
      await inTurn(lane, WARM_UP);
      const commits = await commitsPerTurn(host, lane);
      const found = await measure(host, [lane], TURNS);
      const other = await openLane(host, 1, 'new');
      const inNewConversations = await measure(host, [other], TURNS);
      lane.close();
      other.close();
      const isQuick = found.p50Ms <= 6 && found.cpuMs <= 6;
      const met = isQuick && found.writtenBytes <= 80_000 && commits.commits <= 3;
      return { met, ...found, ...commits, inNewConversations };
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
      const open = (history: History, from: number): Promise<Lane[]> =>
        Promise.all(Array.from({ length: LANES }, (_, n) => openLane(host, from + n, history)));
      const lanes = await open('grows', 0);
      await Promise.all(lanes.map((lane) => inTurn(lane, WARM_UP / 2)));
      const found = await measure(host, lanes, TURNS / 4);
      const others = await open('new', LANES);
      const inNewConversations = await measure(host, others, TURNS / 4);
      for (const lane of [...lanes, ...others]) lane.close();
      return { met: found.turnsPerSecond >= 400, ...found, inNewConversations };
    }),
  );
}
