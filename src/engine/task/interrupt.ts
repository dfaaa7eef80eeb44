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
  /** Where no turn ran: which wait the host did not see through. */
  readonly absent?: 'due' | 'wait';
}

/** Lets a task wait for its assessment, which says whether it may go on, with one notice. */
export function interruptTask(
  ledger: Ledger,
  task: TaskRecord,
  { tools, absent, ...about }: Interrupted,
): void {
  const reason = 'interrupted';
  const missed = absent === undefined ? {} : { absent };
  const moved = moveTask(task, {
    to: 'waiting',
    reason,
    now: ledger.at.now,
    wait: { kind: 'assessment', id: null, until: null },
    outcomeData: JSON.stringify({ tools, ...missed }),
  });
  addMoved(ledger, task, moved, { ...about, data: { wait: 'assessment', ...missed } });
  const { runId } = about;
  tellReason(ledger, task, { reason, version: moved.version, runId, params: { tools, ...missed } });
}
