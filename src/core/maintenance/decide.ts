import type { ConversationId, HostId, OperationId, SessionId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { ConversationRecord, FenceState } from '../session/record.ts';
import {
  MAX_RECOVERY_FAILURES,
  OPERATION_MOVES,
  OPERATION_STEPS,
  type BlockReason,
  type OperationKind,
  type OperationRecord,
  type OperationState,
  type OperationStep,
} from './record.ts';

/** The pauses before a next try, doubling from the first to the longest (M-3). */
export interface Delays {
  readonly firstDelayMs: Millis;
  readonly maxDelayMs: Millis;
}

/** Whether no turn begins in the conversation (M-8). */
export function isFenced({ fence }: Pick<ConversationRecord, 'fence'>): boolean {
  return fence === 'shut' || fence === 'blocked';
}

/** Whether the operation still stands before its conversation: neither `done` nor `dropped` (M-8). */
export function isOpen({ state }: Pick<OperationRecord, 'state'>): boolean {
  return state !== 'done' && state !== 'dropped';
}

/**
 * Whether a step that failed or was cut provably changed nothing (M): any of the built-in loop; of another
 * runtime only those that the host itself makes.
 */
export function isRepeatable(step: OperationStep, runtime: 'built-in' | 'native'): boolean {
  return runtime === 'built-in' || step === 'archive-link' || step === 'seed';
}

/** The fence of the conversation that has an operation in this state. */
export function fenceOf(state: OperationState): FenceState {
  return FENCES[state];
}

const FENCES: Readonly<Record<OperationState, FenceState>> = {
  running: 'shut',
  waiting: 'shut',
  blocked: 'blocked',
  done: 'passed',
  dropped: 'none',
};

export function firstStep(kind: OperationKind): OperationStep {
  return OPERATION_STEPS[kind][0];
}

/** The step after this one; undefined after the last. */
export function stepAfter({ kind, step }: OperationRecord): OperationStep | undefined {
  const steps: readonly OperationStep[] = OPERATION_STEPS[kind];
  return steps[steps.indexOf(step) + 1];
}

/** A new operation, due at once. It exists before its first step runs (M-1). */
export function openOperation(
  of: {
    readonly id: OperationId;
    readonly conversationId: ConversationId;
    readonly sessionId: SessionId;
    readonly kind: OperationKind;
    readonly window: number;
  },
  now: Instant,
): OperationRecord {
  return {
    ...of,
    nextSessionId: null,
    step: firstStep(of.kind),
    state: 'running',
    reason: null,
    version: 1,
    epoch: 1,
    failures: 0,
    lifetimeFailures: 0,
    attempts: 0,
    attemptAt: null,
    hostId: null,
    nextAttemptAt: now,
    quotaWaits: 0,
    noticeId: null,
    noticeAt: null,
    isTold: 'no',
    isKeptTold: 'no',
    looksFirst: 'no',
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
    createdAt: now,
    changedAt: now,
    endedAt: null,
    fault: null,
    work: null,
  };
}

/** `exhausted`: it has no try left and is to be blocked without one (M-4, M-15). */
export type AttemptVerdict = 'leave' | 'wait' | 'exhausted' | 'reserve';

/** Judges whether the next try of an operation may be reserved now (M-2, M-3). */
export function judgeAttempt(operation: OperationRecord, now: Instant): AttemptVerdict {
  const { state, attemptAt, failures, nextAttemptAt } = operation;
  if (state !== 'running' && state !== 'waiting') return 'leave';
  if (attemptAt !== null) return 'leave';
  if (failures >= MAX_RECOVERY_FAILURES) return 'exhausted';
  return nextAttemptAt !== null && nextAttemptAt > now ? 'wait' : 'reserve';
}

/** The operation with one try more, counted before it is made: nothing gives it back (M-2, V5). */
export function reserveAttempt(
  operation: OperationRecord,
  hostId: HostId,
  now: Instant,
): OperationRecord {
  return {
    ...move(operation, 'running', now),
    attempts: operation.attempts + 1,
    attemptAt: now,
    hostId,
    nextAttemptAt: null,
  };
}

/** The operation after its step succeeded: at the next one, due at once, or over. */
export function passStep(operation: OperationRecord, now: Instant): OperationRecord {
  const next = stepAfter(operation);
  if (next === undefined) return { ...end(operation, 'done', now), fault: null };
  return {
    ...move(endTry(operation), 'running', now),
    step: next,
    nextAttemptAt: now,
    quotaWaits: 0,
    looksFirst: 'no',
  };
}

/** What a try that came to nothing said. */
export interface OperationFault {
  /** `true` once failures of an epoch were not all the same. */
  readonly isMixed?: boolean;
  /** `eio`, `http_500`, `timeout`, `summary_empty`, `interrupted`, `too_long`, … */
  readonly code: string;
  readonly said: string;
}

/**
 * The operation after a real failure of a repeatable step: it waits, doubling, and the seventh of an epoch
 * blocks it whatever the failures were (M-3, M-4).
 */
export function failStep(
  operation: OperationRecord,
  fault: OperationFault,
  { firstDelayMs, maxDelayMs }: Delays,
  now: Instant,
): OperationRecord {
  const failed = countFailure(endTry(operation), fault);
  if (failed.failures >= MAX_RECOVERY_FAILURES) return block(failed, 'exhausted', now);
  const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (failed.failures - 1));
  return { ...move(failed, 'waiting', now), nextAttemptAt: now + delay };
}

