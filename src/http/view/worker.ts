import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { WorkerReply } from '../../wire/worker.ts';
import { iso, isoOrNull } from '../call.ts';

/** A worker as its record has it, without the host that runs it. */
export function viewWorker(row: ExecutionRecord): WorkerReply {
  const { id, taskId, conversationId, mandateHash, enrollment, state, job, outcome } = row;
  return {
    id,
    taskId,
    conversationId,
    mandateHash,
    enrollment,
    state,
    job,
    outcome,
    deadline: isoOrNull(row.deadline),
    version: row.version,
    createdAt: iso(row.createdAt),
    changedAt: iso(row.changedAt),
    endedAt: isoOrNull(row.endedAt),
  };
}
