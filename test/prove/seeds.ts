// Seeds of the simulated world as a proof: a whole installation under faults, judged by rules from outside.
import type { SeedSet } from '../simulation/many.ts';
import { replayOfSeed } from '../simulation/report.ts';
import { SOMETIMES } from '../simulation/sometimes.ts';
import { playSeedsInThreads } from '../simulation/threads.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

/** What may happen has to happen in one of so many seeds: else the seeds do not try it. */
const REACHED_EVERY = 1_000;
const TWICE_EVERY = 100;
const SAID_EVERY = 1_000;
const HOUR = 3_600_000;

/** Every rule holds in every seed, and a seed that is played twice goes the same way (V1-V21). */
export const seeds: Proof = {
  name: 'seeds',
  unit: 'seeds',
  counts: { full: 20_000, release: 200_000 },
  chunk: 500,
  run,
  judge: (sums) => {
    const played = sums['seeds'] ?? 0;
    const least = Math.floor(played / REACHED_EVERY);
    const seldom = Object.keys(SOMETIMES).filter((name) => (sums[name] ?? 0) < least);
    const twice = Math.floor(played / TWICE_EVERY);
    return [
      ...seldom.map((name) => `${name}: ${sums[name] ?? 0} in all, and ${least} are the least`),
      ...((sums['twice'] ?? 0) >= twice ? [] : [`fewer than ${twice} seeds were played twice`]),
    ];
  },
};

async function run({ from, count, say }: ProofOrder): Promise<ProofResult> {
  let said = 0;
  const played = (done: number): void => {
    if (done - said < SAID_EVERY && done < count) return;
    said = done;
    say(`${done} of ${count} seeds`);
  };
  const set = await playSeedsInThreads({ from, seeds: count, played });
  return { ran: set.seeds, failures: failuresOf(set), figures: figuresOf(set) };
}

function failuresOf({ failures }: SeedSet): readonly string[] {
  return failures.map(
    ({ seed, problems }) => `seed ${seed}: ${problems[0]} (${replayOfSeed(seed)})`,
  );
}

function figuresOf(set: SeedSet): Readonly<Record<string, number>> {
  const { seeds: played, twice, steps, commits, crashes, elapsed, sometimes } = set;
  const hours = Math.floor(elapsed / HOUR);
  return {
    seeds: played,
    twice,
    steps,
    commits,
    crashes,
    hours,
    ...Object.fromEntries(sometimes.counts),
  };
}
