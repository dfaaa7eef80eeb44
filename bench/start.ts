import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { grow } from './grown.ts';
import { inFolder, median, residentOf, round, usedBy, type Figures } from './measure.ts';
import { configure, startHost, withStub } from './process.ts';

const STARTS = 7;
const GROWN = { ended: 100_000, queued: 10_000, interrupted: 1_000 };

interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly residentMiB: number;
}

/** from the spawn of a host from source to its ready line, empty and over a grown store. */
export async function benchStart(): Promise<Figures> {
  return inFolder((folder) =>
    withStub('hold', async (modelUrl) => {
      const [empty, grown] = [join(folder, 'empty'), join(folder, 'grown')];
      for (const place of [empty, grown]) {
        mkdirSync(join(place, 'data'), { recursive: true, mode: 0o700 });
        configure(place, { modelUrl, concurrent: 8 });
      }
      await grow(grown, GROWN);
      // The first one fills the compile cache.
      await startOnce(empty, join(folder, 'first'));
      const starts: { readonly empty: Start; readonly grown: Start }[] = [];
      for (let count = 0; count < STARTS; count += 1) {
        starts.push({
          empty: await startOnce(empty, join(folder, `empty${count}`)),
          grown: await startOnce(grown, join(folder, `grown${count}`)),
        });
      }
      const emptyMs = round(median(starts.map((pair) => pair.empty.readyMs)));
      const moreMs = round(median(starts.map((pair) => pair.grown.readyMs - pair.empty.readyMs)));
      return {
        met: emptyMs <= 800 && moreMs <= 150,
        emptyMs,
        moreMs,
        emptyCpuMs: round(median(starts.map((pair) => pair.empty.cpuMs))),
        grownCpuMs: round(median(starts.map((pair) => pair.grown.cpuMs))),
        residentMiB: median(starts.map((pair) => pair.empty.residentMiB)),
        grownResidentMiB: median(starts.map((pair) => pair.grown.residentMiB)),
        grown: GROWN,
      };
    }),
  );
}

/** Starts on a copy: a start changes what it starts on. */
async function startOnce(from: string, folder: string): Promise<Start> {
  cpSync(from, folder, { recursive: true });
  const host = await startHost(folder);
  const { cpuMs } = usedBy(host.pid);
  const residentMiB = residentOf(host.pid).now;
  await host.kill();
  return { readyMs: host.readyMs, cpuMs, residentMiB };
}
