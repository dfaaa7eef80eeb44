import { exhaustedBy, exhaustedForTurn, grantFor, NOTHING_SPENT } from '../../core/budget/spend.ts';
import { isReturn, type MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { closeClaimed } from '../inbox/close.ts';
import { failRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoved } from '../task/move.ts';
import { tellReason } from '../task/tell.ts';
import { isWaiting } from './joined.ts';

/** What a turn would take up, and for whom. */
interface Claiming {
  readonly task: TaskRecord;
  readonly head: MessageRecord;
  /** Open messages of the task. */
  readonly bound: readonly MessageRecord[];
  readonly run: RunRecord | undefined;
}

/** Blocks a task whose next turn its budget forbids; what was said to it is kept for when it goes on (T-7). */
export function blockIfExhausted(ledger: Ledger, { task, head, bound, run }: Claiming): boolean {
  // What goes on with a parked turn was counted when that began (T-12).
  const waiting = [head, ...bound].filter(isWaiting);
  const budget = waiting.every(isReturn)
    ? exhaustedBy(task, NOTHING_SPENT)
    : exhaustedForTurn(task);
  if (budget === undefined) return false;
  const reason = 'budget_exhausted';
  const data = { detail: budget, grant: grantFor(task, budget) };
  const runId = run?.id ?? null;
  const now = ledger.at.now;
  const moved = moveTask(task, { to: 'blocked', reason, now, outcomeData: JSON.stringify(data) });
  const { version } = moved;
  const noticeId = tellReason(ledger, task, { reason, version, runId, params: data });
  if (head.taskId === null) ledger.add({ write: 'message.bind', id: head.id, taskId: task.id });
  closeClaimed(ledger, bound, noticeId);
  addMoved(ledger, task, moved, { runId });
  failRun(ledger, run, reason, noticeId);
  return true;
}
