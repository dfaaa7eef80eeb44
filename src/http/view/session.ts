import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import { readObject, type Json } from '../../kernel/json.ts';
import type { SessionReply } from '../../wire/maintenance.ts';
import { iso, isoOrNull } from '../call.ts';

/** A session with its place in the chain of handovers and what stands for its older part. */
export function viewSession(
  row: SessionRecord,
  { sessionId }: Pick<ConversationRecord, 'sessionId'>,
): SessionReply {
  const { id, conversationId, previousId, nextId, compactions, cutSeq } = row;
  const { summary, conditions } = readObject(row.seed);
  return {
    id,
    conversationId,
    startedAt: iso(row.startedAt),
    endedAt: isoOrNull(row.endedAt),
    previousId,
    nextId,
    compactions,
    cutSeq,
    summary: typeof summary === 'string' ? summary : null,
    conditions: Array.isArray(conditions) ? conditions.flatMap(viewCondition) : [],
    isCurrent: id === sessionId,
  };
}

function viewCondition(condition: Json): SessionReply['conditions'] {
  const { at, text } = readObject(JSON.stringify(condition));
  return typeof at === 'number' && typeof text === 'string' ? [{ at: iso(at), text }] : [];
}
