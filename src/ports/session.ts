import type { ConversationRecord, EventRecord, SessionRecord } from '../core/session/record.ts';
import type { ConversationId } from '../kernel/ids.ts';

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
  | { readonly write: 'session.insert'; readonly row: SessionRecord }
  | { readonly write: 'event.insert'; readonly row: EventRecord };
