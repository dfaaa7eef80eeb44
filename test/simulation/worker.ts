// Plays a part of a set in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { playSeeds, type SeedOrder } from './many.ts';

const set = await playSeeds(workerData as SeedOrder);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage({ ...set, sometimes: [...set.sometimes.counts] });
