import type { TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts } from '../engine.ts';
import { isDiskFull } from '../settle.ts';

/** A full disk is waited out: what a step came to is kept in memory until it can be saved (G-6). */
export async function withRoom<T>(
  { clock, log }: Pick<EngineParts, 'clock' | 'log'>,
  { turnId, signal }: { readonly turnId: TurnId; readonly signal: AbortSignal },
  save: () => Promise<T>,
): Promise<T> {
  const most = LIMITS.diskFullPauseMaxMs;
  for (let pauseMs = LIMITS.diskFullPauseMs; ; pauseMs = Math.min(pauseMs * 2, most)) {
    try {
      return await save();
    } catch (error) {
      if (!isDiskFull(error) || signal.aborted) throw error;
      log.warn('the disk is full, a step waits to be saved', { turnId, pauseMs });
      await clock.sleep(pauseMs, signal);
    }
  }
}
