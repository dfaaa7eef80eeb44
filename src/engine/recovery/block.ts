import { isOver } from '../../core/dispatch/decide.ts';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { usedUpReason } from '../../core/recovery/decide.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskReason } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { closeClaimed } from '../inbox/close.ts';
import { failRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoved } from '../task/move.ts';
import { tellReason } from '../task/tell.ts';

/** What a block of a task takes with it, read in its own unit. */
export interface BlockRows {
  readonly messages: readonly MessageRecord[];
  readonly run: RunRecord | undefined;
  /** Executions of the task. */
  readonly workers: readonly ExecutionRecord[];
}

/**
 * Blocks a task whose attempts are used up, with its one notice: its deadline and its workers stay as
 * they are, and so does what was said to it since. `before` is the task as the store has it, `task` with
 * what is to be saved with it; `last` is what its last attempt came to, as the notice says it.
 */
export function blockUsedUp(
  ledger: Ledger,
  { before, task }: { readonly before: TaskRecord; readonly task: TaskRecord },
  rows: BlockRows,
  last: JsonObject = {},
): TaskRecord {
  const params = {
    outcome: task.recoveryOutcome,
    ...last,
    deadline: task.deadline,
    workers: rows.workers.filter(({ state }) => !isOver(state)).length,
  };
  return blockTask(ledger, { before, task }, rows, { reason: usedUpReason(task), params });
}

/** Blocks a task with its one notice; its run ends on it, what its turns have read is answered by it. */
export function blockTask(
  ledger: Ledger,
  { before, task }: { readonly before: TaskRecord; readonly task: TaskRecord },
  { messages, run }: Pick<BlockRows, 'messages' | 'run'>,
  { reason, params }: { readonly reason: TaskReason; readonly params: JsonObject },
): TaskRecord {
  const { now } = ledger.at;
  const outcomeData = JSON.stringify(params);
  const moved = moveTask(task, { to: 'blocked', reason, now, outcomeData });
  const runId = run?.id ?? null;
  addMoved(ledger, before, moved, { runId });
  const noticeId = tellReason(ledger, task, { reason, version: moved.version, runId, params });
  closeClaimed(ledger, messages, noticeId);
  failRun(ledger, run, reason, noticeId);
  return moved;
}

/** Blocks an order whose own time is past its grace (T-15). */
export function blockLate(
  ledger: Ledger,
  task: TaskRecord,
  rows: Pick<BlockRows, 'messages' | 'run'>,
): void {
  const params = { at: task.orderAt };
  blockTask(ledger, { before: task, task }, rows, { reason: 'order_late', params });
}
