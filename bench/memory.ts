import { setTimeout as pause } from 'node:timers/promises';
import { inFolder, residentOf, round, usedBy, type Figures } from './measure.ts';
import { withHost } from './process.ts';
import { inTurn, openLane, type Lane } from './turns.ts';

/** The goal names 100,000; `SEKISHO_BENCH_TURNS` shortens it. */
const TURNS = Number(process.env['SEKISHO_BENCH_TURNS'] ?? 100_000);
const LANES = 16;
const STAGES = 5;
const SETTLE_MS = 3_000;

/** what a host holds in memory before its first turn and after many, and what grew in between. */
export async function benchMemory(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: LANES, isWatched: true }, async (host) => {
      await pause(SETTLE_MS);
      const idleMiB = residentOf(host.pid).now;
      const idle = await host.memory();
      const lanes = await Promise.all(Array.from({ length: LANES }, (_, n) => openLane(host, n)));
      const before = usedBy(host.pid).cpuMs;
      const stages: object[] = [];
      for (let stage = 0; stage < STAGES; stage += 1) {
        await all(lanes, Math.ceil(TURNS / LANES / STAGES));
        stages.push(await host.memory());
      }
      const cpuMs = round((usedBy(host.pid).cpuMs - before) / TURNS, 2);
      for (const lane of lanes) lane.close();
      await pause(SETTLE_MS);
      const { now, most } = residentOf(host.pid);
      const after = await host.memory();
      const met = idleMiB <= 120 && now <= 200;
      return {
        met,
        idleMiB,
        afterMiB: now,
        mostMiB: most,
        stages,
        idle,
        after,
        cpuMs,
        turns: TURNS,
      };
    }),
  );
}

function all(lanes: readonly Lane[], turns: number): Promise<unknown> {
  return Promise.all(lanes.map((lane) => inTurn(lane, turns)));
}
