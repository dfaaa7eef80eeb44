import { USD } from '../../kernel/money.ts';
import type { TaskRecord } from '../task/record.ts';

export const BUDGETS = ['turns', 'tokens', 'costUsd', 'continuations'] as const;
export type Budget = (typeof BUDGETS)[number];

/** What was spent that a task's record does not know yet. */
export interface Spent {
  readonly tokens: number;
  /** Millionths of a US dollar. */
  readonly cost: number;
}
export const NOTHING_SPENT: Spent = { tokens: 0, cost: 0 };

type Counts = Pick<
  TaskRecord,
  | 'turnsLimit'
  | 'turnsUsed'
  | 'tokensLimit'
  | 'tokensUsed'
  | 'costLimit'
  | 'costUsed'
  | 'continuationsLimit'
  | 'continuationsUsed'
>;

/** The budget that forbids a further model call; judged before the spend (T-7). */
export function exhaustedBy(task: Counts, spent: Spent): Budget | undefined {
  if (task.tokensUsed + spent.tokens >= task.tokensLimit) return 'tokens';
  const cost = task.costUsed + spent.cost;
  // With nothing granted, work that costs nothing goes on.
  return cost >= task.costLimit && cost > 0 ? 'costUsd' : undefined;
}

/** The budget that forbids a further turn. */
export function exhaustedForTurn(task: Counts): Budget | undefined {
  if (task.turnsUsed >= task.turnsLimit) return 'turns';
  return exhaustedBy(task, NOTHING_SPENT);
}

/** Whether a further continuation is one too many: only a person's message breaks the row (T-7). */
export function exhaustedForContinuation(task: Counts): Budget | undefined {
  return task.continuationsUsed >= task.continuationsLimit ? 'continuations' : undefined;
}

/**
 * What `/extend` has to grant so that work goes on, as it is typed: of the budget that is used up, and of
 * every other that forbids the next turn, as often the old limit as it takes.
 */
export function grantFor(task: Counts, budget: Budget): string {
  const named = BUDGETS.filter((one) => one === budget || FORBIDS[one](task));
  return named.map((one) => GRANTS[one](task)).join(' ');
}

const FORBIDS: Readonly<Record<Budget, (task: Counts) => boolean>> = {
  turns: ({ turnsUsed, turnsLimit }) => turnsUsed >= turnsLimit,
  tokens: ({ tokensUsed, tokensLimit }) => tokensUsed >= tokensLimit,
  costUsd: ({ costUsed, costLimit }) => costUsed >= costLimit && costUsed > 0,
  // Only the task itself goes on by itself.
  continuations: () => false,
};

const GRANTS: Readonly<Record<Budget, (task: Counts) => string>> = {
  turns: (task) => `turns=+${wholeGrant(task.turnsLimit, task.turnsUsed)}`,
  tokens: (task) => `tokens=+${wholeGrant(task.tokensLimit, task.tokensUsed)}`,
  costUsd: (task) => `cost=+${wholeGrant(task.costLimit, task.costUsed) / USD}`,
  continuations: (task) =>
    `continuations=+${wholeGrant(task.continuationsLimit, task.continuationsUsed)}`,
};

function wholeGrant(limit: number, used: number): number {
  const step = Math.max(1, limit);
  return step * Math.max(1, Math.ceil((used - limit + 1) / step));
}
