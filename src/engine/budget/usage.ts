import type { Instant } from '../../kernel/time.ts';
import type { TaskUsageRow, UsageRow, Used } from '../../ports/budget.ts';
import type { EngineParts } from '../engine.ts';
import { idAt, lastDays, type Day } from './days.ts';

/** What the models used on one day. */
export interface UsedDay {
  readonly day: Day;
  readonly rows: readonly UsageRow[];
}

/** What was used on the last `count` days of the host's zone, newest first and that of `now` among them. */
export async function readDays(
  parts: EngineParts,
  count: number,
  now: Instant,
): Promise<readonly UsedDay[]> {
  const { store, options } = parts;
  const days = lastDays(count, now, options.timeZone);
  return Promise.all(
    days.map(async (day) => {
      const rows = await store.query('usage.ofRange', rangeOf(day, day));
      return { day, rows: [...rows, ...(await readSummaries(parts, day))] };
    }),
  );
}

/** The name under which the summaries of maintenance stand beside the models of turns. */
const SUMMARIES = 'summaries';

/** What the summaries of the operations of a day used: one row, or none. */
async function readSummaries(
  { store, summary }: EngineParts,
  { from, to }: Day,
): Promise<readonly UsageRow[]> {
  const range = { from: idAt('operation', from), to: idAt('operation', to) };
  const used = await store.query('usage.ofMaintenance', range);
  if (used === undefined || used.inputTokens + used.outputTokens === 0) return [];
  const isPriced = used.cost > 0 || summary.rates !== null || summary.price === 'free';
  const unpriced = isPriced ? 0 : used.calls;
  return [{ provider: null, model: SUMMARIES, ...used, unpriced }];
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
  return { from: idAt('turn', first.from), to: idAt('turn', last.to) };
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
