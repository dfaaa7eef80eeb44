import type { NoticeLevel } from '../outbox/record.ts';
import { hasEnded, type TaskReason, type TaskState } from '../task/moves.ts';

/** A command that changes how a task stands; `{id}` stands for the task's id. */
export interface Way {
  readonly command: '/stop {id}';
  readonly who: 'task_principal_or_admin';
  readonly effect: 'stop';
}

export interface ReasonEntry {
  /** The state that a task with this reason is in. */
  readonly state: TaskState;
  /** Of its one notice, with the notice's code; null where the answer itself is the last word. */
  readonly level: NoticeLevel | null;
  readonly notice: string | null;
  /** What leaves the state: the notice, `why` and the API name these and no others (V8). */
  readonly ways: readonly Way[];
  /** Whether sending the request again, as a new task, is worth saying. */
  readonly again: boolean;
}

const STOP: Way = { command: '/stop {id}', who: 'task_principal_or_admin', effect: 'stop' };

/**
 * Why a task stands where it stands, and its way out: the one table that notices, `why`, the API,
 * the docs and the tests read (design principle 4). docs/reasons.md is printed from it.
 */
export const REASONS = {
  interrupted: {
    state: 'waiting',
    level: 'waiting',
    notice: 'interrupted',
    ways: [STOP],
    again: false,
  },
  no_outcome: {
    state: 'blocked',
    level: 'blocked',
    notice: 'no_outcome',
    ways: [STOP],
    again: true,
  },
  no_progress: {
    state: 'blocked',
    level: 'blocked',
    notice: 'no_progress',
    ways: [STOP],
    again: true,
  },
  stopped_by_person: {
    state: 'stopped',
    level: 'info',
    notice: 'stopped',
    ways: [],
    again: true,
  },
  cancelled_by_caller: {
    state: 'cancelled',
    level: 'info',
    notice: 'cancelled',
    ways: [],
    again: false,
  },
  model_refused: {
    state: 'failed',
    level: 'info',
    notice: 'model_refused',
    ways: [],
    again: true,
  },
  model_unavailable: {
    state: 'failed',
    level: 'info',
    notice: 'model_unavailable',
    ways: [],
    again: true,
  },
  answered: {
    state: 'completed',
    level: null,
    notice: null,
    ways: [],
    again: false,
  },
} as const satisfies Record<TaskReason, ReasonEntry>;

/** The commands that change a task as it stands. None for an ended one; every other can be stopped. */
export function waysOf(state: TaskState, reason: TaskReason | null): readonly Way[] {
  if (hasEnded(state)) return [];
  return reason === null ? [STOP] : REASONS[reason].ways;
}

/** The command exactly as it is typed. */
export function typeCommand(way: Way, id: string): string {
  return way.command.replace('{id}', id);
}
