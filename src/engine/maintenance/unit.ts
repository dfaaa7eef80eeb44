import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { Read } from '../../ports/store.ts';

/** Runs of one conversation that one blocked notice ends. */
export const RUNS_MAX = 1_000;

export type OperationReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly operation: Read<'operation.byId'>;
  readonly runs: Read<'run.openOf'>;
};

/** What each unit about one operation reads. */
export function operationReads({
  id,
  conversationId,
}: Pick<OperationRecord, 'id' | 'conversationId'>): OperationReads {
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    operation: { read: 'operation.byId', args: { id } },
    runs: { read: 'run.openOf', args: { conversationId, limit: RUNS_MAX } },
  };
}

/** Whether this very try of the operation is still out. */
export function isOut(
  operation: OperationRecord | undefined,
  reserved: OperationRecord,
): operation is OperationRecord {
  return (
    operation !== undefined &&
    operation.attempts === reserved.attempts &&
    operation.attemptAt !== null &&
    operation.hostId === reserved.hostId
  );
}
