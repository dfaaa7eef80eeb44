import type { IdempotencyRecord, MessageRecord, ReceiptRecord } from '../core/inbox/record.ts';
import type {
  ConversationId,
  MessageId,
  OutboxId,
  SessionId,
  TaskId,
  TurnId,
} from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface InboxReads {
  'message.byId': {
    readonly args: { readonly id: MessageId };
    readonly rows: MessageRecord | undefined;
  };
  'message.byExternalId': {
    readonly args: { readonly channel: string; readonly externalId: string };
    readonly rows: MessageRecord | undefined;
  };
  /**
   * Unclaimed inputs (genuine, generated) that a turn may take, in inbox order: those of no task yet or of an
   * `active` one. What belongs to a waiting, paused or blocked task holds nothing back (T-10).
   * Generated ones that were made before `generatedSince` stay where they are; 0 takes all.
   */
  'message.claimable': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly generatedSince: Instant;
      readonly limit: number;
    };
    readonly rows: readonly MessageRecord[];
  };
  /** Unclaimed genuine inputs of no task yet, in inbox order: what may steer, be collected or be set aside. */
  'message.unbound': {
    readonly args: { readonly conversationId: ConversationId; readonly limit: number };
    readonly rows: readonly MessageRecord[];
  };
  /** Commands that no answer closed yet (a crash between acceptance and answer), oldest first, all conversations. */
  'message.openCommands': {
    readonly args: { readonly limit: number };
    readonly rows: readonly MessageRecord[];
  };
  'message.ofTurn': {
    readonly args: { readonly conversationId: ConversationId; readonly turnId: TurnId };
    readonly rows: readonly MessageRecord[];
  };
  /** Messages of a task that are neither done nor held, inbox order. */
  'message.openOfTask': {
    readonly args: { readonly conversationId: ConversationId; readonly taskId: TaskId };
    readonly rows: readonly MessageRecord[];
  };
  /** Claimed inputs with `claimedSeq` above `after`, in that order; for transcripts and requests. */
  'message.claimedAfter': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly after: number;
      readonly limit: number;
    };
    readonly rows: readonly MessageRecord[];
  };
  /** Claimed inputs of one session's turns with `claimedSeq` above `after`, in that order. */
  'message.ofSession': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly sessionId: SessionId;
      readonly after: number;
      readonly limit: number;
    };
    readonly rows: readonly MessageRecord[];
  };
  'receipt.byScope': {
    readonly args: { readonly scope: string };
    readonly rows: ReceiptRecord | undefined;
  };
  /** Conversations that have a claimable input (as above) and no turn, the longest waiting first: the due index. */
  'inbox.due': {
    readonly args: { readonly generatedSince: Instant; readonly limit: number };
    readonly rows: readonly { readonly conversationId: ConversationId }[];
  };
  'idempotency.byScope': {
    readonly args: { readonly scope: string };
    readonly rows: IdempotencyRecord | undefined;
  };
}

export type InboxWrites =
  | { readonly write: 'message.insert'; readonly row: MessageRecord }
  /** Guard: the message is unclaimed. */
  | {
      readonly write: 'message.claim';
      readonly id: MessageId;
      readonly taskId: TaskId;
      readonly turnId: TurnId;
      readonly claimedSeq: number;
    }
  /** Sets a generated input of a held task aside for good (B-4). Guard: the message is unclaimed. */
  | { readonly write: 'message.hold'; readonly id: MessageId }
  /** Guard: the message is unclaimed and of no task yet. */
  | { readonly write: 'message.bind'; readonly id: MessageId; readonly taskId: TaskId }
  | { readonly write: 'receipt.insert'; readonly row: ReceiptRecord }
  /** Guard: the message is neither done nor held. */
  | { readonly write: 'message.done'; readonly id: MessageId; readonly answerId: OutboxId | null }
  | { readonly write: 'idempotency.insert'; readonly row: IdempotencyRecord }
  /** Guard: it is older than `before`. */
  | {
      readonly write: 'idempotency.replace';
      readonly row: IdempotencyRecord;
      readonly before: Instant;
    };
