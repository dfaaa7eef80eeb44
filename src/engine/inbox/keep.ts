import type { MessageRecord } from '../../core/inbox/record.ts';
import type { HostId, TaskId } from '../../kernel/ids.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { requestOf } from '../task/mandate.ts';

export interface KeepOrder {
  readonly message: MessageRecord;
  readonly taskId: TaskId;
  readonly hostId: HostId;
}

type KeepReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly kept: Read<'message.byId'>;
  readonly task: Read<'task.byId'>;
};

/**
 * Binds a message to a task that words do not wake: its next turn reads it. The host answers at once
 * how the task stands and what changes it (T-2).
 */
export async function keepMessage(parts: EngineParts, order: KeepOrder): Promise<void> {
  await settle(parts, () => keepUnit(order));
}

function keepUnit({ message, taskId, hostId }: KeepOrder): Unit<KeepReads, void> {
  const { id, conversationId } = message;
  return {
    name: 'inbox.keep',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      kept: { read: 'message.byId', args: { id } },
      task: { read: 'task.byId', args: { id: taskId } },
    },
    decide: ({ conversation, kept, task }, at) => {
      const isOpen = kept?.state === 'unclaimed' && kept.taskId === null;
      if (conversation === undefined || task === undefined || !isOpen)
        return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, `host:${hostId}`);
      ledger.add({ write: 'message.bind', id, taskId });
      queueNotice(ledger, {
        conversationId,
        key: `kept:${id}`,
        level: 'info',
        code: task.reason === 'interrupted' ? 'kept_for_interrupted' : 'kept',
        params: { request: requestOf(task), taskId, reason: task.reason },
        subjectId: taskId,
        taskId,
        runId: null,
      });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}
