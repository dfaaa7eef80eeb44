import type { ApprovalRecord } from '../core/approval/record.ts';
import type { ApprovalId, ConversationId, TaskId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface ApprovalReads {
  'approval.byId': {
    readonly args: { readonly id: ApprovalId };
    readonly rows: ApprovalRecord | undefined;
  };
  /** Open ones of a task, oldest first (partial index on open approvals). */
  'approval.openOfTask': {
    readonly args: { readonly taskId: TaskId };
    readonly rows: readonly ApprovalRecord[];
  };
  'approval.openOf': {
    readonly args: { readonly conversationId: ConversationId; readonly limit: number };
    readonly rows: readonly ApprovalRecord[];
  };
  /** Newest first by id. Empty texts mean any. */
  'approval.list': {
    readonly args: {
      readonly state: string;
      readonly conversationId: string;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly ApprovalRecord[];
  };
  /** Open ones, but of history, whose `expiresAt` is not after `now`, the longest due first: the due index. */
  'approval.due': {
    readonly args: { readonly now: Instant; readonly limit: number };
    readonly rows: readonly ApprovalRecord[];
  };
  /** The earliest `expiresAt` of an open one. */
  'approval.nextDue': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: { readonly at: Instant } | undefined;
  };
}

export type ApprovalWrites =
  | { readonly write: 'approval.insert'; readonly row: ApprovalRecord }
  /** Writes state, decidedBy and decidedAt of `row`. Guard: the approval is open. */
  | { readonly write: 'approval.decide'; readonly row: ApprovalRecord };
