import type { ConversationId, OutboxId, RunId, TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

export const RUN_MOVES = {
  open: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;
export type RunState = keyof typeof RUN_MOVES;

/** An API caller's order. While it is open its status is read off its task. */
export interface RunRecord {
  readonly id: RunId;
  readonly conversationId: ConversationId;
  readonly taskId: TaskId;
  /** `principalName` of the key that made it. */
  readonly principal: string;
  readonly state: RunState;
  readonly outcomeCode: string | null;
  /** The outbox entry that is its last word: the answer, or the notice that ended it. */
  readonly outcomeId: OutboxId | null;
  readonly metadata: string | null;
  readonly callbackUrl: string | null;
  readonly createdAt: Instant;
  readonly endedAt: Instant | null;
}
