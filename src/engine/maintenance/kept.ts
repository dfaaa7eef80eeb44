import type { OperationRecord } from '../../core/maintenance/record.ts';
import { queueNotice } from '../outbox/queue.ts';
import type { Ledger } from '../session/ledger.ts';
import { noticeOf } from './settle-operation.ts';

/**
 * Says once in an epoch that a message is kept behind a fence which only an admin opens (I-2): whoever wrote
 * it may not have read why. It is said in the commit that keeps the message: what is owed apart from it is
 * lost with a host or a full disk in between.
 */
export function tellKept(ledger: Ledger, operation: OperationRecord): void {
  if (operation.state !== 'blocked' || operation.isKeptTold !== 'no') return;
  const { id, version, epoch, reason } = operation;
  const params = { operationId: id, version, reason };
  const told = noticeOf(operation, 'info', 'maintenance_kept');
  queueNotice(ledger, { ...told, key: `kept:${id}:${epoch}`, params });
  ledger.add({ write: 'operation.keptTold', id });
}
