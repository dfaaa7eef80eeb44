import { decideApproval, waitsForIt } from '../../core/approval/decide.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import { REASONS } from '../../core/notice/reasons.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskReason } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, HostId, OutboxId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { queueNotice } from '../outbox/queue.ts';
import { endRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { withdraw } from '../turn/closing.ts';
import type { DueRows } from './due.ts';
import { requestOf } from './mandate.ts';

/**
 * Ends a task whose deadline has passed (T-7): its turn loses its right to write, its approvals are
 * withdrawn, its messages and its run are closed, one notice says so. Gives the turn to interrupt.
 */
export function expireTask(ledger: Ledger, rows: DueRows, hostId: HostId): TurnRecord | undefined {
  const { task, run } = rows;
  const moved = moveTask(task, { to: 'expired', reason: 'deadline_passed', now: ledger.at.now });
  addMoved(ledger, rows, moved);
  const turn =
    rows.turn?.taskId === task.id && rows.turn.state === 'running' ? rows.turn : undefined;
  if (turn !== undefined) takeTurn(ledger, turn);
  withdraw(ledger, rows.approvals, `host:${hostId}`);
  const noticeId = tellReason(ledger, rows, moved, {});
  for (const { id } of rows.messages) ledger.add({ write: 'message.done', id, answerId: noticeId });
  endRun(ledger, run, { state: 'failed', code: 'deadline_passed', outcomeId: noticeId });
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
  const data = { wait: task.waitKind };
  const outcomeData = JSON.stringify(data);
  const moved = moveTask(task, { to: 'blocked', reason, now: ledger.at.now, outcomeData });
  for (const approval of rows.approvals)
    if (approval.id === by.approvalId || waitsForIt(task, approval))
      expire(ledger, approval, by.hostId);
  addMoved(ledger, rows, moved);
  const noticeId = tellReason(ledger, rows, moved, data);
  for (const { id, state } of rows.messages)
    if (state === 'claimed') ledger.add({ write: 'message.done', id, answerId: noticeId });
  endRun(ledger, run, { state: 'failed', code: reason, outcomeId: noticeId });
}

/** Closes an approval whose time is up and for which its task does not wait. */
export function expireApproval(
  ledger: Ledger,
  rows: DueRows,
  by: { readonly hostId: HostId; readonly approvalId?: ApprovalId | undefined },
): void {
  const approval = rows.approvals.find(({ id }) => id === by.approvalId);
  if (approval !== undefined) expire(ledger, approval, by.hostId);
}

/** Saves the task as it stands now, with its event. */
export function addMoved(
  ledger: Ledger,
  { task, run }: DueRows,
  moved: TaskRecord,
  data?: JsonObject,
): void {
  ledger.add({ write: 'task.save', row: moved });
  const { id: taskId, state: from } = task;
  const about = { taskId, runId: run?.id ?? null, from, to: moved.state, reason: moved.reason };
  ledger.event('task.moved', data === undefined ? about : { ...about, data });
}

/** The one notice of where the task stands now, under the key of its version (O-6). */
export function tellReason(
  ledger: Ledger,
  { run }: DueRows,
  moved: TaskRecord & { readonly reason: TaskReason | null },
  params: JsonObject,
): OutboxId {
  invariant(moved.reason !== null, 'a task that stands still says why');
  const { level, notice: code } = REASONS[moved.reason];
  invariant(level !== null && code !== null, `${moved.reason} has a notice`);
  const { id: taskId, conversationId } = moved;
  return queueNotice(ledger, {
    conversationId,
    key: `notice:${taskId}:${moved.version}`,
    level,
    code,
    params: { request: requestOf(moved), taskId, ...params },
    subjectId: taskId,
    taskId,
    runId: run?.id ?? null,
  });
}

/** From here the turn may write nothing more; its loop learns it at its next commit. */
function takeTurn(ledger: Ledger, { id, taskId, runId }: TurnRecord): void {
  ledger.takeToken();
  ledger.add({ write: 'turn.stopping', id });
  ledger.event('turn.stopping', { taskId, turnId: id, runId });
}

function expire(ledger: Ledger, approval: ApprovalRecord, hostId: HostId): void {
  const state = 'expired';
  const by = { name: `host:${hostId}`, now: ledger.at.now };
  ledger.add({ write: 'approval.decide', row: decideApproval(approval, state, by) });
  const { id: approvalId, taskId, turnId, runId } = approval;
  ledger.event('approval.decided', { taskId, turnId, runId, data: { approvalId, state } });
}
