import type { ConversationRecord } from '../../core/session/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { At, Read, Write } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';

/** Read first by a unit that may tell something; absent where nobody can be told. */
export type TellReads = { readonly conversation?: Read<'conversation.byId'> };

/**
 * Where the host says what belongs to no conversation: the newest one that a person reads. Undefined where
 * nobody has ever spoken but through the API: then `/attention`, `status` and the log show it.
 */
export async function findReader({
  store,
}: Pick<EngineParts, 'store'>): Promise<ConversationId | undefined> {
  return (await store.query('conversation.newestRead', {}))?.id;
}

export function tellReads(id: ConversationId | undefined): TellReads {
  return id === undefined ? {} : { conversation: { read: 'conversation.byId', args: { id } } };
}

/** The writes of what `queue` says in this conversation; none where there is none. */
export function tellIn(
  conversation: ConversationRecord | undefined,
  { at, by }: { readonly at: At; readonly by: string },
  queue: (ledger: Ledger, id: ConversationId) => void,
): readonly Write[] {
  if (conversation === undefined) return [];
  const ledger = new Ledger(conversation, at, by);
  queue(ledger, conversation.id);
  return ledger.close();
}
