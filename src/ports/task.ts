import type { TaskRecord } from '../core/task/record.ts';
import type { WaitKind } from '../core/task/moves.ts';
import type { ConversationId, TaskId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface TaskReads {
  'task.byId': { readonly args: { readonly id: TaskId }; readonly rows: TaskRecord | undefined };
  /** Newest first by id. An empty text in `state`, `enrollment` or `conversationId` means any. */
  'task.list': {
    readonly args: {
      readonly state: string;
      readonly enrollment: string;
      readonly conversationId: string;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly TaskRecord[];
  };
  /** Not ended tasks of a conversation, newest first, held ones behind all others (partial index on open tasks). */
  'task.openOf': {
    readonly args: { readonly conversationId: ConversationId; readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** Not ended tasks of all conversations by state, for status and attention; newest first. */
  'task.open': { readonly args: { readonly limit: number }; readonly rows: readonly TaskRecord[] };
  /** Tasks whose `dueAt` is not after `now`, the longest due first (partial index): the due index. */
  'task.due': {
    readonly args: { readonly now: Instant; readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** The earliest `dueAt`. */
  'task.nextDue': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: { readonly at: Instant } | undefined;
  };
  /** Waiting tasks by what they wait for, the longest waiting first. */
  'task.waitingFor': {
    readonly args: { readonly kind: WaitKind; readonly id: string; readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** Ids near a mistyped one (same last characters or same prefix), for W-5. */
  'task.nearest': {
    readonly args: { readonly from: string; readonly limit: number };
    readonly rows: readonly { readonly id: TaskId }[];
  };
}

export type TaskWrites =
  | { readonly write: 'task.insert'; readonly row: TaskRecord }
  /** Writes everything but the mandate (T-5). Guard: `version` is `row.version - 1` (T-4). */
  | { readonly write: 'task.save'; readonly row: TaskRecord };
