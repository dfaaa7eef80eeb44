import type { ConversationId, HostId, RunId, SessionId, TaskId, TurnId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

export const TURN_MOVES = {
  running: ['stopping', 'ended'],
  stopping: ['ended'],
  ended: [],
} as const satisfies Record<string, readonly string[]>;
export type TurnState = keyof typeof TURN_MOVES;

/**
 * How a turn ended. `waited`: its task set a wait or asks for an approval. `continued`: its task goes on
 * by itself. `parked`: at a step's border, for a quota, an outage or a pause; no interruption (T-12).
 * `yielded`: a message interrupted it at a step's end (T-11). `blocked`: a bound was reached before the
 * spend. `interrupted` is the end that recovery records for a turn whose host is gone.
 */
export type TurnEnd =
  | 'answered'
  | 'waited'
  | 'continued'
  | 'parked'
  | 'yielded'
  | 'blocked'
  | 'failed'
  | 'invalid'
  | 'stopped'
  | 'interrupted';

/** One run of the model loop over the inputs that it claimed. */
export interface TurnRecord {
  readonly id: TurnId;
  readonly conversationId: ConversationId;
  readonly sessionId: SessionId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  /** The conversation's token at its claim; a write with another is refused (V19). */
  readonly token: number;
  /** The lowest authority among its inputs and its task's mandate (T-11). */
  readonly authority: 'admin' | 'own';
  readonly hostId: HostId;
  readonly state: TurnState;
  readonly end: TurnEnd | null;
  /** The sequence number of its `turn.started`; its steps have higher ones. */
  readonly firstSeq: number;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
}

/**
 * `started`: reserved or journalled. `finished`: has its result. `failed`: has its error.
 * `cut`: never finished and harmless to make anew (a model call, an idempotent tool).
 * `uncertain`: may or may not have happened; it is never run again (E-2).
 */
export const STEP_MOVES = {
  started: ['finished', 'failed', 'cut', 'uncertain'],
  finished: [],
  failed: [],
  cut: [],
  uncertain: [],
} as const satisfies Record<string, readonly string[]>;
export type StepState = keyof typeof STEP_MOVES;

/** One model call or one tool call: appended once, finished in place once (E-1). */
export interface StepRecord {
  readonly conversationId: ConversationId;
  /** The sequence number of its start. */
  readonly seq: number;
  readonly turnId: TurnId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  /** 1, 2, 3 … without a gap inside a turn (V3). */
  readonly ordinal: number;
  readonly kind: 'model' | 'tool';
  readonly state: StepState;
  /** Calls of a model that were reserved for this step, the first included (T-18); 1 for a tool. */
  readonly tries: number;
  /** `evt_` id of its start; also its step id. */
  readonly id: string;
  readonly startedAt: Instant;

  /** For a tool: its name, the model's call id, whether it may be made again, and its arguments as JSON text. */
  readonly tool: string | null;
  readonly callId: string | null;
  readonly repeatable: 'yes' | 'no' | null;
  readonly input: string | null;

  /** For a model: `{text, calls: [{id, name, args}]}` as JSON. For a tool: the text of its result or error. */
  readonly output: string | null;
  readonly errorCode: string | null;
  /** What the provider reported (T-9). */
  readonly provider: string | null;
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Millionths of a US dollar; null when the price is unknown. */
  readonly cost: number | null;

  readonly finishedId: string | null;
  readonly finishedSeq: number | null;
  readonly finishedAt: Instant | null;
}
