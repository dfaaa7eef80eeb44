import { REASONS } from '../../core/notice/reasons.ts';
import { moveTask } from '../../core/task/decide.ts';
import { judgePause } from '../../core/task/orders.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import type { Ledger } from '../session/ledger.ts';
import { requestOf } from './mandate.ts';
import { commitOrder, type GivenOrder, type OrderRows } from './order.ts';

/**
 * Sets a task aside until it is resumed. A turn of it that runs loses its right to write at once, without
 * being stopped: it learns that when its step is done, and ends `parked` (T-12).
 */
export async function commitPause(
  parts: EngineParts,
  order: GivenOrder,
): Promise<Ordered | Refusal> {
  return commitOrder(parts, order, {
    name: 'task.pause',
    admin: false,
    judge: ({ task }, now) =>
      judgePause(task, order.expectedVersion) ??
      moveTask(task, { to: 'paused', reason: 'paused', now }),
    act: (ledger, rows, next) => {
      const { turn, task } = rows;
      if (turn?.taskId === task.id && turn.state === 'running') ledger.takeToken();
      return tellPaused(ledger, rows, next.version);
    },
    // The notice is the answer.
    says: () => '',
    shows: ({ state, reason }) => ({ state, reason }),
  });
}

function tellPaused(ledger: Ledger, { task, run }: OrderRows, version: number): OutboxId {
  const { level, notice: code } = REASONS.paused;
  return queueNotice(ledger, {
    conversationId: task.conversationId,
    key: `notice:${task.id}:${version}`,
    level,
    code,
    params: { request: requestOf(task), taskId: task.id },
    subjectId: task.id,
    taskId: task.id,
    runId: run?.id ?? null,
  });
}
