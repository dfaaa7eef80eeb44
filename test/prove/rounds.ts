import type { ProofOrder, ProofResult } from './proof.ts';

/** How the rounds of a proof are played. */
interface Rounds {
  /** What plays one of them again, with `--round N`. */
  readonly script: string;
  readonly play: (round: number) => Promise<object>;
  /** Rounds that mostly wait may do so together; by default one goes after the other. */
  readonly sideBySide?: number;
}

/**
 * Runs rounds and adds up what they count. A round that throws is a failure, with the command that plays
 * it again.
 */
export async function runRounds(
  { from, count, say }: ProofOrder,
  { script, play, sideBySide = 1 }: Rounds,
): Promise<ProofResult> {
  const figures: Record<string, number> = {};
  const failures: string[] = [];
  let [next, ran] = [from, 0];
  const playOn = async (): Promise<void> => {
    while (next < from + count) {
      const round = next;
      next += 1;
      try {
        add(figures, await play(round));
      } catch (error) {
        failures.push(`${inOneLine(error)} (node ${script} --round ${round})`);
      }
      ran += 1;
      say(`${ran} of ${count} rounds`);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, playOn));
  return { ran, failures, figures };
}

/** Where a fault cannot be made that is said: nothing that ran is no pass. */
export function unable(why: string): ProofResult {
  return { ran: 0, failures: [why] };
}

/** Adds the numbers of a tally to sums. */
export function add(sums: Record<string, number>, tally: object): void {
  for (const [name, count] of Object.entries(tally) as [string, unknown][])
    if (typeof count === 'number') sums[name] = (sums[name] ?? 0) + count;
}

const LENGTH_MAX = 2_000;

/** What an error says, in one line: an assertion names what it found only behind its first one. */
export function inOneLine(error: unknown): string {
  return String(error).replaceAll(/\s+/g, ' ').slice(0, LENGTH_MAX);
}
