import type { OutboxRecord } from '../core/outbox/record.ts';
import type { ConversationId, OutboxId } from '../kernel/ids.ts';

export interface OutboxReads {
  'outbox.byId': {
    readonly args: { readonly id: OutboxId };
    readonly rows: OutboxRecord | undefined;
  };
  'outbox.byKey': {
    readonly args: { readonly key: string };
    readonly rows: OutboxRecord | undefined;
  };
  /** Newest first by id. Empty texts mean any. */
  'outbox.list': {
    readonly args: {
      readonly conversationId: string;
      readonly state: string;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly OutboxRecord[];
  };
  /** Entries of a conversation with seq above `after`, in order (O-2). */
  'outbox.after': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly after: number;
      readonly limit: number;
    };
    readonly rows: readonly OutboxRecord[];
  };
}

export type OutboxWrites = { readonly write: 'outbox.insert'; readonly row: OutboxRecord };
