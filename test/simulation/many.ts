// A set of seeds: counts, times, what was reached, and which seeds failed.
import { optionsOf } from './options.ts';
import type { Defect } from './planting.ts';
import { simulate, type Outcome } from './simulate.ts';
import { Sometimes } from './sometimes.ts';

/** One in so many seeds is played twice and has to leave the same trace. */
const TWICE_EVERY = 100;

export interface Failure {
  readonly seed: number;
  readonly problems: readonly string[];
}

export interface SeedSet {
  readonly from: number;
  readonly seeds: number;
  readonly twice: number;
  readonly failures: readonly Failure[];
  readonly sometimes: Sometimes;
  readonly steps: number;
  readonly commits: number;
  readonly crashes: number;
  /** Virtual milliseconds that were lived through. */
  readonly elapsed: number;
  readonly wallMs: number;
}

export interface SeedOrder {
  readonly from: number;
  readonly seeds: number;
  readonly defect?: Defect | undefined;
  /** Ends the set early; the seeds that were played are counted. */
  readonly enough?: (played: number, failures: readonly Failure[]) => boolean;
}

/** Plays `seeds` seeds from `from` on, one after the other. */
export async function playSeeds(order: SeedOrder): Promise<SeedSet> {
  const began = performance.now();
  const failures: Failure[] = [];
  const sometimes = new Sometimes();
  const sums = { seeds: 0, twice: 0, steps: 0, commits: 0, crashes: 0, elapsed: 0 };
  for (let seed = order.from; seed < order.from + order.seeds; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- runs share nothing but the processor
    const outcome = await playSeed(seed, order.defect);
    sums.seeds += 1;
    if (seed % TWICE_EVERY === 0) sums.twice += 1;
    add(sums, outcome);
    sometimes.add(outcome.happened);
    if (outcome.problems.length > 0) failures.push({ seed, problems: outcome.problems });
    if (order.enough?.(sums.seeds, failures) === true) break;
  }
  return { from: order.from, ...sums, failures, sometimes, wallMs: performance.now() - began };
}

/** Plays one seed, and some twice: the same seed leaves the same trace. */
async function playSeed(seed: number, defect: Defect | undefined): Promise<Outcome> {
  const options = optionsOf(seed);
  const outcome = await simulate({ options, defect });
  if (seed % TWICE_EVERY !== 0) return outcome;
  const again = await simulate({ options, defect });
  if (again.traceHash === outcome.traceHash) return outcome;
  const differs = `played twice it left the traces ${outcome.traceHash} and ${again.traceHash}`;
  return { ...outcome, problems: [...outcome.problems, differs] };
}

function add(
  sums: Record<'steps' | 'commits' | 'crashes' | 'elapsed', number>,
  outcome: Outcome,
): void {
  sums.steps += outcome.steps;
  sums.commits += outcome.commits;
  sums.crashes += outcome.crashes;
  sums.elapsed += outcome.elapsed;
}
