import { isOwn } from '../../core/task/decide.ts';
import { ABOVE_ALL_IDS } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { principalName } from '../../kernel/principal.ts';
import type { TaskUsageRow, UsageRow, Used } from '../../ports/budget.ts';
import type { StepUsage } from '../../ports/turn.ts';
import { sayCount, sayMoney } from '../../text/number.ts';
import { cutName, quoteRequest } from '../../text/quote.ts';
import { readDays, readLargest, sumUsed, type UsedDay } from '../budget/usage.ts';
import type { EngineParts } from '../engine.ts';
import type { Asker } from '../task/nearest.ts';
import { speak, type Speaking } from './speaking.ts';

/** Today and the seven days before it. */
const DAYS_SHOWN = 8;
const TASKS_SHOWN = 5;
/** Newest tasks of a conversation that are looked through for the asker's own. */
const TASKS_READ = 50;

const NOTHING: StepUsage = { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 };

/**
 * Tokens and money (T-20): to an admin today by model, the days before it and the largest tasks of
 * today, of the whole installation; to anybody else what their own tasks of this conversation used.
 * What has no known price is named, for it is not in the sums.
 */
export async function sayUsage(parts: EngineParts, asker: Asker): Promise<string> {
  return asker.principal.isAdmin ? sayDays(parts) : sayOwn(parts, asker);
}

async function sayDays(parts: EngineParts): Promise<string> {
  const now = parts.clock.now();
  const speaking = speak(parts, now);
  const { words } = speaking;
  const [today, ...before] = await readDays(parts, DAYS_SHOWN, now);
  if (today === undefined) return '';
  const range = { first: today.day, last: today.day };
  const tasks = await readLargest(parts, range, TASKS_SHOWN);
  const used = sumUsed([today, ...before].flatMap(({ rows }) => rows));
  return [
    sayDay(speaking, today),
    ...today.rows.map((row) => sayModel(speaking, row)),
    ...(tasks.length === 0 ? [] : [words.answers.usageTasks]),
    ...tasks.map((row) => sayTask(speaking, row)),
    ...before.map((day) => sayDay(speaking, day)),
    ...sayUnpriced(speaking, used),
  ].join('\n');
}

async function sayOwn(parts: EngineParts, { conversationId, principal }: Asker): Promise<string> {
  const speaking = speak(parts, parts.clock.now());
  const { answers } = speaking.words;
  const any = { state: '', enrollment: '', conversationId, before: ABOVE_ALL_IDS };
  const tasks = await parts.store.query('task.list', { ...any, limit: TASKS_READ });
  const own = tasks
    .filter((task) => isOwn(task, principalName(principal)))
    .slice(0, LIMITS.namedMax);
  if (own.length === 0) return answers.noTaskYet;
  const rows = await Promise.all(
    own.map(async ({ id: taskId, mandateText }) => {
      const used = await parts.store.query('step.usageOf', { conversationId, taskId });
      return { ...(used ?? NOTHING), taskId, mandateText };
    }),
  );
  const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
  return [
    answers.usageOwn,
    ...rows.map((row) => sayOwnTask(speaking, row)),
    ...sayUnpriced(speaking, { unpriced }),
  ].join('\n');
}

function sayDay(speaking: Speaking, { day, rows }: UsedDay): string {
  const { words, reader } = speaking;
  const parts = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const { timeZone } = reader;
  const name = new Intl.DateTimeFormat(words.tag, { ...parts, timeZone }).format(day.from);
  const used = sumUsed(rows);
  if (used.calls === 0) return words.answers.usageNone(name);
  return words.answers.usageDay({ day: name, ...factsOf(speaking, used) });
}

function sayModel(speaking: Speaking, row: UsageRow): string {
  const name = [row.provider, row.model].filter((part) => part !== null).join('/');
  return speaking.words.answers.usageModel({
    name: cutName(name === '' ? '?' : name),
    ...factsOf(speaking, row),
  });
}

function sayTask(speaking: Speaking, row: TaskUsageRow): string {
  const { words } = speaking;
  const request = quoteRequest(words, row.mandateText);
  return words.answers.usageTask({ request, id: row.taskId, ...factsOf(speaking, row) });
}

function sayOwnTask(
  speaking: Speaking,
  row: StepUsage & { readonly taskId: string; readonly mandateText: string },
): string {
  const { words } = speaking;
  const request = quoteRequest(words, row.mandateText);
  const { tokens, cost } = amountsOf(speaking, row);
  return words.answers.usageOwnTask({ request, id: row.taskId, tokens, cost });
}

function sayUnpriced({ words }: Speaking, { unpriced }: Pick<Used, 'unpriced'>): readonly string[] {
  return unpriced === 0 ? [] : [words.answers.usageUnpriced(sayCount(words, unpriced))];
}

function factsOf(
  speaking: Speaking,
  used: Omit<Used, 'unpriced'>,
): { readonly tokens: string; readonly cost: string; readonly calls: string } {
  return { ...amountsOf(speaking, used), calls: sayCount(speaking.words, used.calls) };
}

function amountsOf(
  { words }: Speaking,
  { inputTokens, outputTokens, cost }: Pick<Used, 'inputTokens' | 'outputTokens' | 'cost'>,
): { readonly tokens: string; readonly cost: string } {
  return { tokens: sayCount(words, inputTokens + outputTokens), cost: sayMoney(words, cost) };
}
