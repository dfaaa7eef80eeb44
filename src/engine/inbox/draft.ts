import type { IdempotencyRecord, MessageRecord } from '../../core/inbox/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId, MessageId, RunId, TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Decision, Read } from '../../ports/store.ts';
import type { Accepted, Idempotency } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { insertMessage } from './insert.ts';

/** What is known of a message before its unit: ids are made once, so that a repeated commit is recognised. */
export interface Draft {
  readonly messageId: MessageId;
  readonly conversationId: ConversationId;
  readonly kind: 'genuine' | 'command';
  readonly channel: string;
  readonly externalId: string;
  readonly principal: Principal;
  readonly text: string;
  readonly bodyHash: string;
  readonly replyTo: string | null;
  readonly idempotency: { readonly scope: string; readonly fingerprint: string } | null;
}

/** Scope of an idempotency key: one principal's (surface: HTTP). */
export function scopeOf(
  principal: Principal,
  idempotency: Idempotency | undefined,
): Draft['idempotency'] {
  if (idempotency === undefined) return null;
  return {
    scope: `${principalName(principal)} ${idempotency.key}`,
    fingerprint: idempotency.fingerprint,
  };
}

/** What every acceptance reads. */
export type BaseReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly known: Read<'message.byExternalId'>;
  /** Only of a request with a key. */
  readonly used?: Read<'idempotency.byScope'>;
};

export function baseReads(draft: Draft): BaseReads {
  const { channel, externalId, conversationId, idempotency } = draft;
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    known: { read: 'message.byExternalId', args: { channel, externalId } },
    ...(idempotency === null
      ? {}
      : { used: { read: 'idempotency.byScope', args: { scope: idempotency.scope } } }),
  };
}

/** Whether a key is free, used for the same request, or for another (surface: HTTP). */
export function judgeKey(
  draft: Draft,
  used: IdempotencyRecord | undefined,
  now: number,
): 'free' | 'same' | 'conflict' {
  if (draft.idempotency === null || used === undefined) return 'free';
  if (now - used.at >= LIMITS.idempotencyKeptMs) return 'free';
  return used.fingerprint === draft.idempotency.fingerprint ? 'same' : 'conflict';
}

/** The answer to a redelivery or to a repeated request; undefined when this one is new (I-1). */
export function judgeRepeat(
  draft: Draft,
  rows: {
    readonly known: MessageRecord | undefined;
    readonly used: IdempotencyRecord | undefined;
    readonly now: number;
  },
): Accepted | Refusal | undefined {
  const { known, used, now } = rows;
  if (known !== undefined) {
    const { id: messageId, conversationId } = known;
    return { kind: 'accepted', conversationId, messageId, repeated: messageId !== draft.messageId };
  }
  const key = judgeKey(draft, used, now);
  if (key === 'conflict') return refuse('idempotency_conflict');
  if (key === 'free' || used === undefined) return undefined;
  const messageId = used.subjectId as MessageId;
  return { kind: 'accepted', conversationId: draft.conversationId, messageId, repeated: true };
}

/** The inbox entry of what a person or an API caller sent. */
export function addMessage(
  ledger: Ledger,
  draft: Draft,
  bound: { readonly runId: RunId; readonly taskId: TaskId } | null,
): void {
  const { messageId: id, principal, idempotency: _idempotency, ...sent } = draft;
  insertMessage(ledger, {
    ...sent,
    id,
    principal: principalName(principal),
    authority: principal.isAdmin ? 'admin' : 'own',
    taskId: bound?.taskId ?? null,
    runId: bound?.runId ?? null,
  });
}

export function addIdempotency(
  ledger: Ledger,
  draft: Draft,
  key: { readonly used: IdempotencyRecord | undefined; readonly subjectId: string },
): void {
  if (draft.idempotency === null) return;
  const now = ledger.at.now;
  const row: IdempotencyRecord = { ...draft.idempotency, subjectId: key.subjectId, at: now };
  ledger.add(
    key.used === undefined
      ? { write: 'idempotency.insert', row }
      : { write: 'idempotency.replace', row, before: now - LIMITS.idempotencyKeptMs + 1 },
  );
}

export function accepted({ conversationId, messageId }: Draft): Accepted {
  return { kind: 'accepted', conversationId, messageId, repeated: false };
}

export function refusal(
  code: Refusal['code'],
  detail: Readonly<Record<string, string>> = {},
): Decision<Refusal> {
  return { verdict: refuse(code, detail), writes: [] };
}
