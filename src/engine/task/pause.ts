import { moveTask } from '../../core/task/decide.ts';
import { judgePause } from '../../core/task/orders.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import { runningTurn } from '../turn/take.ts';
import { commitOrder, type GivenOrder } from './order.ts';
import { tellReason } from './tell.ts';

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
      const { turn, task, run } = rows;
      if (runningTurn(turn, task.id) !== undefined) ledger.takeToken();
      const { reason, version } = next;
      return tellReason(ledger, task, { reason, version, runId: run?.id ?? null });
    },
    // The notice is the answer.
    says: () => '',
    shows: ({ state, reason }) => ({ state, reason }),
  });
}
