import type { Instant } from '../../kernel/time.ts';
import type { TaskUsageRow, UsageRow, Used } from '../../ports/budget.ts';
import type { EngineParts } from '../engine.ts';
import { lastDays, turnAt, type Day } from './days.ts';

/** What the models used on one day. */
export interface UsedDay {
  readonly day: Day;
  readonly rows: readonly UsageRow[];
}

/** What was used on the last `count` days of the host's zone, newest first and that of `now` among them. */
export async function readDays(
  { store, options }: EngineParts,
  count: number,
  now: Instant,
): Promise<readonly UsedDay[]> {
  const days = lastDays(count, now, options.timeZone);
  return Promise.all(
    days.map(async (day) => ({ day, rows: await store.query('usage.ofRange', rangeOf(day, day)) })),
  );
}

/** The tasks that used most tokens from one day up to another. */
export async function readLargest(
  { store }: EngineParts,
  { first, last }: { readonly first: Day; readonly last: Day },
  limit: number,
): Promise<readonly TaskUsageRow[]> {
  return store.query('usage.byTask', { ...rangeOf(first, last), limit });
}

function rangeOf(first: Day, last: Day): { readonly from: string; readonly to: string } {
  return { from: turnAt(first.from), to: turnAt(last.to) };
}

export function sumUsed(rows: readonly Used[]): Used {
  const sum = (pick: (row: Used) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  return {
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    cost: sum((row) => row.cost),
    calls: sum((row) => row.calls),
    unpriced: sum((row) => row.unpriced),
  };
}
