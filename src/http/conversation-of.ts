import type { ConversationRecord } from '../core/session/record.ts';
import { isId } from '../kernel/ids.ts';
import { demandOwn, maySee } from './auth.ts';
import type { Call } from './call.ts';
import { problem } from './problems.ts';

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
