import type { ConversationId, HostId, OperationId, OutboxId, SessionId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Reported } from './size.ts';

/**
 * The states of a maintenance operation and the moves between them (M-1). `running`: its next step is due
 * or is being tried. `waiting`: its last try failed and the next has its instant. `blocked`: only an admin
 * opens it. A `done` one that turns out to have freed too little is reopened with one more failure (M-19).
 */
export const OPERATION_MOVES = {
  running: ['waiting', 'blocked', 'done', 'dropped'],
  waiting: ['running', 'blocked', 'done', 'dropped'],
  blocked: ['running', 'dropped'],
  done: ['waiting', 'blocked'],
  dropped: [],
} as const satisfies Record<string, readonly string[]>;
export type OperationState = keyof typeof OPERATION_MOVES;

/** What an operation does, by its steps in order. */
export const OPERATION_STEPS = {
  compact: ['compact'],
  handover: ['summarise', 'archive-link', 'rotate', 'seed'],
} as const;
export type OperationKind = keyof typeof OPERATION_STEPS;
export type OperationStep = (typeof OPERATION_STEPS)[OperationKind][number];

/** Why an operation is blocked; each has its way out in `core/maintenance/reasons.ts`. */
export const BLOCK_REASONS = ['exhausted', 'uncertain', 'base_too_large'] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** Real failures of one epoch after which an operation is blocked (M-4); not configurable. */
export const MAX_RECOVERY_FAILURES = 7;

/** One try of the upkeep of a session's context, from its first step until it is `done` or `dropped` (M-1). */
export interface OperationRecord {
  readonly id: OperationId;
  readonly conversationId: ConversationId;
  /** The session that is shortened or archived. */
  readonly sessionId: SessionId;
  /** Of a handover, once its id is given: the session that follows. */
  readonly nextSessionId: SessionId | null;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  readonly state: OperationState;
  readonly reason: BlockReason | null;
  readonly version: number;
  readonly epoch: number;
  /** Real failures in this epoch, and in its lifetime (M-4). */
  readonly failures: number;
  readonly lifetimeFailures: number;
  /** Tries that were reserved in its lifetime; never given back (M-2, V5). */
  readonly attempts: number;
  /** When the try was reserved that is out; null while none is. */
  readonly attemptAt: Instant | null;
  /** The host that makes it. */
  readonly hostId: HostId | null;
  /** When the next try is due; null while it is blocked or over. */
  readonly nextAttemptAt: Instant | null;
  /** Waits for a quota in a row, whose end the provider named (T-12). */
  readonly quotaWaits: number;
  /** The limit that it works against, in tokens: of the model, or what the provider refused (M-13). */
  readonly window: number;
  /** The notice that says that it waits (prepared, and leaving at `noticeAt`, or gone) or is blocked (M-10). */
  readonly noticeId: OutboxId | null;
  readonly noticeAt: Instant | null;
  /** `yes` once somebody was told that it waits or is blocked: then its end is told too (M-10). */
  readonly isTold: 'yes' | 'no';
  /** `yes` once somebody was told in this epoch that a message is kept behind the block (I-2). */
  readonly isKeptTold: 'yes' | 'no';
  /** `yes` after an admission of an uncertain step: which session the runtime is on is read before anything is tried (M-7). */
  readonly looksFirst: 'yes' | 'no';
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. */
  readonly cost: number;
  readonly createdAt: Instant;
  readonly changedAt: Instant;
  readonly endedAt: Instant | null;
  /** JSON `{code, said}` of the last failure; of `base_too_large` the sizes `{window, reserve, instructions, tools, seed, message}` in tokens. */
  readonly fault: string | null;
  /** JSON `OperationWork`: how far its summary has come. Null before the first piece. */
  readonly work: string | null;
}

/** How far the summary of an operation has come: it goes on from here after a failure. */
export interface OperationWork {
  /** Everything up to this place of the conversation is summarised by this operation. */
  readonly cutSeq: number;
  /** Up to here it is in `summary`. */
  readonly doneSeq: number;
  readonly summary: string;
  /** Standing conditions found so far (M-17), those of the session's earlier seed included. */
  readonly conditions: readonly StandingCondition[];
}

/** Words of a person that are to hold from then on, quoted exactly (M-17). */
export interface StandingCondition {
  readonly at: Instant;
  readonly text: string;
}

/**
 * What stands for everything of a session up to its `cutSeq` (JSON in the session's `seed`): the model's
 * summary, and what the host does not leave to it.
 */
export interface SessionSeed {
  readonly summary: string;
  readonly conditions: readonly StandingCondition[];
  /** The place at which it was written: what was reported of requests before says nothing of those after. */
  readonly sinceSeq: number;
  /** How the provider had counted the last request before it; null where nothing said so. */
  readonly reported: Reported | null;
  /** In tokens: what the provider refused of a window that the model states larger; absent where it did not. */
  readonly window?: number;
}
