import { LIMITS } from '../../kernel/limits.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * Waits for a running call. Once its signal has aborted it has `LIMITS.stopToolsMs` to end; after that
 * `lost` stands for what it came to, and what it still does is not waited for (W-1).
 */
export async function within<T>(
  call: Promise<T>,
  lost: () => T,
  bound: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  const { clock, signal } = bound;
  const limit = Promise.withResolvers<T>();
  // Made only after an abort: a controller for each call cost as much as the call's own records.
  let over: AbortController | undefined;
  const onAbort = (): void => {
    over = new AbortController();
    void clock.sleep(LIMITS.stopToolsMs, over.signal).then(() => limit.resolve(lost()));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call, limit.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    over?.abort();
  }
}
