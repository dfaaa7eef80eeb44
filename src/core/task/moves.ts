/** The states of a task and the moves between them (T-3). docs/states.md is printed from this table. */
export const TASK_MOVES = {
  active: [
    'active',
    'waiting',
    'paused',
    'blocked',
    'completed',
    'failed',
    'stopped',
    'cancelled',
    'expired',
  ],
  waiting: ['active', 'waiting', 'paused', 'blocked', 'failed', 'stopped', 'cancelled', 'expired'],
  paused: ['active', 'waiting', 'blocked', 'stopped', 'cancelled', 'expired'],
  blocked: [
    'active',
    'waiting',
    'blocked',
    'failed',
    'stopped',
    'cancelled',
    'expired',
    'completed',
  ],
  completed: [],
  failed: [],
  stopped: [],
  cancelled: [],
  expired: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof TASK_MOVES;

export const TASK_ENDS = ['completed', 'failed', 'stopped', 'cancelled', 'expired'] as const;
export type TaskEnd = (typeof TASK_ENDS)[number];

/** What a waiting task waits for (T-6). */
export const WAIT_KINDS = [
  'instant',
  'worker',
  'answer',
  'approval',
  'quota',
  'provider',
  'assessment',
] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** Why a task stands where it stands; every code has its sentence in `text/` and its way out in `core/notice`. */
export type TaskReason =
  | 'interrupted'
  | 'awaits_instant'
  | 'awaits_answer'
  | 'awaits_approval'
  | 'awaits_quota'
  | 'awaits_provider'
  | 'paused'
  | 'wait_elapsed'
  | 'no_outcome'
  | 'no_progress'
  | 'quota'
  | 'budget_exhausted'
  | 'base_too_large'
  | 'recovery_assessment_failed'
  | 'recovery_no_progress'
  | 'recovery_inconclusive'
  | 'order_late'
  | 'held_legacy'
  | 'ended_by_assessment'
  | 'stopped_by_person'
  | 'cancelled_by_caller'
  | 'deadline_passed'
  | 'model_refused'
  | 'answered';

/** The reason of a task that waits, by what it waits for. */
export const WAIT_REASONS = {
  instant: 'awaits_instant',
  answer: 'awaits_answer',
  approval: 'awaits_approval',
  quota: 'awaits_quota',
  provider: 'awaits_provider',
} as const satisfies Partial<Record<WaitKind, TaskReason>>;

export function mayMove(from: TaskState, to: TaskState): boolean {
  const allowed: readonly TaskState[] = TASK_MOVES[from];
  return allowed.includes(to);
}

/** An ended task never leaves its end (T-3, V18). */
export function hasEnded(state: TaskState): state is TaskEnd {
  return TASK_MOVES[state].length === 0;
}
