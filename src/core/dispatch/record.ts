import type { ConversationId, ExecutionId, HostId, TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Enrollment } from '../boundary/record.ts';

/** The states of a worker (D-2). `ready`: accepted, not begun. */
export const EXECUTION_MOVES = {
  ready: ['running', 'retrying', 'paused', 'blocked', 'cancelled', 'failed'],
  running: ['retrying', 'paused', 'blocked', 'completed', 'failed', 'cancelled'],
  retrying: ['running', 'paused', 'blocked', 'failed', 'cancelled'],
  paused: ['ready', 'cancelled', 'failed'],
  blocked: ['ready', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;
export type ExecutionState = keyof typeof EXECUTION_MOVES;

/** A worker's run (D-1), as far as the boundary needs it. */
export interface ExecutionRecord {
  readonly id: ExecutionId;
  /** The task and the mandate that the host bound it to; null for one of unknown ownership (B-6). */
  readonly taskId: TaskId | null;
  readonly mandateHash: string | null;
  /** Of its task; null for one of unknown ownership. */
  readonly conversationId: ConversationId | null;
  readonly enrollment: Enrollment;
  readonly state: ExecutionState;
  readonly version: number;
  /** Whose lease it runs under; null while nobody runs it. */
  readonly hostId: HostId | null;
  readonly job: string;
  /** Its final reply or the text of its failure; null while it has none. */
  readonly outcome: string | null;
  readonly deadline: Instant | null;
  readonly createdAt: Instant;
  readonly changedAt: Instant;
  readonly endedAt: Instant | null;
}
