import { randomInt } from 'node:crypto';
import { ID_PREFIX, idBody, type Id, type IdKind } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Ids } from '../../ports/ids.ts';

/** The counter starts below half, so that two billion ids fit into a millisecond before it is full. */
const START_MAX = 2 ** 31;
const COUNTER_MAX = 2 ** 32 - 1;

export interface IdSource {
  now(): Instant;
  /** A whole number from 0 to below `bound`. */
  random(bound: number): number;
}

/**
 * Makes ids that sort by creation: 48 bits of milliseconds and a 32-bit counter. A clock that goes
 * back keeps the last millisecond, and within one the counter only rises, so no id is ever lower than
 * the one before it; a full counter borrows the next millisecond.
 */
export function createIds(source: IdSource): Ids {
  let last = -1;
  let counter = 0;
  const step = (): void => {
    const now = source.now();
    if (now > last) {
      last = now;
      counter = source.random(START_MAX);
    } else if (counter < COUNTER_MAX) {
      counter += 1;
    } else {
      last += 1;
      counter = source.random(START_MAX);
    }
  };
  return {
    next<K extends IdKind>(kind: K): Id<K> {
      step();
      return `${ID_PREFIX[kind]}${idBody(last, counter)}`;
    },
  };
}

/** Chance from the operating system: an id cannot be guessed from the one before its millisecond. */
export function secureRandom(bound: number): number {
  return randomInt(bound);
}
