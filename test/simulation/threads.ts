// A set of seeds over several threads: seeds share nothing, so neither do threads.
import { Worker } from 'node:worker_threads';
import type { SeedSet } from './many.ts';
import { Sometimes, type Sometime } from './sometimes.ts';

/** Seeds that a thread plays before it takes the next ones: each part loads and warms the engine anew. */
const PART = 300;

type Part = Omit<SeedSet, 'sometimes'> & {
  readonly sometimes: readonly (readonly [Sometime, number])[];
};

export interface ThreadedOrder {
  readonly from: number;
  readonly seeds: number;
  readonly threads: number;
}

/** Plays the seeds on so many threads. A thread that breaks rejects: seeds that did not run are no success. */
export async function playSeedsInThreads(order: ThreadedOrder): Promise<SeedSet> {
  const began = performance.now();
  const parts: Part[] = [];
  let next = order.from;
  const last = order.from + order.seeds;
  const work = async (): Promise<void> => {
    while (next < last) {
      const seeds = Math.min(PART, last - next);
      const from = next;
      next += seeds;
      // oxlint-disable-next-line no-await-in-loop -- a thread plays one part after the other
      parts.push(await playPart({ from, seeds }));
    }
  };
  await Promise.all(Array.from({ length: order.threads }, work));
  return { ...sumOf(parts), from: order.from, wallMs: performance.now() - began };
}

function playPart(order: { readonly from: number; readonly seeds: number }): Promise<Part> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: order });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a thread ended with ${code} and no result`)));
  });
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
