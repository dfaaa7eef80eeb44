import { isAssessable } from '../../core/recovery/decide.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { ConversationId, HostId, TaskId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import { asideOf } from '../budget/aside.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { interruptTask, keptOf } from '../task/interrupt.ts';
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
    reads: parkReads(id, conversationId),
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

/**
 * Lets every assessment that waits for its provider be made: what a former host could not reach this one has
 * not tried, and after a start the first attempt is always a real one.
 */
export async function unpark(parts: EngineParts, hostId: HostId): Promise<void> {
  const { account } = asideOf(parts.assessment);
  const args = { kind: 'provider', id: account, limit: LIMITS.dueMax } as const;
  for (;;) {
    const parked = await parts.store.query('task.waitingFor', args);
    const moved = await Promise.all(
      parked.map((task) => settle(parts, () => unparkUnit(task, hostId))),
    );
    if (parked.length < LIMITS.dueMax || !moved.includes(true)) return;
  }
}

/** Gives whether it was moved. */
function unparkUnit({ id, conversationId }: TaskRecord, hostId: HostId): Unit<ParkReads, boolean> {
  return {
    name: 'recovery.unpark',
    reads: parkReads(id, conversationId),
    decide: ({ conversation, task, run }, at) => {
      if (conversation === undefined || task === undefined || !isParked(task))
        return { verdict: false, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      interruptTask(ledger, task, { runId: run?.id ?? null, ...keptOf(task) });
      return { verdict: true, writes: ledger.close() };
    },
  };
}

function isParked({ enrollment, state, waitKind, reason }: TaskRecord): boolean {
  const isWaiting = state === 'waiting' && waitKind === 'provider';
  return enrollment === 'current' && isWaiting && reason === 'interrupted';
}

function parkReads(id: TaskId, conversationId: ConversationId): ParkReads {
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    task: { read: 'task.byId', args: { id } },
    run: { read: 'run.ofTask', args: { taskId: id } },
  };
}
