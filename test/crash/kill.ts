// `node test/crash/kill.ts --cycles 200 [--seed N]`: kills a host under load and prints one line of JSON.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { checkStore, type KillTally } from './kill-checks.ts';
import { killUnderLoad } from './kill-load.ts';

export interface KillSums extends KillTally {
  /** Cycles whose kill met a host that only started. */
  readonly cutStarts: number;
}

/** Runs the cycles, checks everything and gives the figures. Throws an `AssertionError` at the first breach. */
export async function killCycles(cycles: number, seed: number): Promise<KillSums> {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-kill-'));
  try {
    const { host, witness, server, cutStarts } = await killUnderLoad(
      folder,
      cycles,
      seededRandom(seed, 'kill'),
    );
    const code = await host.end();
    if (code !== 0) throw new Error(`the host ended with ${code}`);
    await server.close();
    return { ...checkStore(folder, witness), cutStarts };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { cycles: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
  });
  const began = performance.now();
  const tally = await killCycles(Number(values.cycles), Number(values.seed));
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(
    `${JSON.stringify({ ...tally, answeredShare: tally.answered / tally.acked, seconds })}\n`,
  );
}
