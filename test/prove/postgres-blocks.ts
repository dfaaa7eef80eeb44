// Pieces that share a server and two hosts: a block of them is judged at its end.
import type { ProofOrder, ProofResult } from './proof.ts';
import { add, inOneLine } from './rounds.ts';

const BLOCK = 20;

/** Runs the pieces in blocks, each on its own installation; a block that fails is told and the next one runs. */
export async function inBlocks(
  name: string,
  { from, count, say }: ProofOrder,
  run: (from: number, count: number) => Promise<object>,
): Promise<Required<ProofResult>> {
  const failures: string[] = [];
  const figures: Record<string, number> = {};
  let ran = 0;
  for (let next = from; next < from + count; next += BLOCK) {
    const pieces = Math.min(BLOCK, from + count - next);
    try {
      add(figures, await run(next, pieces));
    } catch (error) {
      const again = `npm run prove -- --only ${name} --from ${next} --count ${pieces}`;
      failures.push(`${inOneLine(error)} (${again})`);
    }
    ran += pieces;
    say(`${name}: ${ran} of ${count}, ${failures.length} failed`);
  }
  return { ran, failures, figures };
}

type Sums = Readonly<Record<string, number>>;

/** What has to have come to pass and did not; and that all that was acknowledged is answered. */
export function unreached(sums: Sums, names: readonly string[]): readonly string[] {
  const { acked = 0, answered = 0 } = sums;
  const none = ['acked', ...names].filter((name) => (sums[name] ?? 0) === 0);
  return [
    ...none.map((name) => `nothing counts as ${name}`),
    ...(answered === acked ? [] : [`${answered} of ${acked} were answered`]),
  ];
}
