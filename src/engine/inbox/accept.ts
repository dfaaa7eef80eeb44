import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import { principalName } from '../../kernel/principal.ts';
import type { Unit } from '../../ports/store.ts';
import type { Accepted, EngineParts, MessageIntake } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { tellKept } from '../maintenance/kept.ts';
import { settle } from '../settle.ts';
import {
  accepted,
  addIdempotency,
  addMessage,
  baseReads,
  judgeRepeat,
  scopeOf,
  type BaseReads,
  type Draft,
} from './draft.ts';

/** Commits a message of a conversation; nothing is asked of a model before (T-1, I-1). */
export async function acceptMessage(
  parts: EngineParts,
  intake: MessageIntake,
  kind: 'genuine' | 'command',
): Promise<Accepted | Refusal> {
  const { conversationId, principal, text } = intake;
  const channel = intake.channel ?? (await channelOf(parts, conversationId));
  if (channel === undefined) return refuse('not_found', { id: conversationId });
  const messageId = parts.ids.next('message');
  const draft: Draft = {
    messageId,
    conversationId,
    kind,
    channel,
    externalId: intake.externalId ?? messageId,
    principal,
    text,
    bodyHash: parts.digest(text),
    replyTo: intake.replyTo ?? null,
    idempotency: scopeOf(principal, intake.idempotency),
  };
  const { verdict, isBehind } = await settle(parts, () => messageUnit(draft));
  if (isBehind && kind === 'genuine') await tellKept(parts, conversationId);
  return verdict;
}

async function channelOf(parts: EngineParts, id: ConversationId): Promise<string | undefined> {
  return (await parts.store.query('conversation.byId', { id }))?.channel;
}

interface Intake {
  readonly verdict: Accepted | Refusal;
  /** Whether it is kept behind a fence that only an admin opens (M-8). */
  readonly isBehind: boolean;
}

function messageUnit(draft: Draft): Unit<BaseReads, Intake> {
  return {
    name: 'inbox.accept',
    reads: baseReads(draft),
    decide: ({ conversation, known, used }, at) => {
      const isBehind = conversation?.fence === 'blocked';
      const repeat = judgeRepeat(draft, { known, used, now: at.now });
      if (repeat !== undefined) return { verdict: { verdict: repeat, isBehind }, writes: [] };
      if (conversation === undefined) {
        const verdict = refuse('not_found', { id: draft.conversationId });
        return { verdict: { verdict, isBehind }, writes: [] };
      }
      const ledger = new Ledger(conversation, at, principalName(draft.principal));
      addMessage(ledger, draft, null);
      addIdempotency(ledger, draft, { used, subjectId: draft.messageId });
      return { verdict: { verdict: accepted(draft), isBehind }, writes: ledger.close() };
    },
  };
}
