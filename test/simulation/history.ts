// What the world outside the harness saw: sent, acknowledged, refused, ordered.
import type { Grant } from '../../src/core/budget/extend.ts';

/** One message of a client or channel, from its first sending on. */
export interface Sent {
  readonly marker: string;
  readonly kind: 'message' | 'command' | 'run' | 'runMessage';
  /** The channel's id, or the idempotency key. */
  readonly key: string;
  readonly acks: Ack[];
  /** The last refusal code that ended it. */
  refused: string | null;
}

export interface Ack {
  readonly messageId: string;
  readonly conversationId: string;
  readonly runId: string | null;
  readonly taskId: string | null;
  readonly repeated: boolean;
  /** Whether the inbox had it at this moment (T-1). */
  readonly durable: boolean;
}

/** An order to end a task that was answered with "stopped". */
export interface StopSeen {
  readonly taskId: string;
}

/** An order to end a task that was refused at its first try. */
export interface StopRefused {
  readonly taskId: string;
  /** The principal's name, given to no other order. */
  readonly by: string;
  readonly code: string;
}

export type OrderKind =
  | 'stop'
  | 'resume'
  | 'late'
  | 'reset'
  | 'worker'
  | 'pause'
  | 'extend'
  | 'approve'
  | 'deny'
  | 'admit';

/** What an admission of a maintenance operation names beside it (M-7). */
export interface Admission {
  readonly expectedVersion: number;
  readonly as?: 'handover';
}

/** One order by its receipt, from its first sending on; the answers to it, as they were heard. */
export interface Order {
  readonly kind: OrderKind;
  /** The task or approval that it is about. */
  readonly subjectId: string;
  /** `principalName`. */
  readonly by: string;
  readonly isAdmin: boolean;
  readonly receipt: string;
  readonly grant: Grant | null;
  readonly admission?: Admission | undefined;
  readonly answers: { readonly outcome: string; readonly repeated: boolean }[];
  /** The refusals among the answers. */
  readonly refusals: string[];
}

export class History {
  readonly sent = new Map<string, Sent>();
  readonly stops: StopSeen[] = [];
  readonly refusedStops: StopRefused[] = [];
  readonly orders: Order[] = [];
  /** Stops and cancels of exactly one task, as they were ordered: the task and `principalName`. */
  readonly exactStops = new Set<string>();
}
