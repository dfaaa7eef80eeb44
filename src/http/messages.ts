import { isId } from '../kernel/ids.ts';
import { MessageReply } from '../wire/conversation.ts';
import { maySee } from './auth.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { problem } from './problems.ts';
import { viewMessage } from './view/conversation.ts';

async function getMessage({ door, identity, id }: Call): Promise<Response> {
  if (!isId('message', id)) throw problem('not_found');
  const message = await door.engine.store.query('message.byId', { id });
  if (message === undefined || !maySee(identity, message.principal)) throw problem('not_found');
  return reply(200, await viewMessage(door.engine, message));
}

export const MESSAGE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/messages/{id}',
    need: 'any',
    summary: 'One message and, once it is there, its answer',
    replies: { 200: { what: 'The message', shape: MessageReply } },
    handle: getMessage,
  }),
];
