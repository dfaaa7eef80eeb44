import { exhaustedBy, exhaustedForTurn, grantFor } from '../../core/budget/spend.ts';
import { isReturn, type MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Ledger } from '../session/ledger.ts';
import { closeClaimed, failRun, tellReason } from './closing.ts';
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
    ? exhaustedBy(task, { tokens: 0, cost: 0 })
    : exhaustedForTurn(task);
  if (budget === undefined) return false;
  const reason = 'budget_exhausted';
  const data = { detail: budget, grant: grantFor(task, budget) };
  const { id: taskId, conversationId } = task;
  const runId = run?.id ?? null;
  const turn = { conversationId, taskId, runId } as const;
  const noticeId = tellReason(ledger, { turn, task }, reason, data);
  if (head.taskId === null) ledger.add({ write: 'message.bind', id: head.id, taskId });
  closeClaimed(ledger, bound, noticeId);
  const now = ledger.at.now;
  const moved = moveTask(task, { to: 'blocked', reason, now, outcomeData: JSON.stringify(data) });
  ledger.add({ write: 'task.save', row: moved });
  ledger.event('task.moved', { taskId, runId, from: task.state, to: 'blocked', reason });
  failRun(ledger, run, reason, noticeId);
  return true;
}
