import { judgeReset } from '../../core/recovery/orders.ts';
import { needAssessment, openEpoch } from '../../core/recovery/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { Instant } from '../../kernel/time.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { sayDay, sayWhen } from '../../text/when.ts';
import type { ReopenedFacts } from '../../text/answer-texts.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import { readSafeMode } from './safe-mode-hold.ts';
import { commitOrder, type GivenOrder, type OrderRows } from './order.ts';
import type { Ledger } from '../session/ledger.ts';

/**
 * Opens a new epoch of assessments for a task that has used up its own: an admin's order. No deadline
 * moves, no worker and no input is replayed, the lifetime count and the spacing stay.
 */
export async function commitReset(
  parts: EngineParts,
  order: GivenOrder,
): Promise<Ordered | Refusal> {
  const safeModeUntil = await readSafeMode(parts);
  return commitOrder(parts, order, {
    name: 'task.reset',
    admin: true,
    judge: ({ task }, now) => judgeReset(task, order) ?? reopen(task, now),
    act: (ledger, rows, next) => tellReset(ledger, rows, next),
    says: (next, now) => sayReset({ ...parts, safeModeUntil }, next, now),
    shows: recoveryOf,
  });
}

/** The task in its next epoch, waiting for the first assessment of it. */
export function reopen(task: TaskRecord, now: Instant): TaskRecord {
  return needAssessment(openEpoch(task), now, { tools: [] });
}

/** The event of an epoch that an admin opened (V5). */
export function tellReset(ledger: Ledger, { run }: OrderRows, next: TaskRecord): undefined {
  const data = { epoch: next.recoveryEpoch };
  ledger.event('recovery.reset', { taskId: next.id, runId: run?.id ?? null, data });
}

/** What the order changes, for the log of admin actions. */
export function recoveryOf(task: TaskRecord): {
  readonly state: string;
  readonly reason: string | null;
  readonly epoch: number;
  readonly attempts: number;
} {
  const { state, reason, recoveryEpoch: epoch, recoveryAttempts: attempts } = task;
  return { state, reason, epoch, attempts };
}

/** What whoever reset the budget is answered. */
export function sayReset(parts: Speaking, task: TaskRecord, now: Instant): string {
  const words = catalogueOf(parts.options.locale);
  return words.answers.budgetReset(reopened(parts, task, now));
}

/** What whoever has a task assessed anew is answered. */
export function sayReassessed(parts: Speaking, task: TaskRecord, now: Instant): string {
  const words = catalogueOf(parts.options.locale);
  return words.answers.reassessed(reopened(parts, task, now));
}

/** `safeModeUntil`: what was read before the order, for safe mode holds the check back. */
export type Speaking = Pick<EngineParts, 'options'> & { readonly safeModeUntil?: Instant | null };

/** What an answer says of a task that is assessed next. */
export function reopened(
  { options, safeModeUntil = null }: Speaking,
  task: TaskRecord,
  now: Instant,
): ReopenedFacts {
  const { locale, timeZone } = options;
  const words = catalogueOf(locale);
  const reader = { locale, timeZone };
  const { recoveryNextAt: at, deadline, mandateText } = task;
  return {
    request: quoteRequest(words, mandateText),
    safeMode: safeModeUntil === null ? null : sayWhen(reader, words, safeModeUntil, now),
    when: at === null || at <= now ? null : sayWhen(reader, words, at, now),
    deadline: deadline === null ? null : sayDay(reader, words.tag, deadline, now),
  };
}
