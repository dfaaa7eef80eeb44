import type { ConversationId, OperationId, SessionId, TurnId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/**
 * One address on one channel, and the root of everything that happens there: each unit that changes
 * something in a conversation raises `seq`, so `seq` is its version, its order of events and its lock.
 */
export interface ConversationRecord {
  readonly id: ConversationId;
  readonly agent: string;
  /** The destination of whatever leaves, fixed from here (O-9): `api`, `terminal`, later a platform's name. */
  readonly channel: string;
  readonly address: string;
  readonly sessionId: SessionId;
  /** What `/model` chose, or null for the agent's own (T-20). */
  readonly model: string | null;
  /** The last sequence number that an event or a step of this conversation took. */
  readonly seq: number;
  /** The fencing token: each claim, stop or takeover takes the next (design principle 8). */
  readonly token: number;
  /** The turn that has the conversation, running or stopping (T-10). */
  readonly turnId: TurnId | null;
  readonly createdAt: Instant;
  /**
   * `shut`: a maintenance operation runs or waits, `blocked`: it needs an admin; in both no turn begins
   * (M-8). `passed`: it is done, and no turn has been completed since (M-19).
   */
  readonly fence: FenceState;
  /** The operation that the fence speaks of; null while there is none. */
  readonly operationId: OperationId | null;
}

export type FenceState = 'none' | 'shut' | 'blocked' | 'passed';

/** The model's transcript inside a conversation. Its items are the claimed messages and the steps, by `seq`. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly conversationId: ConversationId;
  readonly firstSeq: number;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  /** Of a handover: the session that it goes on from, and the one that goes on from it (M-16). */
  readonly previousId: SessionId | null;
  readonly nextId: SessionId | null;
  /** Items up to this place of the conversation are in no request: `seed` stands for them. 0: none. */
  readonly cutSeq: number;
  /** How often it was compacted. */
  readonly compactions: number;
  /** JSON `SessionSeed`; null while nothing was summarised. */
  readonly seed: string | null;
}

/** One event of a conversation (design principle 5). */
export interface EventRecord {
  readonly conversationId: ConversationId;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly at: Instant;
  /** `principalName` of who did it. */
  readonly by: string;
  readonly taskId: string | null;
  readonly turnId: string | null;
  readonly runId: string | null;
  readonly fromState: string | null;
  readonly toState: string | null;
  readonly reason: string | null;
  /** JSON object; the catalogue names its keys. */
  readonly data: string | null;
}
