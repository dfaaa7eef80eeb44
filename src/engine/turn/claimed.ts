import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationId, SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';

/**
 * Every input that turns of a session have claimed with `after` < place ≤ `upTo`, oldest first, however many a
 * turn has taken up at once. Rejects with a `StoreFault`.
 */
export async function readClaimed(
  parts: Pick<EngineParts, 'store' | 'clock' | 'log'>,
  {
    upTo,
    ...of
  }: {
    readonly conversationId: ConversationId;
    readonly sessionId: SessionId;
    readonly after: number;
    readonly upTo: number;
  },
): Promise<readonly MessageRecord[]> {
  const limit = LIMITS.claimedPageMessages;
  const all = new Map<string, MessageRecord>();
  for (let { after } = of; ;) {
    const page = await readAgain(parts, 'message.ofSession', { ...of, after, limit });
    for (const message of page) if ((message.claimedSeq ?? 0) <= upTo) all.set(message.id, message);
    const last = page.at(-1)?.claimedSeq ?? upTo;
    if (page.length < limit || last >= upTo) return [...all.values()];
    // Inputs of one turn share a place: the next page begins with it again.
    after = last - 1 > after ? last - 1 : last;
  }
}
