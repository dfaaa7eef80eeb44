import { Fault } from '../kernel/fault.ts';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND } from '../kernel/time.ts';
import type { ReadName, Reads, StoreFaultCode, Unit, UnitReads } from '../ports/store.ts';
import type { EngineParts } from './engine.ts';

type SettleParts = Pick<EngineParts, 'store' | 'clock' | 'log'>;

/** Codes after which the same unit may be decided again: nothing was written, or it recognises what was. */
const AGAIN: ReadonlySet<string> = new Set<StoreFaultCode>(['busy', 'disconnected', 'unknown']);
/** Codes after which the store can no longer be trusted (G-6). */
const FATAL: ReadonlySet<string> = new Set<StoreFaultCode>(['io', 'read_only', 'corrupt']);

export function isFatal(error: unknown): boolean {
  return error instanceof Fault && FATAL.has(error.code);
}

/** True when nothing was written because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Fault && error.code === 'disk_full';
}

/**
 * Commits a unit and answers its verdict. A lost race is loaded and decided again, a passing fault is
 * tried again after a pause, both within `LIMITS.lostRacesMax` tries; then the fault is thrown.
 * `make` is told the number of the try: from 1 on, an earlier try may have been committed unseen.
 */
export async function settle<R extends UnitReads, V>(
  parts: SettleParts,
  make: (tries: number) => Unit<R, V>,
): Promise<V> {
  for (let tries = 0; ; tries += 1) {
    const unit = make(tries);
    const last = tries + 1 >= LIMITS.lostRacesMax;
    try {
      const committed = await parts.store.commit(unit);
      if (committed.kind === 'done') return committed.verdict;
      if (last)
        throw new Fault('busy', 'retry', `${unit.name} lost its race ${LIMITS.lostRacesMax} times`);
    } catch (error) {
      if (last || !(error instanceof Fault) || !AGAIN.has(error.code)) throw error;
      parts.log.warn('store busy, deciding again', { unit: unit.name, code: error.code, tries });
      await parts.clock.sleep(pauseOf(tries));
    }
  }
}

/** Reads outside a unit what a turn cannot do without; a passing fault is tried again after a pause. */
export async function readAgain<N extends ReadName>(
  parts: SettleParts,
  read: N,
  args: Reads[N]['args'],
): Promise<Reads[N]['rows']> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await parts.store.query(read, args);
    } catch (error) {
      const last = tries + 1 >= LIMITS.lostRacesMax;
      if (last || !(error instanceof Fault) || !AGAIN.has(error.code)) throw error;
      parts.log.warn('store busy, reading again', { read, code: error.code, tries });
      await parts.clock.sleep(pauseOf(tries));
    }
  }
}

function pauseOf(tries: number): number {
  return Math.min(10 * 2 ** tries, SECOND);
}
