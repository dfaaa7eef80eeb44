import type { ApprovalRecord } from '../core/approval/record.ts';
import type { Grant } from '../core/budget/extend.ts';
import type { LimiterRecord } from '../core/budget/record.ts';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { Delays } from '../core/maintenance/decide.ts';
import type { BlockReason, OperationRecord } from '../core/maintenance/record.ts';
import type { TypedOperationWay } from '../core/maintenance/reasons.ts';
import type { StormRecord } from '../core/recovery/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { Refusal } from '../kernel/fault.ts';
import type {
  ApprovalId,
  ConversationId,
  ExecutionId,
  HostId,
  MessageId,
  OperationId,
  RunId,
  TaskId,
} from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Principal } from '../kernel/principal.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Digest } from '../ports/digest.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Model } from '../ports/model.ts';
import type { Premises } from '../ports/premises.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Store } from '../ports/store.ts';
import type { Tools } from '../ports/tools.ts';
import type { Live } from './turn/live.ts';

/** One agent of the installation, under the name that its records carry (T-21). */
export interface Agent {
  readonly name: string;
  /** Its standing instructions, read again at each turn. */
  readonly instructions: () => Promise<string>;
  readonly tools: Tools;
  readonly model: Model;
  /** Asked in this order when `model` cannot answer (T-13, T-18). */
  readonly fallbacks: readonly Model[];
  /** Keeps the model's session itself; absent of the built-in loop, whose session the host keeps. */
  readonly runtime?: Runtime;
}

/** What the host decides with; everything outside is given (design principle 6). */
export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
  /** The first is the default route: what a conversation gets that no rule gives another (T-21). */
  readonly agents: readonly [Agent, ...Agent[]];
  /** What `/model` may choose, each once; by `name`, or by `provider/name` where names repeat. */
  readonly models: readonly Model[];
  /** Assigns messages to tasks (T-2). */
  readonly classifier: Model;
  /** Judges whether interrupted work may go on. */
  readonly assessment: Model;
  /** Writes the summaries of sessions (M-14). */
  readonly summary: Model;
  /** Of a process that only reads records which no host has now: whoever they say is at work has ended. */
  readonly isAtRest?: boolean;
  /** The machine around the records, for `doctor`; absent where there is none to speak of. */
  readonly premises?: Premises;
  /** Called once when the store can no longer be trusted: the process ends with exit code 6 (G-6). */
  readonly onStoreFailed: (reason: string) => void;
  readonly options: EngineOptions;
}

export interface EngineOptions {
  readonly pid: number;
  readonly locale: 'en' | 'de';
  readonly timeZone: string;
  /** At most this many turns at once (T-10). */
  readonly concurrentConversations: number;
  /** Given to each new task: `null` means no deadline. */
  readonly deadlineMs: Millis | null;
  readonly turnsLimit: number;
  readonly tokensLimit: number;
  readonly costLimitMicroUsd: number;
  readonly continuationsLimit: number;
  /** What a message meets that arrives during a turn (T-11). */
  readonly whileBusy: WhileBusy;
  /** How long an approval stays open (E-4). */
  readonly approvalMs: Millis;
  readonly recovery: RecoveryOptions;
  readonly maintenance: MaintenanceOptions;
  readonly leaseMs: Millis;
  readonly leaseRenewMs: Millis;
  readonly tickMs: Millis;
}

export interface RecoveryOptions {
  /** Whether a restart storm begins safe mode. */
  readonly safeMode: boolean;
  /** From one reserved attempt of a task to its next. */
  readonly spacingMs: Millis;
  /** The longest assessment call. */
  readonly callMs: Millis;
  /** Whether each step of a recovery is told. */
  readonly diagnostics: boolean;
}

export interface MaintenanceOptions extends Delays {
  /** Share of the window in use from which on a session is maintained (M-13). */
  readonly startAt: number;
}

export type WhileBusy = 'steer' | 'wait' | 'interrupt' | 'collect';

/** A used `Idempotency-Key`: unique per principal; `fingerprint` is the digest of route and body. */
export interface Idempotency {
  readonly key: string;
  readonly fingerprint: string;
}

export interface ConversationOpening {
  readonly channel: string;
  /** Without one the conversation is its own address. */
  readonly address?: string;
  /** Another than the default agent; unknown ones are refused by the caller (T-21). */
  readonly agent?: string;
  readonly principal: Principal;
}

export interface MessageIntake {
  readonly conversationId: ConversationId;
  /** The conversation's channel, of a caller who has read it: it never changes. */
  readonly channel?: string;
  readonly text: string;
  readonly replyTo?: string;
  readonly principal: Principal;
  /** The channel's own id of the message: a redelivery is recognised by it (I-1). */
  readonly externalId?: string;
  readonly idempotency?: Idempotency;
}

