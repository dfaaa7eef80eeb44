import type { ProofOrder, ProofResult } from './proof.ts';

/**
 * Runs one round after another and adds up what they count. A round that throws is a failure, with the
 * command that plays it again.
 */
export async function runRounds(
  { from, count, say }: ProofOrder,
  { script, play }: { readonly script: string; readonly play: (round: number) => Promise<object> },
): Promise<ProofResult> {
  const figures: Record<string, number> = {};
  const failures: string[] = [];
  for (let round = from; round < from + count; round += 1) {
    try {
      add(figures, await play(round));
    } catch (error) {
      failures.push(`${firstLine(error)} (node ${script} --round ${round})`);
    }
    say(`${round - from + 1} of ${count} rounds`);
  }
  return { ran: count, failures, figures };
}

/** A proof whose faults need root and `mount` says so instead of counting nothing as a pass. */
export function unable(why: string): ProofResult {
  return { ran: 0, failures: [why] };
}

/** Adds the numbers of a tally to sums. */
export function add(sums: Record<string, number>, tally: object): void {
  for (const [name, count] of Object.entries(tally) as [string, unknown][])
    if (typeof count === 'number') sums[name] = (sums[name] ?? 0) + count;
}

/** What an error says in one line. */
export function firstLine(error: unknown): string {
  return String(error).split('\n')[0] ?? '';
}
