// Who tests the simulation: each planted defect has to be caught.
import type { Defect } from './planting.ts';
import { playSeeds, type Failure } from './many.ts';

export interface Drilled {
  readonly defect: string;
  /** The first seed that failed, or null. */
  readonly caughtAt: number | null;
  readonly seeds: number;
  readonly problem: string | null;
}

/** Each defect has to be caught within so many seeds. */
const SEEDS_MAX = 10_000;

/**
 * Plays seeds with a defect until one fails for the defect's own reason. One defect breaks several
 * rules, and which is seen first in a world is chance: a seed that fails for another one only is
 * passed over, and does not count.
 */
export async function drillOne(defect: Defect, seedsMax = SEEDS_MAX): Promise<Drilled> {
  const own = ({ problems }: Failure): string | undefined =>
    problems.find((problem) => defect.breaks.test(problem));
  const isCaught = (failure: Failure): boolean => own(failure) !== undefined;
  const enough = (_: number, failures: readonly Failure[]): boolean => failures.some(isCaught);
  const { failures, seeds } = await playSeeds({ from: 1, seeds: seedsMax, defect, enough });
  const caught = failures.find(isCaught);
  return {
    defect: defect.name,
    caughtAt: caught?.seed ?? null,
    seeds,
    problem: caught === undefined ? (failures[0]?.problems[0] ?? null) : (own(caught) ?? null),
  };
}
