import { z } from 'zod';
import { PAGE_QUERY, pageShape } from '../wire/shape.ts';
import { OutboxReply } from '../wire/status.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { askPage, cutPage, mapPage } from './page.ts';
import { viewOutbox } from './view/speech.ts';

const OutboxQuery = z.strictObject({
  state: OutboxReply.shape.state.optional(),
  conversation: z.string().optional(),
  ...PAGE_QUERY,
});

async function listOutbox(call: Call<z.infer<typeof OutboxQuery>>): Promise<Response> {
  const { query, door } = call;
  const { state = '', conversation: conversationId = '' } = query;
  const ask = askPage(query, 'outbox');
  const rows = await door.engine.store.query('outbox.list', {
    conversationId,
    state,
    before: ask.before,
    limit: ask.limit + 1,
  });
  const page = cutPage(rows, ask.limit);
  return reply(200, await mapPage(page, (row) => viewOutbox(door.engine, row)));
}

export const OUTBOX_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/outbox',
    need: 'read',
    summary: 'What leaves: replies, notices and answers to commands, newest first',
    query: OutboxQuery,
    replies: { 200: { what: 'A page', shape: pageShape(OutboxReply) } },
    handle: listOutbox,
  }),
];
