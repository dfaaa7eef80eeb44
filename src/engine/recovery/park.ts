import { isAssessable } from '../../core/recovery/decide.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { addMoved } from '../task/move.ts';

type ParkReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly run: Read<'run.ofTask'>;
};

/**
 * Lets a task wait for the provider of its assessment: no attempt is reserved while it is known to be
 * unreachable. When it waits for long a person is told, by its due instant.
 */
export async function parkForProvider(
  parts: EngineParts,
  found: TaskRecord,
  by: { readonly hostId: HostId; readonly account: string; readonly code: string },
): Promise<void> {
  await settle(parts, () => parkUnit(found, by));
}

function parkUnit(
  { id, conversationId }: TaskRecord,
  { hostId, account, code }: Parameters<typeof parkForProvider>[2],
): Unit<ParkReads, void> {
  return {
    name: 'recovery.park',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id } },
      run: { read: 'run.ofTask', args: { taskId: id } },
    },
    decide: ({ conversation, task, run }, at) => {
      if (conversation === undefined || task === undefined || !isAssessable(task))
        return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      const until = at.now + LIMITS.recoveryUnreachedMs;
      const moved = moveTask(task, {
        to: 'waiting',
        reason: 'interrupted',
        now: at.now,
        wait: { kind: 'provider', id: account, until },
        outcomeData: JSON.stringify({ ...readObject(task.outcomeData), detail: code }),
      });
      const data = { wait: 'provider', until };
      addMoved(ledger, task, moved, { runId: run?.id ?? null, data });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}
