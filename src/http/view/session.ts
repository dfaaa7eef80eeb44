import { readSeed } from '../../core/maintenance/summary.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { SessionReply } from '../../wire/maintenance.ts';
import { iso, isoOrNull } from '../call.ts';

/** A session with its place in the chain of handovers and what stands for its older part. */
export function viewSession(
  row: SessionRecord,
  { sessionId }: Pick<ConversationRecord, 'sessionId'>,
): SessionReply {
  const { id, conversationId, previousId, nextId, compactions, cutSeq } = row;
  const { summary = null, conditions = [] } = readSeed(row.seed) ?? {};
  return {
    id,
    conversationId,
    startedAt: iso(row.startedAt),
    endedAt: isoOrNull(row.endedAt),
    previousId,
    nextId,
    compactions,
    cutSeq,
    summary,
    conditions: conditions.map(({ at, text }) => ({ at: iso(at), text })),
    isCurrent: id === sessionId,
  };
}
