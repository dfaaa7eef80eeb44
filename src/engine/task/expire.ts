import { waitsForIt } from '../../core/approval/decide.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, HostId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import { closeApproval, withdraw } from '../approval/close.ts';
import { closeAll, closeClaimed } from '../inbox/close.ts';
import { failRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { runningTurn, takeTurn } from '../turn/take.ts';
import type { DueRows } from './due.ts';
import { addMoved } from './move.ts';
import { tellReason } from './tell.ts';

/**
 * Ends a task whose deadline has passed (T-7): its turn loses its right to write, its approvals are
 * withdrawn, its messages and its run are closed, one notice says so. Gives the turn to interrupt.
 */
export function expireTask(ledger: Ledger, rows: DueRows, hostId: HostId): TurnRecord | undefined {
  const { task, run } = rows;
  const reason = 'deadline_passed';
  const runId = run?.id ?? null;
  const moved = moveTask(task, { to: 'expired', reason, now: ledger.at.now });
  addMoved(ledger, task, moved, { runId });
  const turn = runningTurn(rows.turn, task.id);
  if (turn !== undefined) takeTurn(ledger, turn);
  withdraw(ledger, rows.approvals, hostId);
  const noticeId = tellReason(ledger, task, { reason, version: moved.version, runId });
  closeAll(ledger, rows.messages, noticeId);
  failRun(ledger, run, reason, noticeId);
  return turn;
}

/**
 * Blocks a task whose window ran out (T-6). What its turns have read is answered by the notice; what
 * was said since stays for its next turn. An approval that it waited for has expired with it (E-4).
 */
export function blockElapsed(
  ledger: Ledger,
  rows: DueRows,
  by: { readonly hostId: HostId; readonly approvalId?: ApprovalId | undefined },
): void {
  const { task, run } = rows;
  const reason = 'wait_elapsed';
  const runId = run?.id ?? null;
  const params = { wait: task.waitKind };
  const outcomeData = JSON.stringify(params);
  const moved = moveTask(task, { to: 'blocked', reason, now: ledger.at.now, outcomeData });
  for (const approval of rows.approvals)
    if (approval.id === by.approvalId || waitsForIt(task, approval))
      closeApproval(ledger, approval, 'expired', hostName(by.hostId));
  addMoved(ledger, task, moved, { runId });
  const noticeId = tellReason(ledger, task, { reason, version: moved.version, runId, params });
  closeClaimed(ledger, rows.messages, noticeId);
  failRun(ledger, run, reason, noticeId);
}

/** Closes an approval whose time is up and for which its task does not wait. */
export function expireApproval(
  ledger: Ledger,
  rows: DueRows,
  by: { readonly hostId: HostId; readonly approvalId?: ApprovalId | undefined },
): void {
  const approval = rows.approvals.find(({ id }) => id === by.approvalId);
  if (approval !== undefined) closeApproval(ledger, approval, 'expired', hostName(by.hostId));
}
