import { setTimeout as pause } from 'node:timers/promises';
import { inFolder, residentOf, type Figures } from './measure.ts';
import { withHost } from './process.ts';
import { inTurn, openLane } from './turns.ts';

/** The goal names 100,000; `SEKISHO_BENCH_TURNS` shortens or completes it. */
const TURNS = Number(process.env['SEKISHO_BENCH_TURNS'] ?? 100_000);
const LANES = 16;
const SETTLE_MS = 3_000;

/** what a host holds in memory before its first turn and after many. */
export async function benchMemory(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'answer', concurrent: LANES }, async (host) => {
      await pause(SETTLE_MS);
      const idleMiB = residentOf(host.pid).now;
      const lanes = await Promise.all(Array.from({ length: LANES }, (_, n) => openLane(host, n)));
      await Promise.all(lanes.map((lane) => inTurn(lane, Math.ceil(TURNS / LANES))));
      for (const lane of lanes) lane.close();
      await pause(SETTLE_MS);
      const { now, most } = residentOf(host.pid);
      const met = idleMiB <= 120 && now <= 200;
      return { met, idleMiB, afterMiB: now, mostMiB: most, turns: TURNS };
    }),
  );
}
