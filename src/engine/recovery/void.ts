import { HOST_CHANNELS, type MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId, RunId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { isFatal, settle } from '../settle.ts';
import { interruptTask } from '../task/interrupt.ts';

/**
 * Takes every permission back that a former host has recorded and no turn has followed: each needs a new
 * attempt. Done before this host claims anything. One that cannot be taken back holds no start up:
 * the claim judges it all the same.
 */
export async function voidGrants(
  parts: EngineParts,
  hostId: HostId,
  onFault: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    const granted = await parts.store.query('task.granted', { limit: LIMITS.dueMax });
    const isVoid = await Promise.all(
      granted.map((task) => voidOne(parts, task, { hostId, onFault })),
    );
    if (granted.length < LIMITS.dueMax || !isVoid.includes(true)) return;
  }
}

async function voidOne(
  parts: EngineParts,
  task: TaskRecord,
  by: { readonly hostId: HostId; readonly onFault: (error: unknown) => void },
): Promise<boolean> {
  try {
    await settle(parts, () => voidUnit(task, by.hostId));
    return true;
  } catch (error) {
    if (isFatal(error)) throw error;
    by.onFault(error);
    return false;
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
      const runId = run?.id ?? null;
      if (task.state === 'active') voidGrant(ledger, task, { bound, runId });
      else needLater(ledger, task, runId);
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}

/** What stands still stays as it stands; whatever lets it go on leads to its assessment. */
function needLater(ledger: Ledger, task: TaskRecord, runId: RunId | null): void {
  const recovery = 'needed';
  const version = task.version + 1;
  const row = { ...task, version, recoveryState: recovery, recoveryGrantedAt: null } as const;
  ledger.add({ write: 'task.save', row });
  const data = { recovery, epoch: task.recoveryEpoch };
  ledger.event('recovery.state', { taskId: task.id, runId, data });
}

/** Takes a permission back that no turn has followed, with the input that it made. */
export function voidGrant(
  ledger: Ledger,
  task: TaskRecord,
  { bound, runId }: { readonly bound: readonly MessageRecord[]; readonly runId: RunId | null },
): void {
  interruptTask(ledger, task, { runId, tools: [], absent: 'void' });
  const made = bound.filter(
    ({ channel, state }) => channel === HOST_CHANNELS.recovery && state === 'unclaimed',
  );
  for (const { id } of made) ledger.add({ write: 'message.done', id, answerId: null });
}
