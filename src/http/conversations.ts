import { z } from 'zod';
import { buildTranscript, type TranscriptItem as Item } from '../core/turn/transcript.ts';
import type { ConversationRecord } from '../core/session/record.ts';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { StepRecord } from '../core/turn/record.ts';
import type { Engine } from '../engine/engine.ts';
import { isId, type ConversationId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import {
  ConversationCreateBody,
  ConversationReply,
  MessageCreateBody,
  MessageCreatedReply,
  TranscriptItem,
} from '../wire/conversation.ts';
import { PAGE_QUERY, pageShape, type Page } from '../wire/shape.ts';
import { demandOwn, maySee } from './auth.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { askLimit, askPage, badCursor, cutPage, mapPage, type PageQuery } from './page.ts';
import { problem, refusalProblem } from './problems.ts';
import { streamOf } from './stream.ts';
import { readMoments } from './stream/kept.ts';
import { idOf } from './stream/timeline.ts';
import { viewConversation, viewItem } from './view/conversation.ts';

/**
 * The conversation of this id, when the key may read or write there: its own, any to read with
 * `read`, any to write with `admin`. Throws `not_found`, or `forbidden` where it may only read.
 */
export async function demandConversation(
  { door, identity }: Call,
  id: string,
  purpose: 'read' | 'write',
): Promise<ConversationRecord> {
  if (!isId('conversation', id)) throw problem('not_found');
  const { store } = door.engine;
  const found = await store.query('conversation.byId', { id });
  if (found === undefined) throw problem('not_found');
  if (identity.scopes.has(purpose === 'read' ? 'read' : 'admin')) return found;
  const [first] = await store.query('event.after', { conversationId: id, after: 0, limit: 1 });
  const owner = first?.by ?? '';
  if (purpose === 'write') demandOwn(identity, owner);
  else if (!maySee(identity, owner)) throw problem('not_found');
  return found;
}

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

async function getTranscript(call: Call<PageQuery>): Promise<Response> {
  const { door, query } = call;
  const { id, seq } = await demandConversation(call, call.id, 'read');
  // Counted from where it stands now: what comes while pages are turned moves none of them.
  const place = query.cursor === undefined ? { before: seq + 1, skip: 0 } : askPlace(query.cursor);
  const page = await readTranscript(door.engine, id, { ...place, limit: askLimit(query) });
  return reply(200, await mapPage(page, viewItem));
}

interface TranscriptAsk {
  /** Items of steps and messages below this seq … */
  readonly before: number;
  /** … without the newest so many, which an earlier page had. */
  readonly skip: number;
  readonly limit: number;
}

function askPlace(cursor: string): Omit<TranscriptAsk, 'limit'> {
  const [, before, skip] = /^(\d{1,15})\.(\d{1,5})$/.exec(cursor) ?? [];
  if (before === undefined || skip === undefined) throw badCursor();
  return { before: Number(before), skip: Number(skip) };
}

/** Places of the order that one read looks through: more than a page, so that few pages read twice. */
const PLACES_READ = 800;

/** A page of the transcript, newest first; a call and its result are joined whatever lies between. */
async function readTranscript(
  engine: Engine,
  conversationId: ConversationId,
  { before, skip, limit }: TranscriptAsk,
): Promise<Page<Item>> {
  const { steps, oldest } = await readSteps(engine, conversationId, before);
  const messages = await readClaimed(engine, conversationId, { from: oldest, before });
  const items = buildTranscript(messages, steps).toReversed().slice(skip);
  const taken = items.slice(0, limit);
  if (items.length > limit) return { items: taken, nextCursor: `${before}.${skip + limit}` };
  return { items: taken, nextCursor: oldest > 0 ? `${oldest}.0` : null };
}

/**
 * The steps of the places below `before`, of all sessions. A reply and its calls stay together, so it
 * reads farther back until it begins with a reply, or with the conversation itself.
 */
async function readSteps(
  engine: Engine,
  conversationId: ConversationId,
  before: number,
): Promise<{ readonly steps: readonly StepRecord[]; readonly oldest: number }> {
  for (let places = PLACES_READ; ; places *= 2) {
    const after = Math.max(0, before - 1 - places);
    // Those that began earlier and ended in here come first: a turn's calls, at most.
    const limit = places + LIMITS.stepsPerTurnMax;
    const read = await engine.store.query('step.after', { conversationId, after, limit });
    const found = read.filter(({ seq }) => seq > after && seq < before);
    const oldest = after === 0 ? 0 : found.find(({ kind }) => kind === 'model')?.seq;
    if (oldest !== undefined) return { steps: found.filter(({ seq }) => seq >= oldest), oldest };
  }
}

async function readClaimed(
  engine: Engine,
  conversationId: ConversationId,
  { from, before }: { readonly from: number; readonly before: number },
): Promise<readonly MessageRecord[]> {
  const messages: MessageRecord[] = [];
  let after = from - 1;
  for (;;) {
    const limit = LIMITS.listLimitMax;
    const rows = await engine.store.query('message.claimedAfter', { conversationId, after, limit });
    messages.push(...rows.filter(({ claimedSeq }) => claimedSeq !== null && claimedSeq < before));
    const last = rows.at(-1)?.claimedSeq ?? before;
    // Several messages can share the place of one claim, so the next read starts at it again.
    if (rows.length < limit || last >= before || last - 1 === after) return unique(messages);
    after = last - 1;
  }
}

function unique(messages: readonly MessageRecord[]): readonly MessageRecord[] {
  return [...new Map(messages.map((message) => [message.id, message])).values()];
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
    summary: 'What the model has seen and said, newest first',
    query: ListQuery,
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
