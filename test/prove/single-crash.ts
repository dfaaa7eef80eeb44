// The scenarios of the simulated world as a proof: a host dies at every call to a port and every commit.
import { inThreads } from '../simulation/crew.ts';
import { replayOfPoints } from '../simulation/report.ts';
import { SCENARIOS } from '../simulation/scenarios.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

/** Wherever a host dies, or a person speaks, every rule holds and everything comes to its end (V2, V20). */
export const singleCrash: Proof = {
  name: 'single-crash',
  unit: 'scenarios',
  counts: { full: SCENARIOS.length, release: SCENARIOS.length },
  chunk: SCENARIOS.length,
  run,
  judge: ({ points = 0, played = 0 }) =>
    points > 0 && played === points ? [] : [`${played} of ${points} points were played`],
};

async function run({ from, count, say }: ProofOrder): Promise<ProofResult> {
  const places = [...SCENARIOS.keys()].slice(from - 1, from - 1 + count);
  const orders = places.map((scenario) => ({ scenario }));
  const done = (ended: number): void => say(`${ended} of ${orders.length} scenarios`);
  const results = await inThreads('scenario', orders, { done });
  const figures = { points: 0, played: 0, commits: 0 };
  const failures: string[] = [];
  for (const [index, { scenario, points, played, commits, ...one }] of results.entries()) {
    figures.points += points;
    figures.played += played;
    figures.commits += commits;
    if (points === 0) failures.push(`${scenario}: it has no points`);
    for (const { point, problems } of one.failures) {
      const replay = replayOfPoints(places[index] ?? 0, [point]);
      failures.push(`${scenario}, point ${point}: ${problems[0]} (${replay})`);
    }
  }
  return { ran: results.length, failures, figures };
}
