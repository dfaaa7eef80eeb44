// A whole host that tells, when asked, what it holds once nothing is left to collect: bytes of its heap,
// and how many live queues and signals there are.
import { queryObjects } from 'node:v8';
import { createHost } from '../../src/compose/host.ts';
import { configOf } from '../../src/cli/config.ts';
import { LiveQueue } from '../../src/http/stream/live-queue.ts';

const { gc } = globalThis;
if (gc === undefined || process.send === undefined)
  throw new Error('it is run with --expose-gc by a test');

const config = await configOf({ config: process.argv[2] ?? '' }, {});
const host = createHost({ config, env: {}, logLevel: 'warn', onFailed: () => process.exit(6) });
const { url } = await host.start();
process.send({ url });

process.on('message', (asked) => {
  if (asked === 'end') void host.stop(0).then(() => process.exit(0));
  else void tell();
});

async function tell(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    gc?.();
    // What has a finaliser is gone only after a turn of the loop.
    await new Promise(setImmediate);
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const queues = queryObjects(LiveQueue, { format: 'count' });
  const signals = queryObjects(AbortSignal, { format: 'count' });
  process.send?.({ heapUsed, external, arrayBuffers, queues, signals });
}
