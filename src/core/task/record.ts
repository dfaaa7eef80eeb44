import type { ConversationId, SessionId, TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Enrollment } from '../boundary/record.ts';
import type { AssessmentOutcome, RecoveryState } from '../recovery/record.ts';
import type { TaskReason, TaskState, WaitKind } from './moves.ts';

/** The durable record of something that was asked for, until it ends. */
export interface TaskRecord {
  readonly id: TaskId;
  readonly conversationId: ConversationId;
  /** The session in which it was asked for: its turns go on there, also after `/new` (W-2). */
  readonly sessionId: SessionId;
  /** The agent that the task belongs to (T-21). */
  readonly agent: string;
  readonly enrollment: Enrollment;
  readonly state: TaskState;
  readonly reason: TaskReason | null;
  /** Rises by one at every change; callers may demand the one that they read (T-4). */
  readonly version: number;

  /** The mandate: written once, never changed (T-5). */
  readonly mandateText: string;
  /** `principalName` of who asked. */
  readonly mandatePrincipal: string;
  /** Of whoever asked: no turn of the task acts with more (T-11). */
  readonly mandateAuthority: 'admin' | 'own';
  /** The channel that it came through. */
  readonly mandateOrigin: string;
  readonly mandateAt: Instant;
  readonly mandateHash: string;

  readonly waitKind: WaitKind | null;
  readonly waitId: string | null;
  /** When the wait is looked at, or null when it has no window of its own. */
  readonly waitUntil: Instant | null;
  readonly waitQuestion: string | null;
  readonly deadline: Instant | null;
  /** When it is looked at though nothing arrives: the end of its wait or its deadline; null while it is active. */
  readonly dueAt: Instant | null;
  /** What the task noted of its own progress, for whoever goes on with it. */
  readonly checkpoint: string | null;

  readonly turnsLimit: number;
  readonly turnsUsed: number;
  readonly tokensLimit: number;
  readonly tokensUsed: number;
  /** Millionths of a US dollar, whole numbers, so that sums are exact. */
  readonly costLimit: number;
  readonly costUsed: number;
  readonly continuationsLimit: number;
  readonly continuationsUsed: number;
  /** Corrective turns in a row (T-8); an answer or a person's message ends the row. */
  readonly correctionsUsed: number;
  /** Quota waits in a row (T-12); a model call that succeeds ends the row. */
  readonly quotaWaits: number;

  /** An order that carries its own time (T-15): the instant that its task itself set; null when it was kept. */
  readonly orderAt: Instant | null;

  readonly recoveryState: RecoveryState;
  readonly recoveryEpoch: number;
  readonly recoveryAttempts: number;
  readonly recoveryLifetimeAttempts: number;
  /** Before this no attempt is reserved; null where none was. */
  readonly recoveryNextAt: Instant | null;
  /** What the last attempt of the epoch came to; null where there was none. */
  readonly recoveryOutcome: AssessmentOutcome | null;
  /** When a `continue` was recorded that no turn has followed yet; else null. */
  readonly recoveryGrantedAt: Instant | null;

  readonly createdAt: Instant;
  readonly changedAt: Instant;
  readonly endedAt: Instant | null;
  /** JSON object: what the sentence of `reason` needs beside the mandate. */
  readonly outcomeData: string | null;
}
