import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import {
  ConversationCreateBody,
  ConversationReply,
  MessageCreateBody,
  MessageCreatedReply,
  TranscriptItem,
} from '../wire/conversation.ts';
import { PAGE_QUERY, pageShape } from '../wire/shape.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { demandConversation } from './conversation-of.ts';
import { askPage, cutPage, mapPage, type PageQuery } from './page.ts';
import { problem, refusalProblem } from './problems.ts';
import { streamOf } from './stream.ts';
import { readMoments } from './stream/kept.ts';
import { idOf } from './stream/timeline.ts';
import { getTranscript, TranscriptQuery } from './transcript.ts';
import { viewConversation } from './view/conversation.ts';

async function listConversations({ door, query }: Call<PageQuery>): Promise<Response> {
  const ask = askPage(query, 'conversation');
  const rows = await door.engine.store.query('conversation.list', {
    ...ask,
    limit: ask.limit + 1,
  });
  const page = cutPage(rows, ask.limit);
  return reply(200, await mapPage(page, (row) => viewConversation(door.engine, row)));
}

async function openConversation(call: Call<unknown, ConversationCreateBody>): Promise<Response> {
  const { door, identity, body } = call;
  const { channel = 'api', address, agent } = body;
  const { principal } = identity;
  // The terminal is the operator's own door: whoever speaks through it speaks as an admin.
  if (channel === 'terminal' && !identity.scopes.has('admin')) {
    throw problem('forbidden', { detail: 'The terminal needs a key with the scope admin.' });
  }
  if (agent !== undefined) demandAgent(door.engine, agent);
  const id = await door.engine.openConversation({
    channel,
    principal,
    ...(address === undefined ? {} : { address }),
    ...(agent === undefined ? {} : { agent }),
  });
  const row = await demandConversation(call, id, 'write');
  if (agent !== undefined && row.agent !== agent) {
    throw badAgent(`this conversation is one of the agent ${row.agent}`);
  }
  return reply(201, (await viewConversation(door.engine, row)) satisfies ConversationReply);
}

function demandAgent({ parts }: Engine, name: string): void {
  if (!parts.agents.some((agent) => agent.name === name)) throw badAgent('no such agent');
}

function badAgent(message: string): Error {
  return problem('invalid', { errors: [{ path: 'agent', message }] });
}

async function getConversation(call: Call): Promise<Response> {
  const row = await demandConversation(call, call.id, 'read');
  const { moments } = await readMoments(call.door.engine, row.id, row.seq - 1);
  const last = moments.at(-1);
  const lastEventId = last === undefined ? null : idOf(last);
  const view = await viewConversation(call.door.engine, row);
  return reply(200, { ...view, lastEventId } satisfies ConversationReply);
}

async function postMessage(call: Call<unknown, MessageCreateBody>): Promise<Response> {
  const { door, identity, body, idempotency } = call;
  const { id: conversationId, channel } = await demandConversation(call, call.id, 'write');
  const { text, replyTo } = body;
  const accepted = await door.engine.acceptMessage({
    conversationId,
    channel,
    text,
    ...(replyTo === undefined ? {} : { replyTo }),
    principal: identity.principal,
    ...(idempotency === undefined ? {} : { idempotency }),
  });
  if (accepted.kind === 'refused') throw refusalProblem(door.engine, accepted);
  const { messageId } = accepted;
  return reply(202, { messageId, conversationId } satisfies MessageCreatedReply);
}

const ListQuery = z.strictObject(PAGE_QUERY);

export const CONVERSATION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/conversations',
    need: 'read',
    summary: 'Conversations, newest first',
    query: ListQuery,
    replies: { 200: { what: 'A page', shape: pageShape(ConversationReply) } },
    handle: listConversations,
  }),
  route({
    method: 'POST',
    path: '/v1/conversations',
    need: 'run',
    summary: 'Open a conversation, or find the one of an address',
    body: ConversationCreateBody,
    isBodyOptional: true,
    replies: { 201: { what: 'The conversation', shape: ConversationReply } },
    handle: openConversation,
  }),
  route({
    method: 'GET',
    path: '/v1/conversations/{id}',
    need: 'any',
    summary: 'One conversation',
    replies: { 200: { what: 'The conversation', shape: ConversationReply } },
    handle: getConversation,
  }),
  route({
    method: 'GET',
    path: '/v1/conversations/{id}/transcript',
    need: 'any',
    summary: 'What was said and done, newest first; of one session, where it is named',
    query: TranscriptQuery,
    replies: { 200: { what: 'A page', shape: pageShape(TranscriptItem) } },
    handle: getTranscript,
  }),
  route({
    method: 'GET',
    path: '/v1/conversations/{id}/events',
    need: 'any',
    summary: 'What happens in a conversation, as server-sent events',
    replies: { 200: { what: 'Events without an end', type: 'text/event-stream' } },
    handle: async (call) => {
      const { id: conversationId } = await demandConversation(call, call.id, 'read');
      return streamOf(call, { conversationId });
    },
  }),
  route({
    method: 'POST',
    path: '/v1/conversations/{id}/messages',
    need: 'run',
    summary: 'A message, as through a channel; one that begins with `/` is a command',
    body: MessageCreateBody,
    isIdempotent: true,
    replies: { 202: { what: 'It is accepted', shape: MessageCreatedReply } },
    handle: postMessage,
  }),
];
