import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import { exhaustedForTurn } from '../budget/spend.ts';
import { waysOf } from '../notice/reasons.ts';
import { needAssessment, usedUpReason } from '../recovery/decide.ts';
import { judgeOrder, moveTask } from '../task/decide.ts';
import type { TaskRecord } from '../task/record.ts';

/** Where a command was typed; absent for the command line and the API. */
export interface SaidIn {
  readonly conversationId: ConversationId;
  readonly channel: string;
}

/** An order to wake one held task, and what its conversation is doing. */
export interface Enrolling {
  readonly principal: Principal;
  readonly expectedVersion?: number | undefined;
  readonly saidIn?: SaidIn | undefined;
  /** Whether a turn has the conversation of the task. */
  readonly isBusy: boolean;
  /** Workers of the task that have no end, for the notice of R-7. */
  readonly workers: number;
}

/**
 * Judges an exact resume of a held task (B-8): by an admin, who types it in its own conversation or at the
 * terminal. It is current and waits for its assessment, with the attempts that its epoch has left; with none
 * left it is blocked at once. No budget, deadline or input is touched. A refusal says what stands
 * against it: `forbidden`, `not_here`, `version_conflict`, `task_ended`, `not_allowed_now` of one that is
 * not held, `deadline_passed`, `budget_exhausted`, `conversation_busy`.
 */
export function judgeEnrol(task: TaskRecord, order: Enrolling, now: Instant): TaskRecord | Refusal {
  return refusalOf(task, order, now) ?? enrolTask(task, order.workers, now);
}

function refusalOf(task: TaskRecord, order: Enrolling, now: Instant): Refusal | undefined {
  const { id } = task;
  if (!order.principal.isAdmin) return refuse('forbidden', { id, who: 'admin' });
  if (!mayBeSaid(task, order.saidIn)) return refuse('not_here', { id });
  // Whatever is open may be blocked: what is refused here is ended, or was changed since it was read.
  const refused = judgeOrder(task, 'blocked', order.expectedVersion);
  if (refused !== undefined) return refused;
  if (task.enrollment !== 'held-legacy') return notHeld(task);
  return boundOf(task, now) ?? (order.isBusy ? refuse('conversation_busy', { id }) : undefined);
}

/** At the terminal a person is at the installation itself, as at its command line. */
function mayBeSaid({ conversationId }: TaskRecord, said: SaidIn | undefined): boolean {
  return (
    said === undefined || said.channel === 'terminal' || said.conversationId === conversationId
  );
}

function notHeld(task: TaskRecord): Refusal {
  const { id, state } = task;
  const way = waysOf(task).find(({ effect }) => effect !== 'enrol');
  return refuse('not_allowed_now', {
    id,
    state,
    ...(way === undefined ? {} : { way: way.command }),
  });
}

/** A bound that its next turn would meet at once. No grant moves it while the task is held (V9). */
function boundOf(task: TaskRecord, now: Instant): Refusal | undefined {
  const { id, deadline } = task;
  if (deadline !== null && deadline <= now)
    return refuse('deadline_passed', { id, at: String(deadline) });
  const budget = exhaustedForTurn(task);
  return budget && refuse('budget_exhausted', { id, detail: budget, way: `/stop ${id}` });
}

/** The held task as it is current: assessed next, or blocked where its attempts are used up. */
function enrolTask(task: TaskRecord, workers: number, now: Instant): TaskRecord {
  const enrolled: TaskRecord = { ...task, enrollment: 'current' };
  const { was } = readObject(task.outcomeData);
  const kept = was === undefined ? {} : { was };
  if (task.recoveryAttempts < LIMITS.recoveryAttempts)
    return needAssessment(enrolled, now, { tools: [], ...kept });
  const { recoveryOutcome: outcome, deadline } = task;
  const blocked = moveTask(enrolled, {
    to: 'blocked',
    reason: usedUpReason(task),
    now,
    outcomeData: JSON.stringify({ outcome, deadline, workers, ...kept }),
  });
  return { ...blocked, recoveryState: 'needed', recoveryGrantedAt: null };
}
