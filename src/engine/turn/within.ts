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
  const over = new AbortController();
  try {
    return await Promise.race([call, afterLimit(lost, bound, over.signal)]);
  } finally {
    over.abort();
  }
}

async function afterLimit<T>(
  lost: () => T,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  over: AbortSignal,
): Promise<T> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
    });
  }
  await clock.sleep(LIMITS.stopToolsMs, over);
  return lost();
}
