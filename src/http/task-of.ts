import type { TaskRecord } from '../core/task/record.ts';
import { agentOf } from '../engine/session/agent.ts';
import { readDoing } from '../engine/task/doing.ts';
import { isId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { TaskReply } from '../wire/task.ts';
import { maySee } from './auth.ts';
import type { Call } from './call.ts';
import { problem } from './problems.ts';
import { viewTaskWhole } from './view/task.ts';

/** Rows of one task that are looked through: turns and steps have their own bounds below it. */
export const TASK_ROWS = LIMITS.turnsPerTask * LIMITS.stepsPerTurnMax;

/** The task of this id, when the key may know of it; throws `not_found`. */
export async function demandTask({ door, identity, id }: Call): Promise<TaskRecord> {
  if (!isId('task', id)) throw problem('not_found');
  const task = await door.engine.store.query('task.byId', { id });
  if (task === undefined || !maySee(identity, task.mandatePrincipal)) throw problem('not_found');
  return task;
}

/** A task with the facts that are read off its steps. */
export async function wholeTask({ door }: Call, task: TaskRecord): Promise<TaskReply> {
  const { id: taskId, conversationId, agent: name } = task;
  const asked = { conversationId, taskId, limit: TASK_ROWS };
  const steps = await door.engine.store.query('step.ofTask', asked);
  const { tools } = agentOf(door.engine.parts, name);
  const doing = await readDoing(door.engine.parts, task);
  return viewTaskWhole({ task, doing }, steps, tools.list);
}
