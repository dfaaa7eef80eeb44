import { Fault } from '../../kernel/fault.ts';
import type { Migration } from './migration.ts';

/** A migration that a store has had. */
export interface Applied {
  readonly number: number;
  readonly name: string;
  readonly breaking: string;
}

/**
 * The next migration that the store needs, or undefined when it has all of them. Throws the `Fault`
 * `store_too_new` for a store that a later version changed so that this one would do harm.
 */
export function nextMigration(
  applied: readonly Applied[],
  known: readonly Migration[],
): Migration | undefined {
  const newestKnown = Math.max(0, ...known.map((one) => one.number));
  const unknown = applied.filter((one) => one.number > newestKnown);
  const harmful = unknown.findLast((one) => one.breaking === 'yes');
  if (harmful !== undefined) {
    throw new Fault(
      'store_too_new',
      'stop',
      `The store has schema version ${harmful.number} (${harmful.name}) and this program knows ` +
        `versions up to ${newestKnown} only. Start the newer program, or restore a backup.`,
    );
  }
  const had = new Set(applied.map((one) => one.number));
  return known.find((one) => !had.has(one.number));
}

export const APPLIED_SQL = 'select number, name, breaking from migration order by number';
