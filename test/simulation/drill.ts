// Who tests the simulation: each planted defect has to be caught.
import { DEFECTS } from './defects.ts';
import { playSeeds } from './many.ts';

export interface Drilled {
  readonly defect: string;
  /** The first seed that failed, or null. */
  readonly caughtAt: number | null;
  readonly seeds: number;
  readonly problem: string | null;
}

const SEEDS_MAX = 1_000;

export async function drill(seedsMax: number = SEEDS_MAX): Promise<readonly Drilled[]> {
  const drilled: Drilled[] = [];
  for (const defect of DEFECTS) {
    const order = { from: 1, seeds: seedsMax, defect };
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const set = await playSeeds({ ...order, enough: (_, failures) => failures.length > 0 });
    const [first] = set.failures;
    drilled.push({
      defect: defect.name,
      caughtAt: first?.seed ?? null,
      seeds: set.seeds,
      problem: first?.problems[0] ?? null,
    });
  }
  return drilled;
}
