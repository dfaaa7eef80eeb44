import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import { exhaustedForTurn } from '../budget/spend.ts';
import { hasEnded } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import { EXECUTION_MOVES, type ExecutionRecord, type ExecutionState } from './record.ts';

/** Whether a worker has its end and keeps it. */
export function isOver(state: ExecutionState): boolean {
  return EXECUTION_MOVES[state].length === 0;
}

/** Whether a worker was accepted or runs for this very task and mandate: what T-6 and B-3 call its child. */
export function isChild(
  worker: Pick<ExecutionRecord, 'enrollment' | 'state' | 'taskId' | 'mandateHash'>,
  task: Pick<TaskRecord, 'id' | 'mandateHash'>,
): boolean {
  return worker.enrollment === 'current' && serves(worker, task);
}

/** The states of a worker that somebody is at work on; a paused, blocked or retrying one proves nothing. */
const AT_WORK: ReadonlySet<ExecutionState> = new Set(['ready', 'running']);

/** Whether a worker is at work on this task by its record; no task, or another mandate, is nobody's (B-6). */
export function serves(
  { taskId, mandateHash, state }: Pick<ExecutionRecord, 'taskId' | 'mandateHash' | 'state'>,
  task: Pick<TaskRecord, 'id' | 'mandateHash'>,
): boolean {
  return AT_WORK.has(state) && taskId === task.id && mandateHash === task.mandateHash;
}

/**
 * A worker that says `running` though no living process runs it, as it is to be taken up again (R-14, D-4).
 * What its record says proves nothing.
 */
export function retryWorker(worker: ExecutionRecord, now: Instant): ExecutionRecord {
  if (worker.state !== 'running') return worker;
  const version = worker.version + 1;
  return { ...worker, version, state: 'retrying', hostId: null, changedAt: now };
}

/** An order to enrol one worker that the boundary holds. */
export interface WorkerResume {
  readonly principal: Principal;
  readonly expectedVersion?: number | undefined;
}

/**
 * Judges an exact resume of a held worker (B-9): by an admin, of a task that is open, current and within its
 * bounds, and whose mandate is the worker's own. It is current in the state that it is in; one that says
 * `running` is taken up again, since its process is gone. Refused: `forbidden`, `version_conflict`,
 * `task_ended`, `not_allowed_now` (`detail` says what stands against it), `deadline_passed`,
 * `budget_exhausted`.
 */
export function judgeWorkerResume(
  worker: ExecutionRecord,
  owner: TaskRecord | undefined,
  order: WorkerResume & { readonly now: Instant },
): ExecutionRecord | Refusal {
  const { principal, expectedVersion, now } = order;
  const { id, state, version } = worker;
  if (!principal.isAdmin) return refuse('forbidden', { id, who: 'admin' });
  if (expectedVersion !== undefined && expectedVersion !== version)
    return refuse('version_conflict', { id, state, version: String(version) });
  if (isOver(state)) return refuse('task_ended', { id, state });
  if (worker.enrollment !== 'held-legacy') return notNow(worker, 'not_held');
  const refused = ownerRefusal(worker, owner, now);
  if (refused !== undefined) return refused;
  const enrolled: ExecutionRecord = { ...worker, enrollment: 'current' };
  return state === 'running'
    ? retryWorker(enrolled, now)
    : { ...enrolled, version: version + 1, changedAt: now };
}

/** What stands against a worker in its task: ownership first (B-6), then the task's own standing. */
function ownerRefusal(
  worker: ExecutionRecord,
  owner: TaskRecord | undefined,
  now: Instant,
): Refusal | undefined {
  if (worker.taskId === null || owner === undefined) return notNow(worker, 'no_task');
  if (worker.mandateHash !== owner.mandateHash) return notNow(worker, 'other_mandate');
  const { id } = worker;
  if (hasEnded(owner.state))
    return refuse('task_ended', { id, taskId: owner.id, state: owner.state });
  if (owner.enrollment !== 'current')
    return notNow(worker, 'task_held', `/task-resume ${owner.id}`);
  return boundOf(worker, owner, now);
}

function boundOf(
  { id, deadline }: ExecutionRecord,
  owner: TaskRecord,
  now: Instant,
): Refusal | undefined {
  const passed = [deadline, owner.deadline].find((at) => at !== null && at <= now);
  if (passed !== undefined && passed !== null)
    return refuse('deadline_passed', { id, taskId: owner.id, at: String(passed) });
  const budget = exhaustedForTurn(owner);
  return budget && refuse('budget_exhausted', { id, taskId: owner.id, detail: budget });
}

function notNow({ id, state }: ExecutionRecord, detail: string, way?: string): Refusal {
  return refuse('not_allowed_now', { id, state, detail, ...(way === undefined ? {} : { way }) });
}
