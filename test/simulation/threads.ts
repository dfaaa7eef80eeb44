// A set of seeds over several threads.
import { inThreads } from './crew.ts';
import type { Part } from './jobs.ts';
import type { SeedSet } from './many.ts';
import { Sometimes } from './sometimes.ts';

/** Seeds that a thread plays before it takes the next ones. */
const PART = 50;

export interface ThreadedOrder {
  readonly from: number;
  readonly seeds: number;
  readonly threads?: number;
  /** Told of how many seeds were played. */
  readonly played?: (seeds: number) => void;
}

/** Plays the seeds, and says what they came to together. */
export async function playSeedsInThreads(order: ThreadedOrder): Promise<SeedSet> {
  const began = performance.now();
  const { from, seeds, threads, played } = order;
  const orders = Array.from({ length: Math.ceil(seeds / PART) }, (_, place) => ({
    from: from + place * PART,
    seeds: Math.min(PART, seeds - place * PART),
  }));
  const done = (count: number): void => played?.(Math.min(seeds, count * PART));
  const parts = await inThreads(
    'seeds',
    orders,
    threads === undefined ? { done } : { threads, done },
  );
  return { ...sumOf(parts), from, wallMs: performance.now() - began };
}

function sumOf(parts: readonly Part[]): Omit<SeedSet, 'from' | 'wallMs'> {
  const sometimes = new Sometimes();
  for (const part of parts) {
    for (const [name, count] of part.sometimes) {
      sometimes.counts.set(name, (sometimes.counts.get(name) ?? 0) + count);
    }
  }
  const sum = (of: (part: Part) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  return {
    sometimes,
    failures: parts.flatMap((part) => part.failures).toSorted((a, b) => a.seed - b.seed),
    seeds: sum((part) => part.seeds),
    twice: sum((part) => part.twice),
    steps: sum((part) => part.steps),
    commits: sum((part) => part.commits),
    crashes: sum((part) => part.crashes),
    elapsed: sum((part) => part.elapsed),
  };
}
