import { moveTask } from '../../core/task/decide.ts';
import { judgeResume } from '../../core/task/orders.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Refusal } from '../../kernel/fault.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import { generateFor, wakeInput } from '../inbox/generate.ts';
import { commitOrder, type GivenOrder } from './order.ts';

/**
 * Wakes a task that stands still for a reason that one new turn may leave (W-7): it is active, with one
 * generated input and no budget changed. For every other reason it is refused, naming the way out.
 */
export async function commitResume(
  parts: EngineParts,
  order: GivenOrder,
): Promise<Ordered | Refusal> {
  const id = parts.ids.next('message');
  return commitOrder(parts, order, {
    name: 'task.resume',
    admin: false,
    judge: ({ task }, now) =>
      judgeResume(task, order.expectedVersion) ??
      moveTask(task, { to: 'active', reason: null, now }),
    act: (ledger, { run }, next) => {
      const input = wakeInput(id, next, ORDER_INPUTS.resumed);
      generateFor(parts, ledger, { task: next, run, hostId: order.hostId }, input);
      return undefined;
    },
    says: (next) => sayResumed(parts, next),
    shows: ({ state, reason }) => ({ state, reason }),
  });
}

/** What whoever typed the command is answered. */
export function sayResumed(parts: Pick<EngineParts, 'options'>, task: TaskRecord): string {
  const words = catalogueOf(parts.options.locale);
  return words.answers.resumed(quoteRequest(words, task.mandateText));
}
