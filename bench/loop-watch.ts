// Loaded into a host that is measured: says over its channel how long its event loop stood still.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** In milliseconds, the finest that a timer has. Each delay holds it too. */
const RESOLUTION = 1;

const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
delays.enable();

process.on('message', () => {
  process.send?.({
    p50Ms: stall(delays.percentile(50)),
    p99Ms: stall(delays.percentile(99)),
    maxMs: stall(delays.max),
    samples: delays.count,
  });
  delays.reset();
});
// It keeps nothing alive: the host ends as it would without it.
process.channel?.unref();

function stall(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION);
}
