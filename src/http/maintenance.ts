import { z } from 'zod';
import type { OperationRecord } from '../core/maintenance/record.ts';
import { explainOperation } from '../engine/maintenance/why.ts';
import { isId } from '../kernel/ids.ts';
import { AdmitBody, OPERATION_QUERY, OperationReply } from '../wire/maintenance.ts';
import { pageShape } from '../wire/shape.ts';
import { WhyReply } from '../wire/task.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { demandConversation } from './conversation-of.ts';
import { API_CHANNEL } from './orders.ts';
import { askPage, cutPage, mapPage } from './page.ts';
import { problem, receiptProblem, refusalProblem } from './problems.ts';
import { viewOperation, viewOperationBriefly, viewOperationFacts } from './view/maintenance.ts';

const OperationQuery = z.strictObject(OPERATION_QUERY);

async function listOperations(call: Call<z.infer<typeof OperationQuery>>): Promise<Response> {
  const { query, door } = call;
  const { state = '', conversation: conversationId = '' } = query;
  const { before, limit } = askPage(query, 'operation');
  const asked = { state, conversationId, before, limit: limit + 1 };
  const rows = await door.engine.store.query('operation.list', asked);
  const page = cutPage(rows, limit);
  return reply(200, await mapPage(page, (row) => viewOperationBriefly(door.engine, row)));
}

/** The operation of this id, when the key may know of its conversation; throws `not_found`. */
async function demandOperation(call: Call): Promise<OperationRecord> {
  const { door, id } = call;
  if (!isId('operation', id)) throw problem('not_found');
  const operation = await door.engine.store.query('operation.byId', { id });
  if (operation === undefined) throw problem('not_found');
  await demandConversation(call, operation.conversationId, 'read');
  return operation;
}

async function why(call: Call): Promise<Response> {
  const { id } = await demandOperation(call);
  const { parts } = call.door.engine;
  const { locale, timeZone } = parts.options;
  const explanation = await explainOperation(parts, id, { locale, timeZone });
  if (explanation === undefined) throw problem('not_found');
  const { sentence, chain, commands } = explanation;
  return reply(200, { sentence, chain: [...chain], commands: [...commands] } satisfies WhyReply);
}

async function admit(call: Call<unknown, AdmitBody>): Promise<Response> {
  const { door, identity, body } = call;
  const { engine } = door;
  const { id: operationId } = await demandOperation(call);
  const { expectedVersion, receiptId, as } = body;
  const admitted = await engine.admit({
    operationId,
    expectedVersion,
    receiptId,
    as,
    principal: identity.principal,
    channel: API_CHANNEL,
  });
  if (admitted.kind === 'refused') throw refusalProblem(engine, admitted);
  const { operation, repeated } = admitted;
  // What it came to then is told; how it stands now is another question.
  if (repeated) throw receiptProblem(engine, viewOperationFacts(engine, operation));
  return reply(200, await viewOperation(engine, operation));
}

export const MAINTENANCE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/maintenance',
    need: 'read',
    summary: 'Maintenance operations, newest first',
    query: OperationQuery,
    replies: { 200: { what: 'A page', shape: pageShape(OperationReply) } },
    handle: listOperations,
  }),
  route({
    method: 'GET',
    path: '/v1/maintenance/{id}',
    need: 'any',
    summary: 'One maintenance operation, how it stands, and what leaves it',
    replies: { 200: { what: 'The operation', shape: OperationReply } },
    handle: async (call) =>
      reply(200, await viewOperation(call.door.engine, await demandOperation(call))),
  }),
  route({
    method: 'GET',
    path: '/v1/maintenance/{id}/why',
    need: 'any',
    summary: 'Why a maintenance operation stands where it stands, and what leaves that state',
    replies: { 200: { what: 'The explanation', shape: WhyReply } },
    handle: why,
  }),
  route({
    method: 'POST',
    path: '/v1/maintenance/{id}/admit',
    need: 'admin',
    summary: 'Open the next epoch of a blocked maintenance operation; 409 for any other',
    body: AdmitBody,
    replies: { 200: { what: 'The operation as it is now', shape: OperationReply } },
    handle: admit,
  }),
];
