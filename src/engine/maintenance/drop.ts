import { dropOperation } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Rows } from '../../ports/store.ts';
import { auditWrite, type AuditTail } from '../audit/append.ts';
import type { EngineParts } from '../engine.ts';
import { addReceipt, receiptUse } from '../inbox/receipt.ts';
import type { Ledger } from '../session/ledger.ts';
import { shown } from './admit.ts';
import { settleOperation } from './settle-operation.ts';

interface DropOrder {
  readonly command: MessageRecord;
  readonly principal: Principal;
}

/** Gives the maintenance of the conversation up, recorded as what an admin has done (M-21, X-10). */
export function giveUp(
  parts: EngineParts,
  ledger: Ledger,
  { command, principal }: DropOrder,
  rows: Rows<AuditTail> & {
    readonly operation: OperationRecord;
    readonly conversation: ConversationRecord | undefined;
  },
): void {
  const { operation: before, conversation } = rows;
  const { now } = ledger.at;
  const after = dropOperation(before, now);
  settleOperation(ledger, { before, after }, { runs: [] });
  const { nextSessionId: id } = before;
  // One that was made and never gone over to is nobody's.
  if (id !== null && id !== conversation?.sessionId)
    ledger.add({ write: 'session.end', id, endedAt: now });
  const use = { order: 'maintenance.drop', subjectId: before.id };
  const receipt = receiptUse(parts, { principal, receiptId: command.id }, use);
  addReceipt(ledger, receipt, { id: before.id, version: after.version });
  const by = principalName(principal);
  const entry = { at: now, principal: by, channel: command.channel, action: use.order };
  const change = { subjectId: before.id, before: shown(before), after: shown(after) };
  ledger.add(auditWrite(parts, rows.last, { ...entry, ...change }));
}

/** Whether a task went on in a session of the maintenance that was given up: then it goes on in the next. */
export function goesOver(task: TaskRecord, dropped: OperationRecord | undefined): boolean {
  if (dropped === undefined || task.enrollment !== 'current') return false;
  // One of an older version that did not fit is begun anew from its request.
  if (task.state === 'blocked' && task.reason === 'base_too_large') return false;
  return task.sessionId === dropped.sessionId || task.sessionId === dropped.nextSessionId;
}
