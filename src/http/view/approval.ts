import type { ApprovalRecord, Shown } from '../../core/approval/record.ts';
import type { ApprovalReply } from '../../wire/approval.ts';
import { iso, isoOrNull } from '../call.ts';
import type { Identity } from '../keys.ts';

/** An approval as `reader` gets it: the call whole, and whether that reader may answer it. */
export function viewApproval(row: ApprovalRecord, reader: Identity): ApprovalReply {
  const { id, conversationId, taskId, runId, kind, tool, state, approver } = row;
  // Written by the host itself as canonical JSON, in this shape.
  const { argv, folder, env, files } = JSON.parse(row.shown) as Shown;
  return {
    id,
    conversationId,
    taskId,
    runId,
    kind,
    tool,
    shown: { argv: [...argv], folder, env: { ...env }, files: [...files] },
    state,
    approver,
    mayAnswer: mayAnswer(row, reader),
    requestedBy: row.requestedBy,
    decidedBy: row.decidedBy,
    at: iso(row.at),
    expiresAt: iso(row.expiresAt),
    decidedAt: isoOrNull(row.decidedAt),
  };
}

function mayAnswer({ state, approver, requestedBy }: ApprovalRecord, reader: Identity): boolean {
  if (state !== 'open' || !reader.scopes.has('run')) return false;
  if (reader.name === requestedBy) return approver === 'any';
  return reader.scopes.has('admin');
}
