import type { StepRecord, StepState, TurnEnd, TurnRecord } from '../core/turn/record.ts';
import type { ConversationId, HostId, SessionId, TurnId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

/** Sums over the model calls of a task. */
export interface StepUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. */
  readonly cost: number;
  /** Calls that used tokens and have no known price. */
  readonly unpriced: number;
}

export interface TurnReads {
  'turn.byId': { readonly args: { readonly id: TurnId }; readonly rows: TurnRecord | undefined };
  /** The turn that began last on this store. */
  'turn.newest': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: TurnRecord | undefined;
  };
  /** The turn that has the conversation, if any. */
  'turn.ofConversation': {
    readonly args: { readonly conversationId: ConversationId };
    readonly rows: TurnRecord | undefined;
  };
  /**
   * Turns without an end whose host is not `except` and has no row, has stopped, or was alive until
   * `deadBefore` at most; oldest first (partial index). Living hosts' turns take no place in the limit.
   */
  'turn.openElsewhere': {
    readonly args: {
      readonly except: HostId;
      readonly deadBefore: Instant;
      readonly limit: number;
    };
    readonly rows: readonly TurnRecord[];
  };
  /** Turns without an end of this host. */
  'turn.openOf': {
    readonly args: { readonly hostId: HostId; readonly limit: number };
    readonly rows: readonly TurnRecord[];
  };
  /** The step of this turn with the highest ordinal. */
  'step.lastOf': {
    readonly args: { readonly conversationId: ConversationId; readonly turnId: TurnId };
    readonly rows: StepRecord | undefined;
  };
  /** Started, unfinished steps of a conversation (partial index). */
  'step.open': {
    readonly args: { readonly conversationId: ConversationId };
    readonly rows: readonly StepRecord[];
  };
  /** Steps whose start or finish has a seq above `after`, by start; for streams. */
  'step.after': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly after: number;
      readonly limit: number;
    };
    readonly rows: readonly StepRecord[];
  };
  /** The newest steps of one session with `after` < seq < `before`, newest first; for the model's request. */
  'step.before': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly sessionId: SessionId;
      readonly after: number;
      readonly before: number;
      readonly limit: number;
    };
    readonly rows: readonly StepRecord[];
  };
  'step.ofTask': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly taskId: string;
      readonly limit: number;
    };
    readonly rows: readonly StepRecord[];
  };
  /** Calls of tools of a task up to a place of its conversation, newest first. Empty texts mean any. */
  'step.callsOf': {
    readonly args: {
      readonly conversationId: ConversationId;
      readonly taskId: string;
      readonly upTo: number;
      readonly state: StepState | '';
      readonly repeatable: 'yes' | 'no' | '';
      readonly limit: number;
    };
    readonly rows: readonly StepRecord[];
  };
  /** What the model calls of a task used, as far as the providers reported it. */
  'step.usageOf': {
    readonly args: { readonly conversationId: ConversationId; readonly taskId: string };
    readonly rows: StepUsage | undefined;
  };
}

export type TurnWrites =
  | { readonly write: 'turn.insert'; readonly row: TurnRecord }
  /** Guard: the turn is running. */
  | { readonly write: 'turn.stopping'; readonly id: TurnId }
  /** Guard: the turn has no end. */
  | {
      readonly write: 'turn.end';
      readonly id: TurnId;
      readonly end: TurnEnd;
      readonly endedAt: Instant;
    }
  | { readonly write: 'step.insert'; readonly row: StepRecord }
  /** Reserves a further try of a model call (T-18). Guard: the step is started and had `tries - 1`. */
  | {
      readonly write: 'step.retry';
      readonly turnId: TurnId;
      readonly seq: number;
      readonly tries: number;
    }
  /** Writes the outcome columns of `row`. Guard: the step is started. */
  | { readonly write: 'step.finish'; readonly row: StepRecord };
