import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import { principalName } from '../../kernel/principal.ts';
import type { ConversationId, SessionId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { At, Unit, Write } from '../../ports/store.ts';
import type { ConversationOpening, EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';

export interface NewConversation {
  readonly id: ConversationId;
  readonly sessionId: SessionId;
  readonly agent: string;
  readonly channel: string;
  readonly address: string;
  readonly by: string;
}

/** A conversation as it begins, and its rows: itself, its first session and the event that made it (seq 1). */
export function newConversation(
  fresh: NewConversation,
  at: At,
): { readonly conversation: ConversationRecord; readonly writes: readonly Write[] } {
  const { by, ...place } = fresh;
  const conversation: ConversationRecord = {
    ...place,
    model: null,
    seq: 1,
    token: 0,
    turnId: null,
    createdAt: at.now,
    fence: 'none',
    operationId: null,
  };
  return { conversation, writes: writesOf(conversation, by, at) };
}

function writesOf(conversation: ConversationRecord, by: string, at: At): readonly Write[] {
  const { id, sessionId } = conversation;
  return [
    { write: 'conversation.insert', row: conversation },
    {
      write: 'session.insert',
      row: newSession({ id: sessionId, conversationId: id, firstSeq: 1 }, at.now),
    },
    {
      write: 'event.insert',
      row: {
        conversationId: id,
        seq: 1,
        id: at.ids.next('event'),
        type: 'conversation.created',
        at: at.now,
        by,
        taskId: null,
        turnId: null,
        runId: null,
        fromState: null,
        toState: null,
        reason: null,
        data: null,
      },
    },
  ];
}

/** A session without anything in it; of a handover it goes on from `previousId` (M-16). */
export function newSession(
  of: Pick<SessionRecord, 'id' | 'conversationId' | 'firstSeq'>,
  now: Instant,
  previousId: SessionId | null = null,
): SessionRecord {
  const blank = { endedAt: null, nextId: null, cutSeq: 0, compactions: 0, seed: null };
  return { ...of, startedAt: now, previousId, ...blank };
}

/** Opens the conversation of one address on one channel, or answers the one that is there. */
export async function openConversation(
  parts: EngineParts,
  opening: ConversationOpening,
): Promise<ConversationId> {
  const id = parts.ids.next('conversation');
  const address = opening.address ?? id;
  const fresh: NewConversation = {
    id,
    sessionId: parts.ids.next('session'),
    agent: opening.agent ?? parts.agents[0].name,
    channel: opening.channel,
    address,
    by: principalName(opening.principal),
  };
  return settle(parts, () => openUnit(fresh));
}

function openUnit(fresh: NewConversation): Unit<ReturnType<typeof openReads>, ConversationId> {
  return {
    name: 'session.open',
    reads: openReads(fresh),
    decide: ({ known }, at) =>
      known === undefined
        ? { verdict: fresh.id, writes: newConversation(fresh, at).writes }
        : { verdict: known.id, writes: [] },
  };
}

function openReads(fresh: NewConversation) {
  const { channel, address } = fresh;
  return { known: { read: 'conversation.byAddress', args: { channel, address } } } as const;
}
