import { z } from 'zod';
import type { ApprovalRecord } from '../core/approval/record.ts';
import { isId } from '../kernel/ids.ts';
import {
  APPROVAL_QUERY,
  ApprovalAnswerBody,
  ApprovalAnsweredReply,
  ApprovalReply,
} from '../wire/approval.ts';
import { pageShape } from '../wire/shape.ts';
import { demandOwn, maySee } from './auth.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { API_CHANNEL, orderReply, receiptOf, throwRefused } from './orders.ts';
import { askPage, cutPage, mapPage, sievedPage } from './page.ts';
import { problem } from './problems.ts';
import { viewApproval } from './view/approval.ts';

const ApprovalQuery = z.strictObject(APPROVAL_QUERY);

async function listApprovals(call: Call<z.infer<typeof ApprovalQuery>>): Promise<Response> {
  const { door, identity, query } = call;
  const { state = '', conversation: conversationId = '' } = query;
  const ask = askPage(query, 'approval');
  const { store } = door.engine;
  const filter = { state, conversationId };
  const page = identity.scopes.has('read')
    ? cutPage(
        await store.query('approval.list', { ...filter, ...ask, limit: ask.limit + 1 }),
        ask.limit,
      )
    : await sievedPage<ApprovalRecord>(
        ask,
        ({ requestedBy }) => requestedBy === identity.name,
        (part) => store.query('approval.list', { ...filter, ...part }),
      );
  return reply(200, await mapPage(page, (row) => viewFor(call, row)));
}

/** As the caller may answer it now: what is asked of history once it is woken (B-8). */
async function viewFor({ door, identity }: Call, row: ApprovalRecord): Promise<ApprovalReply> {
  if (row.state !== 'open') return viewApproval(row, identity);
  const task = await door.engine.store.query('task.byId', { id: row.taskId });
  const isAsleep = task !== undefined && task.enrollment !== 'current';
  const view = viewApproval(row, identity);
  return isAsleep ? { ...view, mayAnswer: false } : view;
}

/** The approval of this id, when the key may know of it; throws `not_found`. */
async function demandApproval({ door, identity, id }: Call): Promise<ApprovalRecord> {
  if (!isId('approval', id)) throw problem('not_found');
  const approval = await door.engine.store.query('approval.byId', { id });
  if (approval === undefined || !maySee(identity, approval.requestedBy)) throw problem('not_found');
  return approval;
}

async function answer(call: Call<unknown, ApprovalAnswerBody>): Promise<Response> {
  const { door, identity, body } = call;
  const { id: approvalId, requestedBy } = await demandApproval(call);
  demandOwn(identity, requestedBy);
  const answered = await door.engine.answerApproval({
    approvalId,
    decision: body.decision,
    principal: identity.principal,
    channel: API_CHANNEL,
    ...receiptOf(call),
  });
  if (answered.kind === 'refused') return throwRefused(call, answered);
  const { approval, runs } = answered;
  const outcome = { ...viewApproval(approval, identity), runs } satisfies ApprovalAnsweredReply;
  return orderReply(call, outcome, answered);
}

export const APPROVAL_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/approvals',
    need: 'any',
    summary: 'Calls that a person is asked about, newest first; without `read` the own ones',
    query: ApprovalQuery,
    replies: { 200: { what: 'A page', shape: pageShape(ApprovalReply) } },
    handle: listApprovals,
  }),
  route({
    method: 'GET',
    path: '/v1/approvals/{id}',
    need: 'any',
    summary: 'One approval with every byte that would run',
    replies: { 200: { what: 'The approval', shape: ApprovalReply } },
    handle: async (call) => reply(200, await viewFor(call, await demandApproval(call))),
  }),
  route({
    method: 'POST',
    path: '/v1/approvals/{id}',
    need: 'run',
    summary: 'Answer an approval: an own one, or any with the scope `admin`',
    body: ApprovalAnswerBody,
    isIdempotent: true,
    replies: { 200: { what: 'The approval as it is now', shape: ApprovalAnsweredReply } },
    handle: answer,
  }),
];
