import type { ConversationRecord, EventRecord, SessionRecord } from '../core/session/record.ts';
import type { ConversationId, SessionId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface SessionReads {
  /** Locks the conversation on a shared store: the first read of each unit that writes there. */
  'conversation.byId': {
    readonly args: { readonly id: ConversationId };
    readonly rows: ConversationRecord | undefined;
  };
  'conversation.byAddress': {
    readonly args: { readonly channel: string; readonly address: string };
    readonly rows: ConversationRecord | undefined;
  };
  /** The newest conversation that a person reads: of any channel but `api` (partial index). */
  'conversation.newestRead': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: ConversationRecord | undefined;
  };
  'session.byId': {
    readonly args: { readonly id: SessionId };
    readonly rows: SessionRecord | undefined;
  };
  /** Newest first by id; `before` is an id or a text above every id. */
  'conversation.list': {
    readonly args: { readonly before: string; readonly limit: number };
    readonly rows: readonly ConversationRecord[];
  };
  /** Events above `after`, in order. */
  'event.after': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly after: number;
      readonly limit: number;
    };
    readonly rows: readonly EventRecord[];
  };
  /** Events of one task, in order. */
  'event.ofTask': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly taskId: string;
      readonly limit: number;
    };
    readonly rows: readonly EventRecord[];
  };
  /** The sequence number that an `evt_` id of this conversation took, as an event or as a step's start or finish. */
  'event.seqOf': {
    readonly args: { readonly conversationId: ConversationId; readonly id: string };
    readonly rows: { readonly seq: number } | undefined;
  };
}

export type SessionWrites =
  | { readonly write: 'conversation.insert'; readonly row: ConversationRecord }
  /** Guard: `seq` is still `expectedSeq`. The lock of every unit in a conversation. */
  | {
      readonly write: 'conversation.advance';
      readonly id: ConversationId;
      readonly expectedSeq: number;
      readonly seq: number;
      readonly token: number;
      readonly turnId: string | null;
    }
  /** Which session new tasks of the conversation begin in, and the model that `/model` chose. */
  | {
      readonly write: 'conversation.session';
      readonly id: ConversationId;
      readonly sessionId: SessionId;
    }
  | {
      readonly write: 'conversation.model';
      readonly id: ConversationId;
      readonly model: string | null;
    }
  | { readonly write: 'session.insert'; readonly row: SessionRecord }
  /** Guard: the session has no end. */
  | { readonly write: 'session.end'; readonly id: SessionId; readonly endedAt: Instant }
  | { readonly write: 'event.insert'; readonly row: EventRecord };
