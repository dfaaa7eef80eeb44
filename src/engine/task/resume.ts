import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import { judgeResume } from '../../core/task/orders.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { MessageId } from '../../kernel/ids.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { generate, type GeneratedInput } from '../turn/generate.ts';
import { requestOf } from './mandate.ts';
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

/** The input that wakes a task: once for each of its versions; it quotes what it is about. */
export function wakeInput(id: MessageId, task: TaskRecord, text: string): GeneratedInput {
  const externalId = `${task.id}:${task.version}`;
  return { id, channel: HOST_CHANNELS.wake, externalId, text: `${text}\n\n> ${requestOf(task)}` };
}

/** Makes an input for a task, with no more authority than its mandate (T-11). */
export function generateFor(
  parts: EngineParts,
  ledger: Ledger,
  about: {
    readonly task: TaskRecord;
    readonly run: RunRecord | undefined;
    readonly hostId: GivenOrder['hostId'];
  },
  input: GeneratedInput,
): void {
  const { id: taskId, conversationId, mandateAuthority: authority } = about.task;
  // A run that has its end keeps it: what goes on is the task.
  const runId = about.run?.state === 'open' ? about.run.id : null;
  generate(
    parts,
    ledger,
    { conversationId, taskId, runId, authority, hostId: about.hostId },
    input,
  );
}
