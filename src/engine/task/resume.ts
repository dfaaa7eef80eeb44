import type { SaidIn } from '../../core/boundary/enrol.ts';
import { goOn } from '../../core/recovery/decide.ts';
import { judgeReassess } from '../../core/recovery/orders.ts';
import { judgeLate, judgeResume } from '../../core/task/orders.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { ORDER_INPUTS, RECOVERY_INPUTS } from '../../text/model.ts';
import { commitEnrol } from '../boundary/enrol.ts';
import type { EngineParts, Ordered, ResumeOrder } from '../engine.ts';
import { generateFor, wakeInput } from '../inbox/generate.ts';
import { readSafeMode, withSafeMode } from './safe-mode-hold.ts';
import { commitOrder, type GivenOrder, type OrderKind } from './order.ts';
import { reopen, recoveryOf, sayReassessed, tellReset, type Speaking } from './reset.ts';

/** A resume as it reaches its unit; `late` of an order whose own time has passed (T-15). */
export interface GivenResume extends GivenOrder, Pick<ResumeOrder, 'late'> {
  /** Where it was typed; absent for the command line and the API (B-8). */
  readonly saidIn?: SaidIn | undefined;
}

/**
 * Wakes a task that stands still, as the table of reasons lets it (W-7): with one new turn and no budget
 * changed, late where it was ordered for a time that has passed (T-15), by a fresh assessment where the last
 * could not tell, or as the one held task that an admin enrols (B-8). For every other reason it is
 * refused, naming the way out.
 */
export async function commitResume(
  parts: EngineParts,
  order: GivenResume,
): Promise<Ordered | Refusal> {
  const task = await parts.store.query('task.byId', { id: order.taskId });
  if (task === undefined) return refuse('not_found', { id: order.taskId });
  const speaking = { ...parts, safeModeUntil: await readSafeMode(parts) };
  if (task.enrollment === 'held-legacy') return commitEnrol(speaking, order);
  const verdict = await commitOrder(parts, order, kindOf(speaking, order, task));
  const waits = verdict.kind === 'refused' && verdict.detail['reason'] === 'interrupted';
  return waits ? withSafeMode(parts, verdict) : verdict;
}

/** By the reason that was found; each judges the task as its unit then reads it. */
function kindOf(parts: Parts, order: GivenResume, { state, reason }: TaskRecord): OrderKind {
  if (state === 'blocked' && reason === 'recovery_inconclusive') return reassess(parts, order);
  return order.late === true ? late(parts, order) : resume(parts, order);
}

type Parts = EngineParts & Speaking;

const NAME = 'task.resume';

function resume(parts: Parts, order: GivenResume): OrderKind {
  const id = parts.ids.next('message');
  return {
    name: NAME,
    admin: false,
    judge: ({ task }, now) => judgeResume(task, order.expectedVersion) ?? goOn(task, now),
    act: (ledger, { run }, next) => {
      if (next.state !== 'active') return undefined;
      const input = wakeInput(id, next, ORDER_INPUTS.resumed);
      generateFor(parts, ledger, { task: next, run, hostId: order.hostId }, input);
      return undefined;
    },
    says: (next, now) =>
      // What was interrupted before it was set aside is assessed first.
      next.state === 'waiting' ? sayReassessed(parts, next, now) : sayResumed(parts, next),
    shows: ({ state, reason }) => ({ state, reason }),
  };
}

function late(parts: Parts, order: GivenResume): OrderKind {
  const id = parts.ids.next('message');
  return {
    ...resume(parts, order),
    judge: ({ task }, now) =>
      judgeLate(task, order.expectedVersion) ?? goOn({ ...task, orderAt: null }, now),
    act: (ledger, { run }, next) => {
      const input = wakeInput(id, next, RECOVERY_INPUTS.late);
      generateFor(parts, ledger, { task: next, run, hostId: order.hostId }, input);
      return undefined;
    },
    says: (next, now) => {
      if (next.state === 'waiting') return sayReassessed(parts, next, now);
      const words = catalogueOf(parts.options.locale);
      return words.answers.resumedLate(quoteRequest(words, next.mandateText));
    },
    shows: ({ state, reason, orderAt }) => ({ state, reason, orderAt }),
  };
}

function reassess(parts: Parts, order: GivenResume): OrderKind {
  return {
    name: NAME,
    admin: true,
    judge: ({ task }, now) => judgeReassess(task, order) ?? reopen(task, now),
    act: tellReset,
    says: (next, now) => sayReassessed(parts, next, now),
    shows: recoveryOf,
  };
}

/** What whoever typed the command is answered. */
export function sayResumed(parts: Pick<EngineParts, 'options'>, task: TaskRecord): string {
  const words = catalogueOf(parts.options.locale);
  return words.answers.resumed(quoteRequest(words, task.mandateText));
}
