// Two deaths as a proof: a host dies at every point of a scenario, and then one at every point of what follows.
import { inThreads } from '../simulation/crew.ts';
import { replayOfPoints } from '../simulation/report.ts';
import { SCENARIOS } from '../simulation/scenarios.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

/** In a scenario with words its points are what a person says there. */
const DEADLY = [...SCENARIOS.keys()].filter((place) => SCENARIOS[place]?.words === undefined);

/** Threads share a scenario in so many parts. */
const SLICES = 4;

/** After each first death the full tier plays every so-many-th second one, other ones each time. */
const STRIDES = { full: 48, release: 1 } as const;

/** A recovery that is cut is recovered like any other (V2, R-4). */
export const doubleCrash: Proof = {
  name: 'double-crash',
  unit: 'scenarios',
  counts: { full: DEADLY.length, release: DEADLY.length },
  chunk: 2,
  run,
  judge: ({ points = 0, pairs = 0 }, tier) => {
    // Each first death may leave less than one stride at its end.
    const least = Math.floor((points / STRIDES[tier]) * 0.9);
    return pairs >= Math.max(1, least) ? [] : [`${pairs} pairs of ${points} were played`];
  },
};

async function run({ tier, from, count, say }: ProofOrder): Promise<ProofResult> {
  const places = DEADLY.slice(from - 1, from - 1 + count);
  const stride = STRIDES[tier];
  const orders = places.flatMap((scenario) =>
    Array.from({ length: SLICES }, (_, part) => ({
      scenario,
      slices: SLICES,
      slice: part + 1,
      stride,
    })),
  );
  const done = (ended: number): void => say(`${ended} of ${orders.length} parts of scenarios`);
  const results = await inThreads('twice', orders, { done });
  const figures = { points: 0, pairs: 0, commits: 0 };
  const failures: string[] = [];
  for (const [index, { scenario, points, played, commits, ...one }] of results.entries()) {
    figures.points += points;
    figures.pairs += played;
    figures.commits += commits;
    for (const { point, second, problems } of one.failures) {
      const both = second === undefined ? [point] : [point, second];
      const replay = replayOfPoints(orders[index]?.scenario ?? 0, both);
      failures.push(`${scenario}, points ${both.join(' and ')}: ${problems[0]} (${replay})`);
    }
  }
  return { ran: results.length / SLICES, failures, figures };
}
