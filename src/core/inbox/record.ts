import type {
  ConversationId,
  MessageId,
  OutboxId,
  RunId,
  TaskId,
  TurnId,
} from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/** `held`: a generated input that the boundary has set aside; nothing ever claims it (B-4). */
export type MessageState = 'unclaimed' | 'claimed' | 'done' | 'held';

/** An inbox entry: what a turn consumes, or a person's command. */
export interface MessageRecord {
  readonly id: MessageId;
  readonly conversationId: ConversationId;
  /** The sequence number of its acceptance: the inbox order (T-10). */
  readonly seq: number;
  readonly channel: string;
  /** Unique with `channel`: a redelivery changes nothing (I-1). */
  readonly externalId: string;
  /** `genuine`: from a person or an API caller. `generated`: made by the host. `command`: answered by the host itself (W-3). */
  readonly kind: 'genuine' | 'generated' | 'command';
  /** `principalName` of the sender. */
  readonly principal: string;
  /** `admin` when the verified identity holds admin authority. */
  readonly authority: 'admin' | 'own';
  readonly text: string;
  readonly bodyHash: string;
  readonly replyTo: string | null;
  readonly state: MessageState;
  /** The task that it is bound to: at acceptance for a run, else by the claim (T-1). */
  readonly taskId: TaskId | null;
  readonly runId: RunId | null;
  readonly turnId: TurnId | null;
  /** The sequence number of the event that claimed it: its place in the transcript. */
  readonly claimedSeq: number | null;
  /** The outbox entry that answered it. */
  readonly answerId: OutboxId | null;
  readonly at: Instant;
}

/**
 * The channels of inputs that the host makes, with what `externalId` names there: a corrective turn
 * (its own id), an instant that came or a resume (task and version), the end of a wait for a quota or a
 * provider (the same), an approval that was answered (its id).
 */
export const HOST_CHANNELS = {
  corrective: 'host',
  wake: 'wake',
  /** The person was told that the task goes on. */
  return: 'return',
  /** It is to find out whether the provider answers again; the person is told when it does. */
  scout: 'scout',
  approval: 'approval',
  /** A `continue` of the assessment: its task and version. */
  recovery: 'recovery',
  /** A turn was ended so that its session could be maintained, and goes on (M-8). */
  maintenance: 'maintenance',
} as const;

/**
 * An input that says nothing: a wait for a quota or a provider is over, or its session was maintained, and
 * the turn that it begins goes on with the one that was parked (T-12, M-8).
 */
export function isReturn({ channel, kind }: Pick<MessageRecord, 'channel' | 'kind'>): boolean {
  return RETURNS.has(channel) && kind === 'generated';
}

const RETURNS: ReadonlySet<string> = new Set([
  HOST_CHANNELS.return,
  HOST_CHANNELS.scout,
  HOST_CHANNELS.maintenance,
]);

/** An order that was given once: repeating it with the same receipt changes nothing (M-7). */
export interface ReceiptRecord {
  /** The caller's `receiptId`, else its Idempotency-Key, with its principal before it. */
  readonly scope: string;
  /** `task.extend`, `task.resume`, …: what it was used for. */
  readonly order: string;
  readonly subjectId: string;
  /** JSON of the first outcome. */
  readonly outcome: string;
  readonly at: Instant;
}

/** A used `Idempotency-Key` and what it made; kept for 24 h (surface: HTTP). */
export interface IdempotencyRecord {
  /** `principalName` and the key: the scope in which a key is unique. */
  readonly scope: string;
  readonly fingerprint: string;
  /** The id of the message or run that the first request made. */
  readonly subjectId: string;
  readonly at: Instant;
}
