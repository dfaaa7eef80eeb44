import { LIMITS } from '../../kernel/limits.ts';
import type { UsageReply } from '../../wire/usage.ts';
import { ask } from '../connect.ts';
import { countOf } from '../count.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { table } from '../table.ts';

export interface UsageOptions extends ReadOptions {
  readonly days?: string;
}

type Counted = UsageReply['total'];

/** `usage`: tokens and money by day and model, and the tasks that used most. */
export async function usage(options: UsageOptions): Promise<void> {
  const days =
    options.days === undefined
      ? {}
      : { days: countOf('--days', options.days, LIMITS.usageDaysMax) };
  await ask(options, async ({ client }) => {
    const found = await client.usage(days);
    if (options.json === true) printJson(found);
    else printText(usageText(found));
  });
}

/** The tables of `usage`; what is not counted is said. */
export function usageText({ days, tasks, total, timeZone }: UsageReply): string {
  if (total.calls === 0) return `No model was called in these ${days.length} days (${timeZone}).`;
  const ofModels = days.flatMap(({ day, models }) =>
    models.map((one) => [day, nameOf(one), ...countsOf(one)]),
  );
  const isMany = ofModels.length > 1;
  const sum = isMany ? [[`${days.length} days`, '', ...countsOf(total)]] : [];
  const unpriced = total.unpricedCalls;
  return [
    table(['DAY', 'MODEL', ...COUNTS], [...ofModels, ...sum]),
    ...(unpriced === 0
      ? []
      : [`Calls without a known price, whose cost is not counted: ${unpriced}.`]),
    '',
    table(
      ['TASK', ...COUNTS, 'REQUEST'],
      tasks.map((one) => [one.taskId, ...countsOf(one), one.request]),
    ),
  ].join('\n');
}

const COUNTS = ['TOKENS IN', 'TOKENS OUT', 'COST', 'CALLS'] as const;

function countsOf({ inputTokens, outputTokens, costUsd, calls }: Counted): readonly string[] {
  const cost = costUsd === null ? 'not known' : `$${costUsd.toFixed(4)}`;
  return [String(inputTokens), String(outputTokens), cost, String(calls)];
}

function nameOf({ provider, model }: { provider: string | null; model: string | null }): string {
  return model === null ? 'unanswered' : `${provider ?? ''}/${model}`;
}