export interface RunIntake {
  readonly input: string;
  /** Without one a conversation of channel `api` is made. */
  readonly conversationId?: ConversationId;
  readonly metadata?: string;
  readonly callbackUrl?: string;
  readonly principal: Principal;
  readonly idempotency?: Idempotency;
}

export interface RunMessageIntake {
  readonly runId: RunId;
  readonly text: string;
  readonly principal: Principal;
  readonly idempotency?: Idempotency;
}

export interface Accepted {
  readonly kind: 'accepted';
  readonly conversationId: ConversationId;
  readonly messageId: MessageId;
  /** True when an earlier request or delivery had made it. */
  readonly repeated: boolean;
}
export interface AcceptedRun extends Accepted {
  readonly runId: RunId;
  readonly taskId: TaskId;
}

/** A principal's order about one task. */
export interface TaskOrder {
  readonly taskId: TaskId;
  readonly principal: Principal;
  /** Through which channel it came, for the log of admin actions. */
  readonly channel: string;
  readonly expectedVersion?: number;
  /** Given again, it gives the first outcome and changes nothing (M-7). */
  readonly receiptId?: string;
  /** The digest of what is ordered: under a receipt of another digest it is refused, `receipt_used`. */
  readonly fingerprint?: string;
}

/** Wakes what stands still (W-7); of a held task an admin's alone (B-8). */
export interface ResumeOrder extends TaskOrder {
  /** Carries an order out whose own time has passed (T-15). */
  readonly late?: boolean;
}

/** An admin's order about one worker that the boundary holds (B-9). */
export interface WorkerOrder extends Omit<TaskOrder, 'taskId'> {
  readonly executionId: ExecutionId;
}
export interface WorkerOrdered {
  readonly kind: 'ordered';
  readonly execution: ExecutionRecord;
  readonly repeated: boolean;
}

/** An admin's admission of a blocked maintenance operation (M-7). */
export interface AdmitOrder {
  readonly operationId: OperationId;
  readonly expectedVersion: number;
  readonly receiptId: string;
  /** Required of an uncertain `compact`, refused otherwise. */
  readonly as?: 'handover' | undefined;
  readonly principal: Principal;
  readonly channel: string;
}
/** `repeated`: its receipt had admitted it before; `operation` is as it was then. */
export interface Admitted {
  readonly kind: 'admitted';
  readonly operation: OperationRecord;
  readonly repeated: boolean;
}

/** How the upkeep of a conversation's context stands, and what leaves it (M-9). */
export interface RecoveryStatus {
  readonly state: 'none' | OperationRecord['state'];
  readonly operation: OperationRecord | null;
  readonly reason: BlockReason | null;
  readonly failures: number;
  readonly lifetimeFailures: number;
  readonly nextAttemptAt: Instant | null;
  readonly ways: readonly TypedOperationWay[];
}

/** What `doctor` found; its sentence and its command are in `text/`. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem';
  readonly code: string;
  /** What it is about: a task's id, an account, a file; null of the installation. */
  readonly subjectId: string | null;
  readonly data: JsonObject;
}

/** What a repair changed: nothing where nothing was to be mended. */
export interface Repaired {
  readonly kind: 'repaired';
  readonly tasks: readonly TaskId[];
  /** Conversations whose fence did not fit their maintenance (M-8). */
  readonly fences: readonly ConversationId[];
  /** Paths that were open to others. */
  readonly files: readonly string[];
}

/** An order that was carried out; `repeated` when its receipt had done it before. */
export interface Ordered {
  readonly kind: 'ordered';
  readonly task: TaskRecord;
  readonly repeated: boolean;
}

export interface ApprovalOrder {
  readonly approvalId: ApprovalId;
  readonly decision: 'approve' | 'deny';
  readonly principal: Principal;
  readonly channel: string;
  readonly receiptId?: string;
  readonly fingerprint?: string;
}
export interface ApprovalAnswered {
  readonly kind: 'answered';
  readonly approval: ApprovalRecord;
  /** When an approved call runs: `later` where its task stands still for another reason; null of a denial. */
  readonly runs: 'now' | 'later' | null;
  readonly repeated: boolean;
}

/** Whether the wall clock is believed (design principle 8). */
export interface ClockTrust {
  readonly isTrusted: boolean;
  /** How far it stands from the uptime clock, or before the last commit; positive is ahead. */
  readonly driftMs: Millis;
  /** Until when it is not believed without a confirmation; null while it is. */
  readonly until: Instant | null;
}

