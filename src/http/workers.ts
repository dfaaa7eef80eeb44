import { z } from 'zod';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import { isId } from '../kernel/ids.ts';
import { pageShape } from '../wire/shape.ts';
import { WORKER_QUERY, WorkerOrderBody, WorkerReply } from '../wire/worker.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { API_CHANNEL, orderReply, receiptOf, throwRefused } from './orders.ts';
import { askPage, cutPage, mapPage } from './page.ts';
import { problem } from './problems.ts';
import { viewWorker } from './view/worker.ts';

const WorkerQuery = z.strictObject(WORKER_QUERY);

async function listWorkers({ door, query }: Call<z.infer<typeof WorkerQuery>>): Promise<Response> {
  const { state = '', enrollment = '' } = query;
  const { before, limit } = askPage(query, 'execution');
  const asked = { state, enrollment, before, limit: limit + 1 };
  const rows = await door.engine.store.query('execution.list', asked);
  return reply(200, await mapPage(cutPage(rows, limit), viewWorker));
}

/** The worker of this id; throws `not_found`. */
async function demandWorker({ door, id }: Call): Promise<ExecutionRecord> {
  if (!isId('execution', id)) throw problem('not_found');
  const worker = await door.engine.store.query('execution.byId', { id });
  if (worker === undefined) throw problem('not_found');
  return worker;
}

async function resume(call: Call<unknown, WorkerOrderBody>): Promise<Response> {
  const { id: executionId } = await demandWorker(call);
  const { expectedVersion } = call.body;
  const resumed = await call.door.engine.resumeWorker({
    executionId,
    principal: call.identity.principal,
    channel: API_CHANNEL,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...receiptOf(call),
  });
  if (resumed.kind === 'refused') return throwRefused(call, resumed);
  return orderReply(call, viewWorker(resumed.execution), resumed);
}

export const WORKER_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/workers',
    need: 'read',
    summary: 'Workers, newest first',
    query: WorkerQuery,
    replies: { 200: { what: 'A page', shape: pageShape(WorkerReply) } },
    handle: listWorkers,
  }),
  route({
    method: 'GET',
    path: '/v1/workers/{id}',
    need: 'read',
    summary: 'One worker',
    replies: { 200: { what: 'The worker', shape: WorkerReply } },
    handle: async (call) => reply(200, viewWorker(await demandWorker(call))),
  }),
  route({
    method: 'POST',
    path: '/v1/workers/{id}/resume',
    need: 'admin',
    summary: 'Wake exactly this worker, which the boundary holds; 409 for any other',
    body: WorkerOrderBody,
    isBodyOptional: true,
    isIdempotent: true,
    replies: { 200: { what: 'The worker as it is now', shape: WorkerReply } },
    handle: resume,
  }),
];
