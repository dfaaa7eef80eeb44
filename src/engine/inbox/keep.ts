import { mayJoin, wakes } from '../../core/inbox/join.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId, MessageId, RunId, TaskId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { tellOfTask } from '../task/tell.ts';

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
      // It has ended or gone on since it was looked at: whoever keeps the message looks again.
      if (!mayJoin(task, message) || wakes(task)) return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      ledger.add({ write: 'message.bind', id, taskId });
      tellKept(ledger, task, { messageId: id, runId: null });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}

/** Says how the task stands that a message was kept for, and what changes it (T-2). */
export function tellKept(
  ledger: Ledger,
  task: TaskRecord,
  { messageId, runId }: { readonly messageId: MessageId; readonly runId: RunId | null },
): void {
  const { reason } = task;
  tellOfTask(ledger, task, {
    runId,
    key: `kept:${messageId}`,
    level: 'info',
    code: reason === 'interrupted' ? 'kept_for_interrupted' : 'kept',
    params: { reason },
  });
}
