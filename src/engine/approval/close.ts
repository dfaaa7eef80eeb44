import { decideApproval } from '../../core/approval/decide.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Ledger } from '../session/ledger.ts';

/** Gives an open approval its end, with its event; `by` is the `principalName` of whoever ends it. */
export function closeApproval(
  ledger: Ledger,
  approval: ApprovalRecord,
  state: Parameters<typeof decideApproval>[1],
  by: string,
): ApprovalRecord {
  const row = decideApproval(approval, state, { name: by, now: ledger.at.now });
  ledger.add({ write: 'approval.decide', row });
  const { id: approvalId, taskId, turnId, runId } = row;
  ledger.event('approval.decided', { taskId, turnId, runId, data: { approvalId, state } });
  return row;
}

/** Withdraws the open approvals of a task that has ended: what was asked can no longer be answered (E-4). */
export function withdraw(
  ledger: Ledger,
  approvals: readonly ApprovalRecord[],
  hostId: HostId,
): void {
  for (const approval of approvals) closeApproval(ledger, approval, 'denied', hostName(hostId));
}
