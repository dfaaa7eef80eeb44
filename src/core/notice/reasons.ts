import { readObject } from '../../kernel/json.ts';
import type { NoticeLevel } from '../outbox/record.ts';
import { hasEnded, type TaskReason, type TaskState } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';

/**
 * A command that changes how a task stands. `{id}` stands for the task's id, `{wait}` for the id of
 * what it waits for, `{grant}` for what has to be granted at least, as in `turns=+50`.
 */
export interface Way {
  readonly command:
    | '/stop {id}'
    | '/pause {id}'
    | '/task-resume {id}'
    | '/task-resume {id} late'
    | '/budget-reset {id}'
    | '/extend {id} {grant}'
    | '/approve {wait}'
    | '/deny {wait}'
    | '/new';
  readonly who: 'task_principal_or_admin' | 'admin' | 'person';
  /** `enrol` wakes one held task, `reopen` opens a new epoch of assessments, `late` carries an order out late. */
  readonly effect:
    | 'stop'
    | 'pause'
    | 'resume'
    | 'late'
    | 'enrol'
    | 'reopen'
    | 'extend'
    | 'approve'
    | 'deny'
    | 'fresh';
}

export interface ReasonEntry {
  /** The state that a task with this reason is in. */
  readonly state: TaskState;
  /** Of its one notice, with the notice's code; null where the answer itself is the last word. */
  readonly level: NoticeLevel | null;
  readonly notice: string | null;
  /** What leaves the state: the notice, `why` and the API name these and no others (V8). */
  readonly ways: readonly Way[];
  /** A reply of the task's principal leaves it too (W-7). */
  readonly reply: boolean;
  /** Whether sending the request again, as a new task, is worth saying. */
  readonly again: boolean;
}

const STOP: Way = { command: '/stop {id}', who: 'task_principal_or_admin', effect: 'stop' };
const PAUSE: Way = { command: '/pause {id}', who: 'task_principal_or_admin', effect: 'pause' };
const RESUME: Way = {
  command: '/task-resume {id}',
  who: 'task_principal_or_admin',
  effect: 'resume',
};
const LATE: Way = {
  command: '/task-resume {id} late',
  who: 'task_principal_or_admin',
  effect: 'late',
};
const ENROL: Way = { command: '/task-resume {id}', who: 'admin', effect: 'enrol' };
/** After an inconclusive assessment an admin's resume opens a new epoch. */
const REASSESS: Way = { command: '/task-resume {id}', who: 'admin', effect: 'reopen' };
const RESET: Way = { command: '/budget-reset {id}', who: 'admin', effect: 'reopen' };
const EXTEND: Way = { command: '/extend {id} {grant}', who: 'admin', effect: 'extend' };
const APPROVE: Way = {
  command: '/approve {wait}',
  who: 'task_principal_or_admin',
  effect: 'approve',
};
const DENY: Way = { command: '/deny {wait}', who: 'task_principal_or_admin', effect: 'deny' };
const NEW: Way = { command: '/new', who: 'person', effect: 'fresh' };

function waiting(notice: string | null, ways: readonly Way[], reply: boolean): ReasonEntry {
  return {
    state: 'waiting',
    level: notice === null ? null : 'waiting',
    notice,
    ways,
    reply,
    again: false,
  };
}

function blocked(notice: string, ways: readonly Way[], reply: boolean): ReasonEntry {
  return { state: 'blocked', level: 'blocked', notice, ways, reply, again: false };
}

function ended(state: TaskState, notice: string | null, again: boolean): ReasonEntry {
  return { state, level: notice === null ? null : 'info', notice, ways: [], reply: false, again };
}

/**
 * Why a task stands where it stands, and its way out: the one table that notices, `why`, the API,
 * the docs and the tests read (design principle 4). docs/reasons.md is printed from it.
 */
export const REASONS = {
  // Being assessed is no news: who asks is told, and what blocks has its own notice.
  interrupted: waiting(null, [STOP], false),
  awaits_instant: waiting('awaits_instant', [STOP], false),
  // The question itself, in the model's words, is what the person reads.
  awaits_answer: waiting(null, [STOP], true),
  awaits_approval: waiting('awaits_approval', [APPROVE, DENY, STOP], false),
  awaits_quota: waiting('awaits_quota', [STOP], false),
  awaits_provider: waiting('awaits_provider', [STOP], false),
  paused: {
    state: 'paused',
    level: 'info',
    notice: 'paused',
    ways: [RESUME, STOP],
    reply: true,
    again: false,
  },
  wait_elapsed: blocked('wait_elapsed', [RESUME, STOP], true),
  no_outcome: blocked('no_outcome', [RESUME, STOP], true),
  no_progress: blocked('no_progress', [RESUME, STOP], true),
  quota: blocked('quota', [RESUME, STOP], true),
  budget_exhausted: blocked('budget_exhausted', [EXTEND, STOP], false),
  base_too_large: blocked('base_too_large', [NEW, STOP], false),
  recovery_assessment_failed: blocked('recovery_assessment_failed', [RESET, STOP], false),
  recovery_no_progress: blocked('recovery_no_progress', [RESET, STOP], false),
  recovery_inconclusive: blocked('recovery_inconclusive', [REASSESS, STOP], false),
  order_late: blocked('order_late', [LATE, STOP], false),
  // One summary speaks for all of them (B-10).
  held_legacy: {
    state: 'blocked',
    level: null,
    notice: null,
    ways: [ENROL, STOP],
    reply: false,
    again: false,
  },
  ended_by_assessment: ended('failed', 'ended_by_assessment', true),
  stopped_by_person: ended('stopped', 'stopped', true),
  cancelled_by_caller: ended('cancelled', 'cancelled', false),
  deadline_passed: ended('expired', 'deadline_passed', true),
  model_refused: ended('failed', 'model_refused', true),
  answered: ended('completed', null, false),
} as const satisfies Record<TaskReason, ReasonEntry>;

/** The row of a reason; undefined for one that a record of another version holds. */
export function reasonEntry(reason: string | null): ReasonEntry | undefined {
  return reason !== null && Object.hasOwn(REASONS, reason)
    ? REASONS[reason as TaskReason]
    : undefined;
}

/** A way with its command exactly as it is typed. */
export interface TypedWay {
  readonly command: string;
  readonly who: Way['who'];
  readonly effect: Way['effect'];
}

type Standing = Pick<TaskRecord, 'id' | 'state' | 'reason' | 'waitId' | 'outcomeData'>;

/**
 * The commands that change a task as it stands (W-6, V8). None for an ended one; every other can be
 * stopped, and one that is active or waits can be paused unless it waits for the assessment.
 */
export function waysOf(task: Standing): readonly TypedWay[] {
  if (hasEnded(task.state)) return [];
  const ways = reasonEntry(task.reason)?.ways ?? [STOP];
  const mayPause =
    task.state === 'active' || (task.state === 'waiting' && task.reason !== 'interrupted');
  return [...ways, ...(mayPause ? [PAUSE] : [])].map((way) => typeWay(way, task));
}

function typeWay({ command, who, effect }: Way, task: Standing): TypedWay {
  const { grant } = readObject(task.outcomeData);
  const typed = command
    .replace('{id}', task.id)
    .replace('{wait}', task.waitId ?? '')
    .replace('{grant}', typeof grant === 'string' ? grant : '');
  return { command: typed.trim(), who, effect };
}
