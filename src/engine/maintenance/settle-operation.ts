import { fenceOf } from '../../core/maintenance/decide.ts';
import { OPERATION_REASONS } from '../../core/maintenance/reasons.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { prepareNotice, queueNotice, withdrawNotice, type NoticeOrder } from '../outbox/queue.ts';
import { failRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';

/** What a change of an operation takes with it, read in its own unit. */
export interface OperationRows {
  /** Open runs of the conversation: a blocked notice ends them. */
  readonly runs: readonly RunRecord[];
}

/**
 * Writes where an operation goes, with its event, the fence of its conversation and what is told of it: that
 * it waits, once and not at once; that it is blocked, once, which ends the runs that wait; and that work goes
 * on, where somebody was told (M-8, M-10, M-11). Gives the row as it is saved.
 */
export function settleOperation(
  ledger: Ledger,
  { before, after }: { readonly before: OperationRecord; readonly after: OperationRecord },
  { runs }: OperationRows,
): OperationRecord {
  addMoved(ledger, before, after);
  const fence = fenceOf(after.state);
  if (fence !== fenceOf(before.state)) ledger.fence(fence, fence === 'none' ? null : after.id);
  const row = tell(ledger, after, runs);
  ledger.add({ write: 'operation.save', row });
  return row;
}

/** The event of an operation's change: all that it counts is in it (V17). */
function addMoved(ledger: Ledger, before: OperationRecord, after: OperationRecord): void {
  const { id, kind, step, version, epoch, failures, lifetimeFailures, nextAttemptAt } = after;
  const { quotaWaits } = after;
  const counts = { version, epoch, failures, lifetimeFailures, quotaWaits, nextAttemptAt };
  const { code } = readObject(after.fault);
  const why = typeof code === 'string' && after.state !== 'done' ? { code } : {};
  ledger.event('operation.moved', {
    from: before.state,
    to: after.state,
    reason: after.reason,
    data: { operationId: id, kind, step, ...counts, ...why },
  });
}

function tell(ledger: Ledger, after: OperationRecord, runs: readonly RunRecord[]): OperationRecord {
  switch (after.state) {
    case 'running':
      return after;
    case 'waiting':
      return tellWaiting(ledger, after);
    case 'blocked':
      return tellBlocked(ledger, after, runs);
    case 'done':
      return tellOver(ledger, after);
    case 'dropped':
      withdraw(ledger, after);
      return { ...after, noticeId: null, noticeAt: null };
  }
}

/**
 * Most waits are over before anybody would read of them: the notice is held back for a moment (M-10). It is
 * told once in an epoch: who was told of the block before does not know that its admission waits in turn.
 */
function tellWaiting(ledger: Ledger, after: OperationRecord): OperationRecord {
  if (after.noticeId !== null) return after;
  const noticeId = prepareNotice(ledger, {
    ...noticeOf(after, 'waiting', 'maintenance_waiting'),
    params: waitingParams(after),
  });
  return { ...after, noticeId, noticeAt: ledger.at.now + LIMITS.maintenanceNoticeMs };
}

/** What the waiting notice says: of the last failure, and of the next try. */
export function waitingParams(operation: OperationRecord): JsonObject {
  const { id: operationId, version, nextAttemptAt: nextAt } = operation;
  return { operationId, version, ...readObject(operation.fault), nextAt };
}

function tellBlocked(
  ledger: Ledger,
  after: OperationRecord,
  runs: readonly RunRecord[],
): OperationRecord {
  withdraw(ledger, after);
  const { reason } = after;
  const noticeId = queueNotice(ledger, blockedNotice(after));
  for (const run of runs) failRun(ledger, run, reason ?? 'exhausted', noticeId);
  // A run that is accepted later ends by the same notice.
  return { ...after, noticeId, noticeAt: null, isTold: 'yes' };
}

/** What is told of an operation that needs an admin (M-10). */
export function blockedNotice(operation: OperationRecord): NoticeOrder {
  const { id: operationId, version, reason, kind, step, failures } = operation;
  const code = OPERATION_REASONS[reason ?? 'exhausted'].notice;
  const { isMixed, ...fault } = readObject(operation.fault);
  const counts = { failures, isSame: isMixed !== true };
  const params = { operationId, version, kind, step, ...counts, ...fault };
  return { ...noticeOf(operation, 'blocked', code), params };
}

function tellOver(ledger: Ledger, after: OperationRecord): OperationRecord {
  withdraw(ledger, after);
  if (after.isTold === 'yes') {
    const params = { operationId: after.id, version: after.version };
    queueNotice(ledger, { ...noticeOf(after, 'info', 'maintenance_over'), params });
  }
  return { ...after, noticeId: null, noticeAt: null, isTold: 'no' };
}

/** A notice that has not left never does: what it says is over. */
function withdraw(ledger: Ledger, { noticeId, noticeAt }: OperationRecord): void {
  if (noticeId !== null && noticeAt !== null) withdrawNotice(ledger, noticeId);
}

/** A notice about an operation; its key is that of the transition which caused it (O-6). */
export function noticeOf(
  { id, conversationId, version }: OperationRecord,
  level: NoticeOrder['level'],
  code: string,
): Omit<NoticeOrder, 'params'> {
  const key = `notice:${id}:${version}`;
  return { conversationId, key, level, code, subjectId: id, taskId: null, runId: null };
}
