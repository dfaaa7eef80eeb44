import { refuse, type Refusal } from '../../kernel/fault.ts';
import { reasonEntry, waysOf, type TypedWay, type Way } from '../notice/reasons.ts';
import { judgeOrder } from './decide.ts';
import type { TaskRecord } from './record.ts';

/** Whether a task may be woken by `/task-resume` as it stands; a refusal names the nearest way out. */
export function judgeResume(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'active', expectedVersion);
  if (refused !== undefined) return withWay(task, refused, 'resume');
  const ways: readonly Way[] = reasonEntry(task.reason)?.ways ?? [];
  const mayGoOn = ways.some(({ effect }) => effect === 'resume');
  return mayGoOn ? undefined : withWay(task, notNow(task), 'resume');
}

/** Whether an order may be carried out late as its task stands: only what was blocked for that (T-15). */
export function judgeLate(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'active', expectedVersion);
  if (refused !== undefined) return withWay(task, refused, 'late');
  const isLate = task.state === 'blocked' && task.reason === 'order_late';
  return isLate ? undefined : withWay(task, notNow(task), 'late');
}

/** Whether a task may be set aside as it stands. One that waits for its assessment may not. */
export function judgePause(
  task: TaskRecord,
  expectedVersion: number | undefined,
): Refusal | undefined {
  const refused = judgeOrder(task, 'paused', expectedVersion);
  if (refused !== undefined) return withWay(task, refused, 'pause');
  const waits = task.recoveryState === 'needed' || task.waitKind === 'assessment';
  return waits ? withWay(task, notNow(task), 'pause') : undefined;
}

function notNow({ id, state }: TaskRecord): Refusal {
  return refuse('not_allowed_now', { id, state });
}

/** `reply: yes` where words are the way out, `way` the first other command that is. */
function withWay(task: TaskRecord, refused: Refusal, asked: TypedWay['effect']): Refusal {
  if (refused.code !== 'not_allowed_now') return refused;
  const nearest = waysOf(task).find(({ effect }) => effect !== asked && effect !== 'pause');
  const isReply = reasonEntry(task.reason)?.reply === true;
  return refuse('not_allowed_now', {
    ...refused.detail,
    ...(task.reason === 'interrupted' ? { reason: task.reason } : {}),
    ...(nearest === undefined ? {} : { way: nearest.command }),
    ...(isReply ? { reply: 'yes' } : {}),
  });
}
