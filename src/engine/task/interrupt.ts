import { needAssessment } from '../../core/recovery/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoved } from './move.ts';

/** In which turn and for which run, and the calls whose outcome is not known, by name. */
export interface Interrupted {
  readonly turnId?: string;
  readonly runId: string | null;
  readonly tools: readonly string[];
  /** Where no turn was cut: which wait the host did not see through, or a permission that is void. */
  readonly absent?: (typeof ABSENCES)[number];
}

export const ABSENCES = ['due', 'wait', 'void'] as const;

/** Lets a task wait for its assessment, which says whether it may go on; nobody is told of it. */
export function interruptTask(
  ledger: Ledger,
  task: TaskRecord,
  { tools, absent, ...about }: Interrupted,
): TaskRecord {
  const missed = absent === undefined ? {} : { absent };
  const moved = needAssessment(task, ledger.at.now, { tools, ...missed });
  addMoved(ledger, task, moved, { ...about, data: { wait: 'assessment', ...missed } });
  return moved;
}
