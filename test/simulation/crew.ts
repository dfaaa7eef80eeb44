// Threads that do jobs of the simulation: jobs share nothing, so neither do threads.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { JobName, Jobs } from './jobs.ts';

/** Most of what a world makes is gone with it: a small nursery would be swept again and again. */
const NURSERY_MB = 32;

export interface Crew {
  readonly threads?: number;
  /** Is told how many jobs are done, after each. */
  readonly done?: (count: number) => void;
}

/**
 * Does the jobs of a kind, each thread one after the other, and gives their results in the order of the
 * jobs. A thread that breaks rejects: what did not run is no success.
 */
export async function inThreads<N extends JobName>(
  name: N,
  jobs: readonly Jobs[N]['order'][],
  crew: Crew = {},
): Promise<readonly Jobs[N]['result'][]> {
  const { threads = availableParallelism(), done } = crew;
  const results: Jobs[N]['result'][] = [];
  const workers: Worker[] = [];
  const places = jobs.keys();
  let count = 0;
  const work = async (): Promise<void> => {
    const worker = startWorker();
    workers.push(worker);
    for (const place of places) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      worker.postMessage({ name, order: jobs[place] });
      // oxlint-disable-next-line no-await-in-loop -- a thread does one job after the other
      results[place] = (await answerOf(worker)) as Jobs[N]['result'];
      done?.((count += 1));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, work));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return results;
}

function startWorker(): Worker {
  return new Worker(new URL('worker.ts', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
  });
}

/** Rejects when the thread breaks. */
async function answerOf(worker: Worker): Promise<unknown> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(worker, 'exit', { signal }).then(([code]) => {
    throw new Error(`a thread ended with ${String(code)} and no result`);
  });
  try {
    const [answer] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [
      unknown,
    ];
    return answer;
  } finally {
    over.abort();
    // What is not awaited any more ends with the signal.
    ended.catch(() => undefined);
  }
}
