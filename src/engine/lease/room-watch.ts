import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Store, StoreAlarm, StoreCheck } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { isDiskFull } from '../settle.ts';

/** What a host does while the disk of its store is full, and when there is room again. */
interface RoomHost {
  readonly signal: AbortSignal;
  /** Commits something small. */
  readonly probe: () => Promise<void>;
  /** Work that was given up for want of room is looked for anew. */
  readonly onRoom: () => Promise<void>;
  readonly onFault: (error: unknown, where: string) => void;
}

/**
 * Knows whether the disk of the store is full (G-6), since every commit passes it. Work that is given up
 * for want of room has no timer of its own: from the first refusal on the store is asked until it saves
 * something, and then all is looked at.
 */
export class RoomWatch {
  /** The store, watched: while its disk is full that is its alarm. */
  readonly store: Store;
  readonly #parts: Pick<EngineParts, 'clock' | 'log'>;
  #host: RoomHost | null = null;
  #fullSince: Instant | null = null;
  #pauseMs: number = LIMITS.diskFullPauseMs;
  /** When there was room again last, by the clock that nobody sets. */
  #roomAt = -Infinity;
  #asking: Promise<void> = Promise.resolve();

  constructor(parts: Pick<EngineParts, 'clock' | 'log' | 'store'>) {
    this.#parts = parts;
    this.store = this.#watched(parts.store);
  }

  /** From here on it asks. */
  begin(host: RoomHost): void {
    this.#host = host;
  }

  /** Resolves when it asks no more. */
  async whenIdle(): Promise<void> {
    await this.#asking;
  }

  #watched(store: Store): Store {
    const alarm = (): StoreAlarm | null => this.#alarm() ?? store.alarm ?? null;
    return {
      traits: store.traits,
      get alarm() {
        return alarm();
      },
      commit: async (unit) => {
        try {
          return await store.commit(unit);
        } catch (error) {
          if (isDiskFull(error)) this.#foundFull();
          throw error;
        }
      },
      query: (read, args) => store.query(read, args),
      ...(store.check === undefined ? {} : { check: () => checkOf(store) }),
      close: () => store.close(),
    };
  }

  #alarm(): StoreAlarm | null {
    const since = this.#fullSince;
    return since === null ? null : { code: 'disk_full', since };
  }

  #foundFull(): void {
    if (this.#fullSince !== null || this.#host === null || this.#host.signal.aborted) return;
    this.#fullSince = this.#parts.clock.now();
    this.#pauseMs = this.#nextPause();
    this.#parts.log.warn('the disk of the store is full: what is new is refused', {});
    this.#asking = this.#ask(this.#host);
  }

  /** Room for something small is not room for work: where it did not last, it is asked less often. */
  #nextPause(): number {
    const lasted = this.#parts.clock.uptime() - this.#roomAt;
    if (lasted > LIMITS.diskFullPauseMaxMs) return LIMITS.diskFullPauseMs;
    return Math.min(2 * this.#pauseMs, LIMITS.diskFullPauseMaxMs);
  }

  async #ask(host: RoomHost): Promise<void> {
    const { clock, log } = this.#parts;
    do {
      await clock.sleep(this.#pauseMs, host.signal);
      if (host.signal.aborted) return;
    } while (!(await hasRoom(host)));
    this.#fullSince = null;
    this.#roomAt = clock.uptime();
    log.warn('the disk of the store has room again', {});
    await host.onRoom();
  }
}

function checkOf(store: Store): Promise<StoreCheck> {
  invariant(store.check !== undefined, 'a store that can be checked');
  return store.check();
}

/** A fault that is not of the disk's room says nothing about it. */
async function hasRoom({ probe, onFault }: RoomHost): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    if (!isDiskFull(error)) onFault(error, 'room');
    return false;
  }
}
