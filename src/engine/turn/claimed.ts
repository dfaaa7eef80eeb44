import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationId, SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';

/**
 * Every input that turns of a session have claimed with `after` < place ≤ `upTo`, oldest first, however many a
 * turn has taken up at once. `page`: how many are read at once, at first. Rejects with a `StoreFault`.
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
  page: number = LIMITS.claimedPageMessages,
): Promise<readonly MessageRecord[]> {
  const all = new Map<string, MessageRecord>();
  let limit = page;
  for (let { after } = of; ;) {
    const rows = await readAgain(parts, 'message.ofSession', { ...of, after, limit });
    for (const message of rows) all.set(message.id, message);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit || placeOf(last) > upTo)
      return [...all.values()].filter((message) => placeOf(message) <= upTo);
    // Inputs of one turn share a place: the next page begins with it again, and has room for all of them.
    if (placeOf(last) - 1 > after) after = placeOf(last) - 1;
    else limit *= 2;
  }
}

function placeOf({ claimedSeq }: MessageRecord): number {
  return claimedSeq ?? 0;
}
