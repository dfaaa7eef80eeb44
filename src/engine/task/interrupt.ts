import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoved } from './move.ts';
import { tellReason } from './tell.ts';

/** In which turn and for which run, and the calls whose outcome is not known, by name. */
export interface Interrupted {
  readonly turnId?: string;
  readonly runId: string | null;
  readonly tools: readonly string[];
}

/** Lets a task wait for its assessment, which says whether it may go on, with one notice. */
export function interruptTask(
  ledger: Ledger,
  task: TaskRecord,
  { tools, ...about }: Interrupted,
): void {
  const reason = 'interrupted';
  const moved = moveTask(task, {
    to: 'waiting',
    reason,
    now: ledger.at.now,
    wait: { kind: 'assessment', id: null, until: null },
    outcomeData: JSON.stringify({ tools }),
  });
  addMoved(ledger, task, moved, { ...about, data: { wait: 'assessment' } });
  const { runId } = about;
  tellReason(ledger, task, { reason, version: moved.version, runId, params: { tools } });
}
