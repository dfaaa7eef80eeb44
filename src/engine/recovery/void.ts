import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { voidGrant } from '../turn/refuse.ts';

/**
 * Takes every permission back that a former host has recorded and no turn has followed: each needs a new
 * attempt. Done before this host claims anything.
 */
export async function voidGrants(parts: EngineParts, hostId: HostId): Promise<void> {
  for (;;) {
    const granted = await parts.store.query('task.granted', { limit: LIMITS.dueMax });
    await Promise.all(granted.map((task) => settle(parts, () => voidUnit(task, hostId))));
    if (granted.length < LIMITS.dueMax) return;
  }
}

type VoidReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly bound: Read<'message.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
};

function voidUnit({ id, conversationId }: TaskRecord, hostId: HostId): Unit<VoidReads, void> {
  return {
    name: 'recovery.void',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id } },
      bound: { read: 'message.openOfTask', args: { conversationId, taskId: id } },
      run: { read: 'run.ofTask', args: { taskId: id } },
    },
    decide: ({ conversation, task, bound, run }, at) => {
      const isGranted = task?.recoveryState === 'granted';
      if (conversation === undefined || !isGranted) return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      voidGrant(ledger, task, { bound, runId: run?.id ?? null });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}