export interface Stopped {
  readonly kind: 'stopped';
  readonly task: TaskRecord;
  /** Calls that were running and are being ended, by tool name or `model`. */
  readonly running: readonly string[];
  /** True when its receipt had stopped it before. */
  readonly repeated?: boolean;
}

export interface Health {
  readonly state: 'starting' | 'ready' | 'draining' | 'failed' | 'stopped';
  /** Set when `failed`: what the store said. */
  readonly reason: string | null;
  readonly hostId: HostId;
  readonly startedAt: Instant | null;
  readonly runningTurns: number;
  /** What the model port last reported (T-9), null before the first answer of this process. */
  readonly answeredBy: {
    readonly provider: string;
    readonly model: string;
    readonly at: Instant;
  } | null;
  readonly clock: ClockTrust;
  /** The storm whose safe mode is on; null while it is off. */
  readonly safeMode: StormRecord | null;
  /** Tasks whose assessment is being made now. */
  readonly assessing: readonly TaskId[];
  /** Maintenance operations with a try that is out here now. */
  readonly maintaining: readonly OperationId[];
  /** Limiters that are not open (T-18). */
  readonly limiters: readonly LimiterRecord[];
}

/**
 * The host: the only authority. Every method commits before it answers; a store fault rejects with a
 * `StoreFault`, an expected "no" is a `Refusal`.
 */
export interface Engine {
  readonly store: Store;
  readonly parts: EngineParts;
  /** Live text and hints of this process; the store is the truth (design principle 12). */
  readonly live: Live;
  /** Recovers what a former host left, then claims work (boot order, design principle 14). */
  start(): Promise<void>;
  /** Drains: claims nothing more, lets running turns end for `graceMs`, then cuts them at once. */
  stop(graceMs: Millis): Promise<void>;
  health(): Health;
  openConversation(opening: ConversationOpening): Promise<ConversationId>;
  /** A message of a conversation; one that begins with `/` is a command (W-4). */
  acceptMessage(intake: MessageIntake): Promise<Accepted | Refusal>;
  acceptRun(intake: RunIntake): Promise<AcceptedRun | Refusal>;
  messageRun(intake: RunMessageIntake): Promise<Accepted | Refusal>;
  stopTask(order: TaskOrder): Promise<Stopped | Refusal>;
  /** One new turn for what stands still and a person may wake (W-7). */
  resumeTask(order: ResumeOrder): Promise<Ordered | Refusal>;
  /** Opens a new epoch of assessments for a task that has used up its own; admin. */
  resetBudget(order: TaskOrder): Promise<Ordered | Refusal>;
  /** Opens the next epoch of a blocked maintenance operation (M-7); admin. */
  admit(order: AdmitOrder): Promise<Admitted | Refusal>;
  /** How the upkeep of a conversation's context stands (M-9). Never throws the stored error. */
  recoveryStatus(conversationId: ConversationId): Promise<RecoveryStatus>;
  /** Enrols one worker that the boundary holds (B-9); admin. */
  resumeWorker(order: WorkerOrder): Promise<WorkerOrdered | Refusal>;
  /** Lets the host start work by itself again; admin. */
  endSafeMode(order: {
    readonly principal: Principal;
    readonly channel: string;
  }): Promise<{ readonly kind: 'ended' } | Refusal>;
  /** What is wrong with this installation, and what changes it (G-3). Changes nothing. */
  examine(): Promise<readonly Finding[]>;
  /** Gives each silent task its reason and its notice, once, and closes files that are open; admin. */
  repair(order: {
    readonly principal: Principal;
    readonly channel: string;
  }): Promise<Repaired | Refusal>;
  /** Sets a task aside until it is resumed; a running turn of it ends at its step's border. */
  pauseTask(order: TaskOrder): Promise<Ordered | Refusal>;
  /** The only way in which a budget or a deadline grows (V15); admin. */
  extendTask(order: TaskOrder & { readonly grant: Grant }): Promise<Ordered | Refusal>;
  answerApproval(order: ApprovalOrder): Promise<ApprovalAnswered | Refusal>;
  /** An admin says that the wall clock is right as it stands (design principle 8). */
  confirmClock(order: {
    readonly principal: Principal;
    readonly channel: string;
  }): Promise<{ readonly kind: 'confirmed' } | Refusal>;
  /** Cancels a run and its task; a run that has ended keeps its end and is answered as it is (INC-035). */
  cancelRun(order: {
    readonly runId: RunId;
    readonly principal: Principal;
  }): Promise<Stopped | Refusal>;
}