/** The operation after a rejected or interrupted uncertain step: nothing repeats it (M-6). */
export function leaveUncertain(
  operation: OperationRecord,
  fault: OperationFault,
  now: Instant,
): OperationRecord {
  return block(countFailure(endTry(operation), fault), 'uncertain', now);
}

/**
 * The operation while a quota is waited for whose end the provider named: no failure, up to ten in a row
 * (M-6, T-12). Undefined when it counts as a failure from now on.
 */
export function waitForQuota(
  operation: OperationRecord,
  { until, fault }: { readonly until: Instant; readonly fault: OperationFault },
  now: Instant,
): OperationRecord | undefined {
  if (operation.quotaWaits >= LIMITS.quotaWaitsMax) return undefined;
  return {
    ...move(endTry(operation), 'waiting', now),
    nextAttemptAt: until,
    quotaWaits: operation.quotaWaits + 1,
    fault: JSON.stringify(fault),
  };
}

/** The operation whose fixed base does not fit: no try can help, and none is used (M-18). */
export function blockTooLarge(
  operation: OperationRecord,
  sizes: JsonObject,
  now: Instant,
): OperationRecord {
  return { ...block(endTry(operation), 'base_too_large', now), fault: JSON.stringify(sizes) };
}

/** The operation that an import or an older version brought without a try left (M-15). */
export function blockExhausted(operation: OperationRecord, now: Instant): OperationRecord {
  return block(endTry(operation), 'exhausted', now);
}

/**
 * The operation in its next epoch (M-7): its failures start anew, its lifetime count stays. `handover`
 * reconciles an uncertain `compact`, which is never made again. `window`: of the model as it is now.
 */
export function admitOperation(
  operation: OperationRecord,
  { as, window }: { readonly as: 'handover' | undefined; readonly window: number },
  now: Instant,
): OperationRecord {
  const { reason } = operation;
  const opened: OperationRecord = {
    ...move(operation, 'running', now),
    reason: null,
    window,
    epoch: operation.epoch + 1,
    failures: 0,
    quotaWaits: 0,
    nextAttemptAt: now,
    noticeId: null,
    noticeAt: null,
    isKeptTold: 'no',
    fault: null,
  };
  if (as === 'handover')
    return { ...opened, kind: 'handover', step: firstStep('handover'), work: null };
  if (reason !== 'uncertain') return opened;
  return { ...opened, looksFirst: 'yes' };
}

/** The operation that was given up: it holds nothing back any more (M-21). */
export function dropOperation(operation: OperationRecord, now: Instant): OperationRecord {
  return end(operation, 'dropped', now);
}

/**
 * A `done` operation that freed too little: one failure more in the same epoch. What it left is compacted, of a
 * handover the session that follows (M-19).
 */
export function reopenOperation(
  operation: OperationRecord,
  fault: OperationFault,
  delays: Delays,
  now: Instant,
): OperationRecord {
  const restarted: OperationRecord = {
    ...operation,
    kind: 'compact',
    step: firstStep('compact'),
    sessionId: operation.nextSessionId ?? operation.sessionId,
    nextSessionId: null,
    endedAt: null,
    work: null,
  };
  return failStep(restarted, fault, delays, now);
}

function move(operation: OperationRecord, to: OperationState, now: Instant): OperationRecord {
  const { state } = operation;
  const allowed: readonly OperationState[] = OPERATION_MOVES[state];
  invariant(state === to || allowed.includes(to), `an operation moves from ${state} to ${to}`);
  return { ...operation, state: to, version: operation.version + 1, changedAt: now };
}

function end(operation: OperationRecord, as: 'done' | 'dropped', now: Instant): OperationRecord {
  const ended = move(endTry(operation), as, now);
  return { ...ended, endedAt: now, nextAttemptAt: null, work: null };
}

function block(operation: OperationRecord, reason: BlockReason, now: Instant): OperationRecord {
  return { ...move(operation, 'blocked', now), reason, nextAttemptAt: null };
}

function countFailure(operation: OperationRecord, fault: OperationFault): OperationRecord {
  const { code, isMixed } = readObject(operation.fault);
  const differs = operation.failures > 0 && (isMixed === true || code !== fault.code);
  const kept = differs ? { ...fault, isMixed: true } : fault;
  return {
    ...operation,
    failures: operation.failures + 1,
    quotaWaits: 0,
    lifetimeFailures: operation.lifetimeFailures + 1,
    fault: JSON.stringify(kept),
  };
}

function endTry(operation: OperationRecord): OperationRecord {
  return { ...operation, attemptAt: null, hostId: null };
}
