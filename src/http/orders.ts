import type { Grant } from '../core/budget/extend.ts';
import type { TaskOrder } from '../engine/engine.ts';
import { refuse, type Refusal } from '../kernel/fault.ts';
import { USD } from '../kernel/money.ts';
import { readDeadline } from '../kernel/deadline.ts';
import {
  TaskExtendBody,
  TaskOrderBody,
  TaskReply,
  TaskResumeBody,
  TaskStoppedReply,
} from '../wire/task.ts';
import { demandOwn } from './auth.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { receiptProblem, refusalProblem } from './problems.ts';
import { demandExactTask, demandTask, wholeTask } from './task-of.ts';

/** Under which channel orders of this door stand in the log of admin actions. */
export const API_CHANNEL = 'api';

type OrderCall = Call<unknown, TaskOrderBody>;
/** A call whose body may carry the receipt of an order. */
type ReceiptCall = Call<unknown, { readonly receiptId?: string | undefined }>;

/**
 * What makes an order one that is given once: the body's receipt, else the Idempotency-Key (M-7). A key
 * comes with the digest of what it asks, so that another order under it is told from the same one again.
 */
export function receiptOf({
  body,
  idempotency,
}: ReceiptCall): Pick<TaskOrder, 'receiptId' | 'fingerprint'> {
  if (body.receiptId !== undefined) return { receiptId: body.receiptId };
  if (idempotency === undefined) return {};
  return { receiptId: idempotency.key, fingerprint: idempotency.fingerprint };
}

/**
 * The answer to an order: its outcome, or what the engine refuses as a problem. Given again, a used
 * receipt is 409 with the first outcome (M-7), an Idempotency-Key is answered as at first.
 */
export function orderReply(
  { door, body }: ReceiptCall,
  outcome: object,
  { repeated = false }: { readonly repeated?: boolean },
): Response {
  if (repeated && body.receiptId !== undefined) throw receiptProblem(door.engine, outcome);
  return reply(200, outcome);
}

/** The engine's "no" to an order; a key that was used for something else is a conflict of that key. */
export function throwRefused({ door, body }: ReceiptCall, no: Refusal): never {
  const isOfKey = no.code === 'receipt_used' && body.receiptId === undefined;
  throw refusalProblem(door.engine, isOfKey ? refuse('idempotency_conflict', no.detail) : no);
}

/** The order of this call about an own task, or about any with `admin`; throws what A-5 refuses. */
async function orderOf(call: OrderCall): Promise<TaskOrder> {
  const task = await demandExactTask(call);
  demandOwn(call.identity, task.mandatePrincipal);
  const { expectedVersion } = call.body;
  return {
    taskId: task.id,
    principal: call.identity.principal,
    channel: API_CHANNEL,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...receiptOf(call),
  };
}

async function stop(call: OrderCall): Promise<Response> {
  const stopped = await call.door.engine.stopTask(await orderOf(call));
  if (stopped.kind === 'refused') return throwRefused(call, stopped);
  const task = await wholeTask(call, stopped.task);
  const outcome = { ...task, running: [...stopped.running] } satisfies TaskStoppedReply;
  return orderReply(call, outcome, stopped);
}

async function pause(call: OrderCall): Promise<Response> {
  const paused = await call.door.engine.pauseTask(await orderOf(call));
  if (paused.kind === 'refused') return throwRefused(call, paused);
  return orderReply(call, await wholeTask(call, paused.task), paused);
}

async function resume(call: Call<unknown, TaskResumeBody>): Promise<Response> {
  const { late = false } = call.body;
  const resumed = await call.door.engine.resumeTask({ ...(await orderOf(call)), late });
  if (resumed.kind === 'refused') return throwRefused(call, resumed);
  return orderReply(call, await wholeTask(call, resumed.task), resumed);
}

async function resetBudget(call: OrderCall): Promise<Response> {
  const reset = await call.door.engine.resetBudget(await orderOf(call));
  if (reset.kind === 'refused') return throwRefused(call, reset);
  return orderReply(call, await wholeTask(call, reset.task), reset);
}

async function extend(call: Call<unknown, TaskExtendBody>): Promise<Response> {
  const order = { ...(await orderOf(call)), grant: grantOf(call.body) };
  const extended = await call.door.engine.extendTask(order);
  if (extended.kind === 'refused') return throwRefused(call, extended);
  return orderReply(call, await wholeTask(call, extended.task), extended);
}

/** What a body grants, in the engine's units. */
function grantOf({ turns, tokens, costUsd, continuations, deadline }: TaskExtendBody): Grant {
  const until = deadline === undefined ? undefined : readDeadline(deadline);
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costUsd === undefined ? {} : { costMicroUsd: Math.round(costUsd * USD) }),
    ...(continuations === undefined ? {} : { continuations }),
    ...(until === undefined ? {} : { deadline: until }),
  };
}

/** For what only states ask for that no task of this version comes to. */
async function refuseOrder(call: OrderCall): Promise<never> {
  await orderOf(call);
  const { id, state, version } = await demandTask(call);
  const { expectedVersion = version } = call.body;
  const code = expectedVersion === version ? 'not_allowed_now' : 'version_conflict';
  return throwRefused(call, refuse(code, { id, state, version: String(version) }));
}

const DONE = { 200: { what: 'The task as it is now', shape: TaskReply } } as const;

export const ORDER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/stop',
    need: 'run',
    summary: 'Stop a task: an own one, or any with the scope `admin`',
    body: TaskOrderBody,
    isBodyOptional: true,
    isIdempotent: true,
    replies: { 200: { what: 'The task as it is now', shape: TaskStoppedReply } },
    handle: stop,
  }),
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/resume',
    need: 'run',
    summary:
      'Let a task that stands still go on: an own one, or any with `admin`; a held or inconclusive one with `admin` alone',
    body: TaskResumeBody,
    isBodyOptional: true,
    isIdempotent: true,
    replies: DONE,
    handle: resume,
  }),
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/pause',
    need: 'run',
    summary: 'Set a task aside until it is resumed: an own one, or any with `admin`',
    body: TaskOrderBody,
    isBodyOptional: true,
    isIdempotent: true,
    replies: DONE,
    handle: pause,
  }),
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/extend',
    need: 'admin',
    summary: 'Add to the budgets or the deadline of a task',
    body: TaskExtendBody,
    isIdempotent: true,
    replies: DONE,
    handle: extend,
  }),
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/accept',
    need: 'run',
    summary: 'Accept work whose completion was not proven; 409 where nothing asks for it',
    body: TaskOrderBody,
    isBodyOptional: true,
    replies: DONE,
    handle: refuseOrder,
  }),
  route({
    method: 'POST',
    path: '/v1/tasks/{id}/budget-reset',
    need: 'admin',
    summary:
      'Open a new epoch of assessments for a task that has used up its own; 409 where none has',
    body: TaskOrderBody,
    isBodyOptional: true,
    isIdempotent: true,
    replies: DONE,
    handle: resetBudget,
  }),
];
