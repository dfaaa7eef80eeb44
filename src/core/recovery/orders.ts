import { refuse, type Refusal } from '../../kernel/fault.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Principal } from '../../kernel/principal.ts';
import { reasonEntry, waysOf } from '../notice/reasons.ts';
import { hasEnded } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';

interface Order {
  readonly principal: Principal;
  readonly expectedVersion?: number | undefined;
}

/** Whether an admin may open a new epoch of assessments for the task as it stands. */
export function judgeReset(task: TaskRecord, order: Order): Refusal | undefined {
  const refused = judgeAdmin(task, order);
  if (refused !== undefined) return refused;
  const isUsedUp =
    task.state === 'blocked' &&
    (task.reason === 'recovery_assessment_failed' || task.reason === 'recovery_no_progress') &&
    task.recoveryAttempts >= LIMITS.recoveryAttempts;
  return isUsedUp ? undefined : refuse('not_budget_blocked', standing(task));
}

/** Whether an admin may have a task assessed anew whose assessment could not tell. */
export function judgeReassess(task: TaskRecord, order: Order): Refusal | undefined {
  const refused = judgeAdmin(task, order);
  if (refused !== undefined) return refused;
  if (hasEnded(task.state)) return refuse('task_ended', { id: task.id, state: task.state });
  const isOpen = task.state === 'blocked' && task.reason === 'recovery_inconclusive';
  return isOpen ? undefined : refuse('not_allowed_now', standing(task));
}

function judgeAdmin(task: TaskRecord, order: Order): Refusal | undefined {
  const { id, state, version } = task;
  if (!order.principal.isAdmin) return refuse('forbidden', { id, who: 'admin' });
  const { expectedVersion } = order;
  return expectedVersion === undefined || expectedVersion === version
    ? undefined
    : refuse('version_conflict', { id, state, version: String(version) });
}

/** How the task stands since when, and the nearest way out, as the refusal says it. */
function standing(task: TaskRecord): Readonly<Record<string, string>> {
  const { id, state, reason, waitKind, changedAt } = task;
  const stands = { id, state, since: String(task.endedAt ?? changedAt) };
  if (isSilent(task)) return { ...stands, wait: 'silent', way: 'sekisho doctor --repair' };
  const [way] = waysOf(task);
  return {
    ...stands,
    ...(reason === null ? {} : { reason }),
    ...(state === 'waiting' && waitKind !== null ? { wait: waitKind } : {}),
    ...(reasonEntry(reason)?.reply === true ? { reply: 'yes' } : {}),
    ...(way === undefined ? {} : { way: way.command }),
  };
}

/** Whether a task was parked by an older version or an import without a reason: a repair gives it one. */
export function isSilent({ enrollment, state, reason, waitKind }: TaskRecord): boolean {
  if (enrollment !== 'current' || reason !== null) return false;
  return state === 'blocked' || (state === 'waiting' && waitKind === null);
}
