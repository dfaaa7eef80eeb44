import type { OperationRecord } from '../../core/maintenance/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import { principalName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
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
  const taken = await settle(parts, () => messageUnit(draft));
  return taken === 'behind' ? settle(parts, () => behindUnit(draft)) : taken;
}

async function channelOf(parts: EngineParts, id: ConversationId): Promise<string | undefined> {
  return (await parts.store.query('conversation.byId', { id }))?.channel;
}

/** `behind`: nothing is committed yet, for words behind a fence that only an admin opens are told of it (M-8). */
function messageUnit(draft: Draft): Unit<BaseReads, Accepted | Refusal | 'behind'> {
  return {
    name: 'inbox.accept',
    reads: baseReads(draft),
    decide: (rows, at) => {
      const isBehind = rows.conversation?.fence === 'blocked' && draft.kind === 'genuine';
      const repeat = repeatOf(draft, rows, at);
      if (isBehind && repeat === undefined) return { verdict: 'behind', writes: [] };
      return decide(draft, rows, { at, repeat });
    },
  };
}

type BehindReads = BaseReads & { readonly operation: Read<'operation.newestOf'> };

/** Whoever writes the first such words is told in the very commit that keeps them (I-2). */
function behindUnit(draft: Draft): Unit<BehindReads, Accepted | Refusal> {
  const { conversationId } = draft;
  return {
    name: 'inbox.accept',
    reads: {
      ...baseReads(draft),
      operation: { read: 'operation.newestOf', args: { conversationId } },
    },
    decide: (rows, at) => {
      const repeat = repeatOf(draft, rows, at);
      return decide(draft, rows, { at, repeat, operation: rows.operation });
    },
  };
}

function repeatOf(
  draft: Draft,
  { known, used }: Rows<BaseReads>,
  { now }: At,
): Accepted | Refusal | undefined {
  return judgeRepeat(draft, { known, used, now });
}

function decide(
  draft: Draft,
  { conversation, used }: Rows<BaseReads>,
  by: {
    readonly at: At;
    readonly repeat: Accepted | Refusal | undefined;
    readonly operation?: OperationRecord | undefined;
  },
): Decision<Accepted | Refusal> {
  if (by.repeat !== undefined) return { verdict: by.repeat, writes: [] };
  if (conversation === undefined)
    return { verdict: refuse('not_found', { id: draft.conversationId }), writes: [] };
  const ledger = new Ledger(conversation, by.at, principalName(draft.principal));
  addMessage(ledger, draft, null);
  addIdempotency(ledger, draft, { used, subjectId: draft.messageId });
  if (by.operation !== undefined) tellKept(ledger, by.operation);
  return { verdict: accepted(draft), writes: ledger.close() };
}
