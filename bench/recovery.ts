import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startModelServer } from '../src/testing/model-server.ts';
import { inFolder, median, round, type Figures } from './measure.ts';
import { configure, startHost } from './process.ts';

const ROUNDS = 7;

/** a host is killed in a model call; from the spawn of the next to the call of the assessment. */
export async function benchRecovery(): Promise<Figures> {
  let arrived = Promise.withResolvers<void>();
  let assessed = Promise.withResolvers<void>();
  // Every answer is held back: the call alone is waited for.
  const server = await startModelServer(({ body }) => {
    if ('response_format' in body) assessed.resolve();
    else arrived.resolve();
    return { kind: 'stall' };
  });
  try {
    const took = await inFolder(async (folder) => {
      const all: number[] = [];
      for (let count = 0; count <= ROUNDS; count += 1) {
        const place = join(folder, String(count));
        mkdirSync(join(place, 'data'), { recursive: true, mode: 0o700 });
        configure(place, { modelUrl: server.url, concurrent: 8 });
        arrived = Promise.withResolvers();
        assessed = Promise.withResolvers();
        const cut = await startHost(place);
        await fetch(`${cut.url}/v1/runs`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${cut.key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ input: 'think' }),
        });
        await arrived.promise;
        await cut.kill();
        const began = performance.now();
        const [next] = await Promise.all([startHost(place), assessed.promise]);
        all.push(performance.now() - began);
        await next.kill();
      }
      return all;
    });
    // The first one fills the compile cache.
    const toAssessmentMs = round(median(took.slice(1)));
    return { met: toAssessmentMs <= 1_500, toAssessmentMs, worstMs: round(Math.max(...took)) };
  } finally {
    await server.close();
  }
}
