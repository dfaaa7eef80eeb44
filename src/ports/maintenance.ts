import type { OperationRecord } from '../core/maintenance/record.ts';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { RunRecord } from '../core/run/record.ts';
import type { ConversationRecord, FenceState, SessionRecord } from '../core/session/record.ts';
import type { StepRecord } from '../core/turn/record.ts';
import type { ConversationId, OperationId, OutboxId, SessionId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface MaintenanceReads {
  'operation.byId': {
    readonly args: { readonly id: OperationId };
    readonly rows: OperationRecord | undefined;
  };
  /** The operation that a conversation's fence speaks of; where it has none, the newest. */
  'operation.newestOf': {
    readonly args: { readonly conversationId: ConversationId };
    readonly rows: OperationRecord | undefined;
  };
  /**
   * Operations that run or wait without a try that is out, whose next try or whose notice is due at `now`;
   * the longest due first (partial index).
   */
  'operation.due': {
    readonly args: { readonly now: Instant; readonly limit: number };
    readonly rows: readonly OperationRecord[];
  };
  /** The earliest next try or notice of those that run or wait without a try that is out. */
  'operation.nextDue': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: { readonly at: Instant } | undefined;
  };
  /** Operations with a try that is out, on whichever host (partial index). */
  'operation.tried': {
    readonly args: { readonly limit: number };
    readonly rows: readonly OperationRecord[];
  };
  /** Newest first by id. Empty texts mean any; `open` means `running`, `waiting` or `blocked`. */
  'operation.list': {
    readonly args: {
      readonly state: string;
      readonly conversationId: string;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly OperationRecord[];
  };
  /** How many operations stand in each of these states. */
  'operation.standing': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows:
      | { readonly running: number; readonly waiting: number; readonly blocked: number }
      | undefined;
  };
  /** Conversations in which no turn begins (M-8), by id (partial index). */
  'conversation.fenced': {
    readonly args: { readonly limit: number };
    readonly rows: readonly ConversationRecord[];
  };
  /** Newest first by id. */
  'session.list': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly SessionRecord[];
  };
  /** Steps of one session with `after` < seq ≤ `upTo`, oldest first: what is summarised. */
  'step.ofSession': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly sessionId: SessionId;
      readonly after: number;
      readonly upTo: number;
      readonly limit: number;
    };
    readonly rows: readonly StepRecord[];
  };
  /** Genuine messages of a conversation that a turn has claimed, the newest first. */
  'message.newestSaid': {
    readonly args: { readonly conversationId: ConversationId; readonly limit: number };
    readonly rows: readonly MessageRecord[];
  };
  /** Open runs of a conversation, oldest first. */
  'run.openOf': {
    readonly args: { readonly conversationId: ConversationId; readonly limit: number };
    readonly rows: readonly RunRecord[];
  };
}

export type MaintenanceWrites =
  | { readonly write: 'operation.insert'; readonly row: OperationRecord }
  /** Guard: the version is still `row.version - 1`. */
  | { readonly write: 'operation.save'; readonly row: OperationRecord }
  /** Somebody was told that a message is kept. Guard: nobody was in this epoch. The version stays: what a notice named still admits. */
  | { readonly write: 'operation.keptTold'; readonly id: OperationId }
  | {
      readonly write: 'conversation.fence';
      readonly id: ConversationId;
      readonly fence: FenceState;
      readonly operationId: OperationId | null;
    }
  /** What stands for the older part of a session: its seed, its cut and how often it was compacted. */
  | {
      readonly write: 'session.seed';
      readonly id: SessionId;
      readonly seed: string;
      readonly cutSeq: number;
      readonly compactions: number;
    }
  /** The session that goes on from this one (M-16). */
  | { readonly write: 'session.link'; readonly id: SessionId; readonly nextId: SessionId }
  /** A prepared entry leaves, at its new place in the order. Guard: it is pending. */
  | {
      readonly write: 'outbox.release';
      readonly id: OutboxId;
      readonly seq: number;
      readonly at: Instant;
      /** JSON: what it says has become known better since. */
      readonly params: string;
    }
  /** A prepared entry is withdrawn: it is `stale` and never leaves. Guard: it is pending. */
  | { readonly write: 'outbox.withdraw'; readonly id: OutboxId };
