import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import type { Reader } from '../../text/reader.ts';
import { sayCount, sayMoney } from '../../text/number.ts';
import { sayInstant } from '../../text/when.ts';

/**
 * What is left of an open task's budgets and attempts, or what an ended one used. A running turn is
 * counted among the turns when it begins; its tokens and cost when it ends, as the record has them.
 */
export function sayBudgets(
  telling: { readonly words: Catalogue; readonly reader: Reader; readonly now: Instant },
  task: TaskRecord,
): string {
  const { words, reader, now } = telling;
  const count = (value: number): string => sayCount(words, value);
  const left = (limit: number, used: number): string => count(Math.max(0, limit - used));
  const money = (microUsd: number): string => sayMoney(words, microUsd);
  if (hasEnded(task.state)) {
    return words.why.used({
      turns: count(task.turnsUsed),
      tokens: count(task.tokensUsed),
      cost: money(task.costUsed),
    });
  }
  return words.why.left({
    turnsLeft: left(task.turnsLimit, task.turnsUsed),
    turns: count(task.turnsLimit),
    tokensLeft: left(task.tokensLimit, task.tokensUsed),
    tokens: count(task.tokensLimit),
    costLeft: money(Math.max(0, task.costLimit - task.costUsed)),
    cost: money(task.costLimit),
    continuationsLeft: left(task.continuationsLimit, task.continuationsUsed),
    continuations: count(task.continuationsLimit),
    correctionsLeft: left(LIMITS.correctiveTurnsMax, task.correctionsUsed),
    corrections: count(LIMITS.correctiveTurnsMax),
    assessmentsLeft: left(LIMITS.recoveryAttempts, task.recoveryAttempts),
    assessments: count(LIMITS.recoveryAttempts),
    assessmentsMade: count(task.recoveryLifetimeAttempts),
    deadline: task.deadline === null ? null : sayInstant(reader, words.tag, task.deadline, now),
  });
}
