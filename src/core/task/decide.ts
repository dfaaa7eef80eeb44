import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Spent } from '../budget/spend.ts';
import { hasEnded, mayMove, type TaskReason, type TaskState, type WaitKind } from './moves.ts';
import type { TaskRecord } from './record.ts';

/** The bounds that a new task is given (T-7). `deadlineMs: null` means none. */
export interface TaskBounds {
  readonly deadlineMs: Millis | null;
  readonly turns: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
  readonly continuations: number;
}

export type Mandate = Pick<
  TaskRecord,
  | 'mandateText'
  | 'mandatePrincipal'
  | 'mandateAuthority'
  | 'mandateOrigin'
  | 'mandateAt'
  | 'mandateHash'
>;

/** A new task: `active`, `current` (B-1), its mandate written once (T-5), nothing spent. */
export function openTask(
  identity: Pick<TaskRecord, 'id' | 'conversationId' | 'sessionId' | 'agent'>,
  mandate: Mandate,
  bounds: TaskBounds,
  now: Instant,
): TaskRecord {
  return {
    ...identity,
    ...mandate,
    enrollment: 'current',
    state: 'active',
    reason: null,
    version: 1,
    waitKind: null,
    waitId: null,
    waitUntil: null,
    waitQuestion: null,
    deadline: bounds.deadlineMs === null ? null : now + bounds.deadlineMs,
    dueAt: null,
    checkpoint: null,
    turnsLimit: bounds.turns,
    turnsUsed: 0,
    tokensLimit: bounds.tokens,
    tokensUsed: 0,
    costLimit: bounds.costMicroUsd,
    costUsed: 0,
    continuationsLimit: bounds.continuations,
    continuationsUsed: 0,
    correctionsUsed: 0,
    quotaWaits: 0,
    orderAt: null,
    recoveryState: 'none',
    recoveryEpoch: 1,
    recoveryAttempts: 0,
    recoveryLifetimeAttempts: 0,
    recoveryNextAt: null,
    recoveryOutcome: null,
    recoveryGrantedAt: null,
    createdAt: now,
    changedAt: now,
    endedAt: null,
    outcomeData: null,
  };
}

/** What a new task was given, for the event that made it: the record's replay begins with it (V17). */
export function grantOf(task: TaskRecord): JsonObject {
  const { enrollment, deadline, turnsLimit, tokensLimit, costLimit, continuationsLimit } = task;
  return { enrollment, deadline, turnsLimit, tokensLimit, costLimit, continuationsLimit };
}

export interface Move {
  readonly to: TaskState;
  readonly reason: TaskReason | null;
  readonly now: Instant;
  readonly wait?: {
    readonly kind: WaitKind;
    readonly id: string | null;
    readonly until: Instant | null;
    /** What the person was asked. */
    readonly question?: string;
  };
  /** Parameters of the outcome's sentence, as JSON. */
  readonly outcomeData?: string;
}

const NO_WAIT = { kind: null, id: null, until: null, question: undefined };

/** The next record of a task that makes a legal move; the caller has asked `judgeMove` before. */
export function moveTask(task: TaskRecord, move: Move): TaskRecord {
  invariant(mayMove(task.state, move.to), `a ${task.state} task never becomes ${move.to}`);
  const { kind, id, until, question } = move.wait ?? NO_WAIT;
  return {
    ...task,
    dueAt: dueOf(task, move.to, until),
    state: move.to,
    reason: move.reason,
    version: task.version + 1,
    waitKind: kind,
    waitId: id,
    waitUntil: until,
    waitQuestion: question ?? null,
    changedAt: move.now,
    endedAt: hasEnded(move.to) ? move.now : null,
    outcomeData: move.outcomeData ?? null,
  };
}

/** Active work is looked at by its turns; what stands still comes due by its wait or its deadline (T-6, T-7). */
export function dueOf(
  task: Pick<TaskRecord, 'deadline'>,
  state: TaskState,
  until: Instant | null,
): Instant | null {
  if (state === 'active' || hasEnded(state)) return null;
  if (until === null || task.deadline === null) return until ?? task.deadline;
  return Math.min(until, task.deadline);
}

/** Whether a principal's order may move this task now; `undefined` means yes (T-4). */
export function judgeOrder(
  task: TaskRecord,
  to: TaskState,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const detail = { id: task.id, state: task.state };
  if (expectedVersion !== undefined && expectedVersion !== task.version) {
    return refuse('version_conflict', { ...detail, version: String(task.version) });
  }
  if (hasEnded(task.state)) return refuse('task_ended', detail);
  return mayMove(task.state, to) ? undefined : refuse('not_allowed_now', detail);
}

/**
 * The task after a turn claimed inputs for it: one turn more is spent, before it is made (T-7). The one
 * that goes on with a parked turn is that turn: waiting for a provider uses up nothing (T-12).
 * A person's own words end the rows of corrective turns (T-8) and of continuations (T-7).
 */
export function countTurn(
  task: TaskRecord,
  by: 'person' | 'host' | 'return',
  now: Instant,
): TaskRecord {
  return {
    ...task,
    version: task.version + 1,
    turnsUsed: task.turnsUsed + (by === 'return' ? 0 : 1),
    correctionsUsed: by === 'person' ? 0 : task.correctionsUsed,
    continuationsUsed: by === 'person' ? 0 : task.continuationsUsed,
    changedAt: now,
  };
}

/** The task after a turn of it ended: what its model calls spent is counted once, here. */
export function countSpent(task: TaskRecord, spent: Spent): TaskRecord {
  return {
    ...task,
    tokensUsed: task.tokensUsed + spent.tokens,
    costUsed: task.costUsed + spent.cost,
  };
}

/** Whether `principal` gave the task its mandate. */
export function isOwn(task: TaskRecord, principal: string): boolean {
  return task.mandatePrincipal === principal;
}

/** Whether `principal` may give orders about this task: its own, or an admin (W-1, T-11). */
export function mayOrder(task: TaskRecord, principal: Principal): boolean {
  return principal.isAdmin || isOwn(task, principalName(principal));
}
