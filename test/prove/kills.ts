// The kill campaign over SQLite as a proof: installations side by side, each killed again and again.
import { killCycles, type KillSums } from '../crash/kill.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';
import { add, inOneLine } from './rounds.ts';

/** Cycles in the life of one installation, whose number is its seed. */
const LIFE = 20;
const SIDE_BY_SIDE = 2;

interface Life {
  readonly seed: number;
  readonly cycles: number;
}

/** What must have happened for the kills to have met anything, once in so many cycles. */
const MET: Readonly<Partial<Record<keyof KillSums, number>>> = {
  acked: 1,
  interrupted: 1,
  assessments: 1,
  cutStarts: 10,
  shortened: 2,
  cutTries: 10,
  uncertain: 100,
};

/** `kill -9` under load loses nothing, repeats nothing and answers everything once (T-16, E-1, V2). */
export const kills: Proof = {
  name: 'kills',
  unit: 'cycles',
  counts: { full: 120, release: 1_000 },
  chunk: 2 * LIFE,
  run,
  judge: (sums) => [
    ...Object.entries(MET).flatMap(([name, every]) => {
      const least = Math.floor((sums['cycles'] ?? 0) / every);
      const count = sums[name] ?? 0;
      return count >= least ? [] : [`${name}: ${count} in all, and ${least} are the least`];
    }),
    ...(sums['answered'] === sums['acked'] ? [] : ['not all that was acknowledged is answered']),
  ],
};

async function run({ from, count, say }: ProofOrder): Promise<ProofResult> {
  const lives = livesOf(from, count);
  const sums: Record<string, number> = {};
  const failures: string[] = [];
  let ran = 0;
  const live = async (): Promise<void> => {
    for (let life = lives.shift(); life !== undefined; life = lives.shift()) {
      const { seed, cycles } = life;
      try {
        add(sums, await killCycles(cycles, seed));
      } catch (error) {
        const again = `node test/crash/kill.ts --cycles ${cycles} --seed ${seed}`;
        failures.push(`${inOneLine(error)} (${again})`);
      }
      ran += cycles;
      say(`${ran} of ${count} cycles`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, live));
  return { ran, failures, figures: sums };
}

function livesOf(from: number, count: number): Life[] {
  const lives: Life[] = [];
  for (let first = from; first < from + count;) {
    const seed = Math.ceil(first / LIFE);
    const end = Math.min(seed * LIFE + 1, from + count);
    lives.push({ seed, cycles: end - first });
    first = end;
  }
  return lives;
}
