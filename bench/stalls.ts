import { monitorEventLoopDelay } from 'node:perf_hooks';
import { inFolder, round, type Figures } from './measure.ts';
import { withHost, type HostProcess } from './process.ts';
import { inTurn, LANES, openLane, TURNS, WARM_UP, type History } from './turns.ts';

/**
 * how long the event loop of the host stands still under Q-3, seen from inside. The second half of
 * the goal, the upkeep of a transcript of 100 MB, is measured by `maintenance`.
 */
export async function benchStalls(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: LANES, isWatched: true }, async (host) => {
      const grows = await stallsUnder(host, 'grows', 0);
      const inNewConversations = await stallsUnder(host, 'new', LANES);
      return { met: grows.p99Ms <= 20, ...grows, inNewConversations };
    }),
  );
}

interface Stalls {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Delays that were measured. */
  readonly samples: number;
  /** Of the process that measures, which has little to do: what the machine itself takes. */
  readonly idleP99Ms: number;
  readonly turnsPerSecond: number;
}

async function stallsUnder(host: HostProcess, history: History, from: number): Promise<Stalls> {
  const lanes = await Promise.all(
    Array.from({ length: LANES }, (_, n) => openLane(host, from + n, history)),
  );
  const all = (turns: number): Promise<unknown> =>
    Promise.all(lanes.map((lane) => inTurn(lane, turns)));
  await all(WARM_UP / 2);
  await host.stalls();
  const own = monitorEventLoopDelay({ resolution: 1 });
  own.enable();
  const began = performance.now();
  await all(TURNS / 4);
  const seconds = (performance.now() - began) / 1000;
  const { p50Ms, p99Ms, maxMs, samples } = await host.stalls();
  own.disable();
  for (const lane of lanes) lane.close();
  return {
    p50Ms: round(p50Ms, 1),
    p99Ms: round(p99Ms, 1),
    maxMs: round(maxMs, 1),
    samples,
    idleP99Ms: round(own.percentile(99) / 1e6 - 1, 1),
    turnsPerSecond: round((LANES * TURNS) / 4 / seconds),
  };
}
