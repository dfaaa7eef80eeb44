// Does jobs in a thread of its own, one after the other.
import { parentPort } from 'node:worker_threads';
import { JOBS, type JobName } from './jobs.ts';

// Faults are made by the thousand, and where they come from shows when their seed is played alone.
Error.stackTraceLimit = 0;

parentPort?.on('message', ({ name, order }: { readonly name: JobName; readonly order: never }) => {
  const answer = async (): Promise<void> => {
    const result = await JOBS[name](order);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    parentPort?.postMessage(result);
  };
  void answer();
});
