// Who tests the simulation: each planted defect has to be caught.
import { DEFECTS } from './defects.ts';
import type { Defect } from './planting.ts';
import { playSeeds, type Failure } from './many.ts';

export interface Drilled {
  readonly defect: string;
  /** The first seed that failed, or null. */
  readonly caughtAt: number | null;
  readonly seeds: number;
  readonly problem: string | null;
}

const SEEDS_MAX = 1_000;

/** Plays seeds with a defect until one fails. */
export async function drillOne(defect: Defect): Promise<Drilled> {
  const enough = (_: number, failures: readonly Failure[]): boolean => failures.length > 0;
  const { failures, seeds } = await playSeeds({ from: 1, seeds: SEEDS_MAX, defect, enough });
  const [first] = failures;
  return {
    defect: defect.name,
    caughtAt: first?.seed ?? null,
    seeds,
    problem: first?.problems[0] ?? null,
  };
}

export async function drill(): Promise<readonly Drilled[]> {
  const drilled: Drilled[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one world at a time
  for (const defect of DEFECTS) drilled.push(await drillOne(defect));
  return drilled;
}
