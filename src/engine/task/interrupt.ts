import { needAssessment } from '../../core/recovery/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Ledger } from '../session/ledger.ts';
import { readObject } from '../../kernel/json.ts';
import { addMoved } from './move.ts';

/** In which turn and for which run, and the calls whose outcome is not known, by name. */
export interface Interrupted {
  readonly turnId?: string;
  readonly runId: string | null;
  readonly tools: readonly string[];
  /** Where no turn was cut: which wait the host did not see through, or a permission that is void. */
  readonly absent?: (typeof ABSENCES)[number];
}

const ABSENCES = ['due', 'wait', 'void'] as const;

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

/** What is known of the interruption while it waits for the provider of its assessment. */
export function keptOf({ outcomeData }: TaskRecord): Pick<Interrupted, 'tools' | 'absent'> {
  const { tools, absent } = readObject(outcomeData);
  const names = Array.isArray(tools) ? tools.map(String) : [];
  const known = ABSENCES.find((one) => one === absent);
  return { tools: names, ...(known === undefined ? {} : { absent: known }) };
}
