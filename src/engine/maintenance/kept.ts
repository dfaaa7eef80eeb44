import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';
import { isFatal, readAgain, settle } from '../settle.ts';
import { noticeOf } from './settle-operation.ts';

/**
 * Says once in an epoch that a message is kept behind a fence which only an admin opens (I-2): whoever wrote
 * it may not have read why. What cannot be told is told with the next message; the message is kept all the same.
 */
export async function tellKept(parts: EngineParts, conversationId: ConversationId): Promise<void> {
  try {
    const found = await readAgain(parts, 'operation.newestOf', { conversationId });
    if (found?.state !== 'blocked' || found.isKeptTold === 'yes') return;
    await settle(parts, () => keptUnit(found));
  } catch (error) {
    if (isFatal(error)) throw error;
    const said = error instanceof Error ? error.message : String(error);
    parts.log.warn('a kept message could not be told of', { conversationId, error: said });
  }
}

type KeptReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly operation: Read<'operation.byId'>;
};

function keptUnit({ id, conversationId }: OperationRecord): Unit<KeptReads, void> {
  return {
    name: 'maintenance.kept',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      operation: { read: 'operation.byId', args: { id } },
    },
    decide: ({ conversation, operation }, at) => {
      const isBlocked = operation?.state === 'blocked' && operation.isKeptTold === 'no';
      if (conversation === undefined || !isBlocked) return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, 'host');
      const { version, epoch, reason } = operation;
      const params = { operationId: id, version, reason };
      const told = noticeOf(operation, 'info', 'maintenance_kept');
      queueNotice(ledger, { ...told, key: `kept:${id}:${epoch}`, params });
      ledger.add({ write: 'operation.keptTold', id });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}
