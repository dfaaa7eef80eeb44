import { openLimiter } from '../../core/budget/limiter.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';

/** The next limiter, or the same row when nothing changes. */
export type LimiterRule = (row: LimiterRecord, now: Instant) => LimiterRecord;

export interface LimiterMoved {
  readonly row: LimiterRecord;
  /** Whether this order changed it. */
  readonly moved: boolean;
  /** The store's instant at which it was judged. */
  readonly now: Instant;
}

type LimiterReads = { readonly limiter: Read<'limiter.byAccount'> };

/** Commits what a rule makes of an account's limiter, under its version; an account without a row is open. */
export async function commitLimiter(
  parts: EngineParts,
  account: string,
  rule: LimiterRule,
): Promise<LimiterMoved> {
  let planned: LimiterRecord | undefined;
  return settle(parts, () =>
    unitOf(account, rule, {
      isOwn: (row) => planned !== undefined && isSame(row, planned),
      plan: (row) => {
        planned = row;
      },
    }),
  );
}

/** What an earlier try of the same order wrote: it may have been committed unseen. */
interface Earlier {
  readonly isOwn: (row: LimiterRecord) => boolean;
  readonly plan: (row: LimiterRecord) => void;
}

function unitOf(
  account: string,
  rule: LimiterRule,
  earlier: Earlier,
): Unit<LimiterReads, LimiterMoved> {
  return {
    name: 'budget.limit',
    reads: { limiter: { read: 'limiter.byAccount', args: { account } } },
    decide: ({ limiter }, { now }) => {
      if (limiter !== undefined && earlier.isOwn(limiter))
        return { verdict: { row: limiter, moved: true, now }, writes: [] };
      const before = limiter ?? openLimiter(account, now);
      const next = rule(before, now);
      if (next === before) return { verdict: { row: before, moved: false, now }, writes: [] };
      const row = { ...next, version: before.version + 1 };
      earlier.plan(row);
      const write = limiter === undefined ? 'limiter.insert' : 'limiter.save';
      return { verdict: { row, moved: true, now }, writes: [{ write, row }] };
    },
  };
}

function isSame(one: LimiterRecord, other: LimiterRecord): boolean {
  const keys = Object.keys(other) as (keyof LimiterRecord)[];
  return keys.every((key) => one[key] === other[key]);
}
