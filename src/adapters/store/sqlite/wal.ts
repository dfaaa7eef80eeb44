import { statSync } from 'node:fs';
import { LIMITS } from '../../../kernel/limits.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { StoreAlarm } from '../../../ports/store.ts';

export interface WalParts {
  /** Of the database file. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log?: Pick<Log, 'info' | 'warn'>;
}

/** Its size is a question to the file system, which costs a tenth of a small commit. */
const COMMITS_A_LOOK = 64;

/**
 * Watches the write-ahead log. SQLite copies it into the database by itself and begins it anew, but not
 * while somebody still reads an older state: a reader that never lets go makes it grow without bound.
 * No write waits for such a reader; a person is told.
 */
export class WalWatch {
  readonly #parts: WalParts;
  #since: number | null = null;
  #commits = 0;

  constructor(parts: WalParts) {
    this.#parts = parts;
  }

  /** Null while the log is of an ordinary size. */
  get alarm(): StoreAlarm | null {
    const bytes = this.look();
    return this.#since === null ? null : { code: 'log_large', bytes, since: this.#since };
  }

  /** Looks now and then: the log grows by no more than kilobytes a commit. */
  committed(): void {
    this.#commits = (this.#commits + 1) % COMMITS_A_LOOK;
    if (this.#commits === 0) this.look();
  }

  /** Measures the log, and says once that it is too large and once that it is not any more. Gives its bytes. */
  look(): number {
    const { path, clock, log } = this.#parts;
    const bytes = sizeOf(`${path}-wal`);
    const isLarge = bytes > LIMITS.storeLogAlarmBytes;
    if (isLarge === (this.#since !== null)) return bytes;
    this.#since = isLarge ? clock.now() : null;
    if (isLarge)
      log?.warn('the log of the store is large: somebody holds it open to read', { bytes });
    else log?.info('the log of the store is of an ordinary size again', { bytes });
    return bytes;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
