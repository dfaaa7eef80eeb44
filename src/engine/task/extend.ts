import { boundsOfTask, extendTask, type Grant } from '../../core/budget/extend.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { MessageId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { sayBudgets } from './budget-sentence.ts';
import { commitOrder, type GivenOrder, type OrderRows } from './order.ts';
import { generateFor, wakeInput } from '../inbox/generate.ts';

export interface GivenGrant extends GivenOrder {
  readonly grant: Grant;
}

/**
 * Adds to the budgets or the deadline of an open task: the only way in which they grow, and an admin's
 * alone (V15, W-7). A task that they had blocked goes on when they are enough, else nothing changes.
 */
export async function commitExtend(
  parts: EngineParts,
  order: GivenGrant,
): Promise<Ordered | Refusal> {
  const id = parts.ids.next('message');
  return commitOrder(parts, order, {
    name: 'task.extend',
    admin: true,
    judge: ({ task }, now) =>
      order.principal.isAdmin
        ? extendTask(task, order, now)
        : refuse('forbidden', { id: task.id, who: 'admin' }),
    act: (ledger, rows, next) => {
      tellBounds(ledger, rows, next);
      const goesOn = rows.task.state === 'blocked' && next.state === 'active';
      if (goesOn && !isAwaited(rows)) wake(parts, ledger, order, { ...rows, task: next, id });
      return undefined;
    },
    says: (next, now) => sayExtended(parts, next, now),
    shows: boundsOfTask,
  });
}

/** What whoever typed the command is answered: what there is to spend now. */
export function sayExtended(
  { options }: Pick<EngineParts, 'options'>,
  task: TaskRecord,
  now: Instant,
): string {
  const { locale, timeZone } = options;
  const words = catalogueOf(locale);
  const telling = { words, reader: { locale, timeZone }, now };
  const request = quoteRequest(words, task.mandateText);
  return words.answers.extended({ request, left: sayBudgets(telling, task) });
}

function tellBounds(ledger: Ledger, { run }: OrderRows, next: TaskRecord): void {
  const about = { taskId: next.id, runId: run?.id ?? null };
  ledger.event('task.extended', { ...about, data: boundsOfTask(next) });
}

/** Whether an input of the task waits to be taken up: then there is something to go on with. */
function isAwaited({ messages }: OrderRows): boolean {
  return messages.some(({ state }) => state === 'unclaimed');
}

function wake(
  parts: EngineParts,
  ledger: Ledger,
  { hostId }: GivenOrder,
  { task, run, id }: OrderRows & { readonly id: MessageId },
): void {
  generateFor(parts, ledger, { task, run, hostId }, wakeInput(id, task, ORDER_INPUTS.extended));
}
