import type { Deadline } from '../../kernel/deadline.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { readObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import { goOn } from '../recovery/decide.ts';
import { dueOf } from '../task/decide.ts';
import { hasEnded } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import {
  BUDGETS,
  exhaustedForContinuation,
  exhaustedForTurn,
  grantFor,
  type Budget,
} from './spend.ts';

/** What `/extend` grants: additions, and a deadline as an addition to the old one or as an instant (W-7). */
export interface Grant {
  readonly turns?: number;
  readonly tokens?: number;
  readonly costMicroUsd?: number;
  readonly continuations?: number;
  readonly deadline?: Deadline;
}

type Bounds = Pick<
  TaskRecord,
  'turnsLimit' | 'tokensLimit' | 'costLimit' | 'continuationsLimit' | 'deadline'
>;

/**
 * The next record of an open task that was granted more: the only way in which a budget or a deadline
 * grows (V15). What was blocked by a budget goes on when nothing is exhausted any more, else the whole
 * order is refused (`still_exhausted`, naming what to grant at least). `expectedVersion` as in T-4.
 */
export function extendTask(
  task: TaskRecord,
  order: { readonly grant: Grant; readonly expectedVersion?: number | undefined },
  now: Instant,
): TaskRecord | Refusal {
  const { id, state, version } = task;
  if (order.expectedVersion !== undefined && order.expectedVersion !== version)
    return refuse('version_conflict', { id, state, version: String(version) });
  if (hasEnded(state)) return refuse('task_ended', { id, state });
  // Only its exact resume or its exact stop changes history (V9).
  if (task.enrollment === 'held-legacy')
    return refuse('not_allowed_now', { id, state, way: `/task-resume ${id}` });
  const granted: TaskRecord = { ...task, ...grown(task, order.grant, now) };
  const short = shortOf(granted, order.grant, now);
  if (short !== undefined) return refuse('still_exhausted', { id, ...short });
  if (isOutOfBudget(task)) return goOn(granted, now);
  const dueAt = dueOf(granted, state, granted.waitUntil);
  // What stands still has stood since then, whatever it is granted: a start judges its wait by that.
  const changedAt = state === 'active' ? now : task.changedAt;
  return { ...granted, version: version + 1, dueAt, changedAt };
}

/** The bounds of a task, as its event tells them (V17). */
export function boundsOfTask(task: TaskRecord): JsonObject {
  const { turnsLimit, tokensLimit, costLimit, continuationsLimit, deadline } = task;
  return { turnsLimit, tokensLimit, costLimit, continuationsLimit, deadline };
}

function isOutOfBudget({ state, reason }: TaskRecord): boolean {
  return state === 'blocked' && reason === 'budget_exhausted';
}

function grown(task: TaskRecord, grant: Grant, now: Instant): Bounds {
  const { turns = 0, tokens = 0, costMicroUsd = 0, continuations = 0, deadline } = grant;
  return {
    turnsLimit: task.turnsLimit + turns,
    tokensLimit: task.tokensLimit + tokens,
    costLimit: task.costLimit + costMicroUsd,
    continuationsLimit: task.continuationsLimit + continuations,
    deadline: deadline === undefined ? task.deadline : deadlineOf(task, deadline, now),
  };
}

function deadlineOf(
  task: TaskRecord,
  deadline: NonNullable<Grant['deadline']>,
  now: Instant,
): Instant {
  return 'at' in deadline ? deadline.at : (task.deadline ?? now) + deadline.addMs;
}

/** What is still used up after the grant, and what it takes at least; undefined when work can go on. */
function shortOf(
  task: TaskRecord,
  grant: Grant,
  now: Instant,
): { readonly detail: string; readonly way: string } | undefined {
  if (grant.deadline !== undefined && task.deadline !== null && task.deadline <= now)
    return { detail: 'deadline', way: `/extend ${task.id} deadline=+1d` };
  if (!isOutOfBudget(task)) return undefined;
  const budget = exhaustedNow(task);
  if (budget === undefined) return undefined;
  return { detail: budget, way: `/extend ${task.id} ${grantFor(task, budget)}` };
}

function exhaustedNow(task: TaskRecord): Budget | undefined {
  const { detail } = readObject(task.outcomeData);
  const named = BUDGETS.find((budget) => budget === detail);
  const continuation = named === 'continuations' ? exhaustedForContinuation(task) : undefined;
  return continuation ?? exhaustedForTurn(task);
}
