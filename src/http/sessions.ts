import { z } from 'zod';
import { isId } from '../kernel/ids.ts';
import { SessionReply } from '../wire/maintenance.ts';
import { PAGE_QUERY, pageShape } from '../wire/shape.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { demandConversation } from './conversation-of.ts';
import { askPage, cutPage, mapPage, type PageQuery } from './page.ts';
import { problem } from './problems.ts';
import { viewSession } from './view/session.ts';

async function listSessions(call: Call<PageQuery>): Promise<Response> {
  const conversation = await demandConversation(call, call.id, 'read');
  const { before, limit } = askPage(call.query, 'session');
  const asked = { conversationId: conversation.id, before, limit: limit + 1 };
  const rows = await call.door.engine.store.query('session.list', asked);
  return reply(200, await mapPage(cutPage(rows, limit), (row) => viewSession(row, conversation)));
}

async function getSession(call: Call): Promise<Response> {
  const { door, id } = call;
  if (!isId('session', id)) throw problem('not_found');
  const session = await door.engine.store.query('session.byId', { id });
  if (session === undefined) throw problem('not_found');
  const conversation = await demandConversation(call, session.conversationId, 'read');
  return reply(200, viewSession(session, conversation) satisfies SessionReply);
}

export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/conversations/{id}/sessions',
    need: 'any',
    summary: 'The sessions of a conversation, newest first, archived ones among them',
    query: z.strictObject(PAGE_QUERY),
    replies: { 200: { what: 'A page', shape: pageShape(SessionReply) } },
    handle: listSessions,
  }),
  route({
    method: 'GET',
    path: '/v1/sessions/{id}',
    need: 'any',
    summary: 'One session, with the ones before and after it',
    replies: { 200: { what: 'The session', shape: SessionReply } },
    handle: getSession,
  }),
];
