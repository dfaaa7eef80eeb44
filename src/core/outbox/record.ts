import type { ConversationId, OutboxId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

export const OUTBOX_MOVES = {
  pending: ['delivered', 'uncertain', 'undeliverable', 'stale'],
  uncertain: ['delivered', 'pending', 'undeliverable', 'stale'],
  delivered: [],
  undeliverable: [],
  stale: [],
} as const satisfies Record<string, readonly string[]>;
export type OutboxState = keyof typeof OUTBOX_MOVES;

export type NoticeLevel = 'info' | 'waiting' | 'blocked' | 'escalation';

/**
 * Something that leaves (O-1). Host speech keeps its code and parameters and is rendered when it is
 * read; only a model's answer is stored as text. The destination is that of the conversation (O-9).
 */
export interface OutboxRecord {
  readonly id: OutboxId;
  readonly conversationId: ConversationId;
  /** Its order in the conversation (O-2): the sequence number of the event that queued it. */
  readonly seq: number;
  /** The stable delivery id, derived from the cause; unique (O-1, O-6). */
  readonly key: string;
  /** `reply`: a model's answer. `notice`: structured host speech. `answer`: the host's answer to a command. */
  readonly kind: 'reply' | 'notice' | 'answer';
  readonly level: NoticeLevel | null;
  readonly code: string | null;
  /** JSON object of the code's parameters. */
  readonly params: string | null;
  readonly text: string | null;
  readonly subjectId: string | null;
  readonly taskId: string | null;
  readonly runId: string | null;
  readonly state: OutboxState;
  readonly at: Instant;
  readonly deliveredAt: Instant | null;
}
