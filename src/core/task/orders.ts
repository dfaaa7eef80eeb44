import { refuse, type Refusal } from '../../kernel/fault.ts';
import { reasonEntry, waysOf } from '../notice/reasons.ts';
import { judgeOrder } from './decide.ts';
import type { TaskRecord } from './record.ts';

/** Whether a task may be woken by `/task-resume` as it stands; a refusal names the nearest way out. */
export function judgeResume(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'active', expectedVersion);
  if (refused !== undefined) return withWay(task, refused);
  const ways = reasonEntry(task.reason)?.ways;
  const mayGoOn = ways?.some(({ effect }) => effect === 'resume') === true;
  return mayGoOn ? undefined : withWay(task, notNow(task));
}

/** Whether an order may be carried out late as its task stands: only what was blocked for that (T-15). */
export function judgeLate(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'active', expectedVersion);
  if (refused !== undefined) return withWay(task, refused);
  const isLate = task.state === 'blocked' && task.reason === 'order_late';
  return isLate ? undefined : withWay(task, notNow(task));
}

/** Whether a task may be set aside as it stands. One that waits for its assessment may not. */
export function judgePause(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'paused', expectedVersion);
  if (refused !== undefined) return withWay(task, refused);
  const waits = task.recoveryState === 'needed' || task.waitKind === 'assessment';
  return waits ? withWay(task, notNow(task)) : undefined;
}

function notNow({ id, state }: TaskRecord): Refusal {
  return refuse('not_allowed_now', { id, state });
}

/** `reply: yes` where words are the way out, `way` the first command that is: never the refused one. */
function withWay(task: TaskRecord, refused: Refusal): Refusal {
  if (refused.code !== 'not_allowed_now') return refused;
  const [nearest] = waysOf(task);
  const isReply = reasonEntry(task.reason)?.reply === true;
  return refuse('not_allowed_now', {
    ...refused.detail,
    ...(task.reason === 'interrupted' ? { reason: task.reason } : {}),
    ...(nearest === undefined ? {} : { way: nearest.command }),
    ...(isReply ? { reply: 'yes' } : {}),
  });
}
