// Loaded into a host that is measured: says over its channel how long its event loop stood still, and
// what its memory is made of.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** In milliseconds, the finest that a timer has. Each delay holds it too. */
const RESOLUTION = 1;
const MEBIBYTE = 1_048_576;

let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

process.on('message', (asked) => {
  process.send?.(asked === 'memory' ? memory() : stalls());
});
// It keeps nothing alive: the host ends as it would without it.
process.channel?.unref();

function memory(): object {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const parts = { rss, heapTotal, heapUsed, external, arrayBuffers };
  return Object.fromEntries(
    Object.entries(parts).map(([part, bytes]) => [part, Math.round(bytes / MEBIBYTE)]),
  );
}

/** Since they were asked for last. From the first time on the loop is woken a thousand times a second. */
function stalls(): object {
  if (delays === undefined) {
    delays = monitorEventLoopDelay({ resolution: RESOLUTION });
    delays.enable();
  }
  const found = {
    p50Ms: stall(delays.percentile(50)),
    p99Ms: stall(delays.percentile(99)),
    maxMs: stall(delays.max),
    samples: delays.count,
  };
  delays.reset();
  return found;
}

function stall(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION);
}
