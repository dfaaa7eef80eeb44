import { uptime } from 'node:os';
import { SECOND, type Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';

/** The longest wait that Node's timers take; a longer one would fire at once. */
const TIMER_MAX_MS: Millis = 2 ** 31 - 1;

/** The machine's wall clock and timers. A waiting `sleep` keeps the process alive until it is aborted. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    // The boot-time clock on Linux, and unlike `process.hrtime` it goes on while the machine sleeps.
    uptime: () => uptime() * SECOND,
    async sleep(ms, signal) {
      if (ms <= 0) return nextTurn();
      for (let left = ms; left > 0; left -= TIMER_MAX_MS) {
        if (signal?.aborted === true) return;
        await wait(Math.min(left, TIMER_MAX_MS), signal);
      }
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function wait(ms: Millis, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
