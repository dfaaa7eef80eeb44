import type { TaskRecord } from '../../core/task/record.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Ledger } from '../session/ledger.ts';

/** In which turn and for which run a task moved, and what its event says beside the states. */
export interface MovedAbout {
  readonly turnId?: string;
  readonly runId: string | null;
  readonly data?: JsonObject;
}

/** The event of a task's move to its next record, where that record is saved with more (T-4). */
export function addMoveEvent(
  ledger: Ledger,
  { id: taskId, state: from }: Pick<TaskRecord, 'id' | 'state'>,
  { state: to, reason }: Pick<TaskRecord, 'state' | 'reason'>,
  about: MovedAbout,
): void {
  ledger.event('task.moved', { taskId, from, to, reason, ...about });
}

/** Saves a task that has moved, with the event of its move. */
export function addMoved(
  ledger: Ledger,
  task: TaskRecord,
  moved: TaskRecord,
  about: MovedAbout,
): void {
  ledger.add({ write: 'task.save', row: moved });
  addMoveEvent(ledger, task, moved, about);
}
