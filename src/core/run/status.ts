import type { TaskRecord } from '../task/record.ts';
import type { RunRecord } from './record.ts';

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** A run's status: its own end, else what its task says. */
export function runStatus(
  run: Pick<RunRecord, 'state'>,
  task: Pick<TaskRecord, 'state' | 'turnsUsed'>,
): RunStatus {
  if (run.state !== 'open') return run.state;
  if (task.state === 'waiting' || task.state === 'paused') return 'waiting';
  return task.turnsUsed > 0 ? 'running' : 'queued';
}
