// Two deaths as a proof: a host dies at every point of a scenario, and then one at every point of what follows.
import { inThreads } from '../simulation/crew.ts';
import { replayOfPoints } from '../simulation/report.ts';
import { SCENARIOS } from '../simulation/scenarios.ts';
import type { Proof, ProofOrder, ProofResult, Tier } from './proof.ts';

/** In a scenario with words its points are what a person says there. */
const DEADLY = [...SCENARIOS.keys()].filter((place) => SCENARIOS[place]?.words === undefined);

/** Threads share a scenario in so many parts. */
const SLICES = 8;

/** After a first death the full tier plays every so-many-th second one, other ones each time. */
const STRIDES = { full: 96, release: 1 } as const;

/** The parts of a scenario that a tier plays: the full one of each scenario another. */
function slicesOf(place: number, tier: Tier): readonly number[] {
  const all = Array.from({ length: SLICES }, (_, part) => part + 1);
  return tier === 'release' ? all : [(place % SLICES) + 1];
}

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
    slicesOf(scenario, tier).map((slice) => ({ scenario, slices: SLICES, slice, stride })),
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
  return { ran: results.length / slicesOf(0, tier).length, failures, figures };
}
