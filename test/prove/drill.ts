// The drill as a proof: who tests the simulation. Each planted defect has to be caught for its own reason.
import { inThreads } from '../simulation/crew.ts';
import { DEFECTS } from '../simulation/defects.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

export const drill: Proof = {
  name: 'drill',
  unit: 'defects',
  counts: { full: DEFECTS.length, release: DEFECTS.length },
  chunk: DEFECTS.length,
  run,
  judge: ({ defects = 0, caught = 0 }) =>
    caught === defects ? [] : [`${caught} of ${defects} defects were caught`],
};

async function run({ from, count, say }: ProofOrder): Promise<ProofResult> {
  const places = [...DEFECTS.keys()].slice(from - 1, from - 1 + count);
  const done = (ended: number): void => say(`${ended} of ${places.length} defects`);
  const drilled = await inThreads(
    'defect',
    places.map((defect) => ({ defect })),
    { done },
  );
  const missed = drilled.flatMap(({ defect, caughtAt, seeds, problem }, index) => {
    if (caughtAt !== null) return [];
    const other = problem === null ? '' : `, though it broke ${problem}`;
    const again = `node test/simulation/run.ts --drill --defect ${places[index]}`;
    return [`${defect}: not caught in ${seeds} seeds${other} (${again})`];
  });
  const figures = {
    defects: drilled.length,
    caught: drilled.length - missed.length,
    seeds: drilled.reduce((sum, { seeds }) => sum + seeds, 0),
  };
  return { ran: drilled.length, failures: missed, figures };
}
