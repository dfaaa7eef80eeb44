import type { TaskRecord } from '../core/task/record.ts';
import { readId } from '../core/inbox/command.ts';
import { agentOf } from '../engine/session/agent.ts';
import { readDoing } from '../engine/task/doing.ts';
import { refuseUnknown } from '../engine/task/nearest.ts';
import { refuse } from '../kernel/fault.ts';
import { isId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { TaskReply } from '../wire/task.ts';
import { maySee } from './auth.ts';
import type { Call } from './call.ts';
import { problem, refusalProblem } from './problems.ts';
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

/**
 * As `demandTask`, for an order: a part of an id that fits several tasks of which the key may know is
 * `ambiguous_id`, any other unknown one names the nearest of them (W-5, B-8).
 */
export async function demandExactTask(call: Call): Promise<TaskRecord> {
  const { door, identity, id } = call;
  if (!isTyped(id) || isId('task', id)) return demandTask(call);
  const typed = readId('task', id);
  const seeker = { conversationId: null, principal: identity.principal };
  const { code, detail } = await refuseUnknown(door.engine.parts, typed, seeker);
  throw refusalProblem(door.engine, refuse(code, { ...detail, id }));
}

/** Whether it may be a part of an id, with or without its prefix; what is none is looked for nowhere. */
function isTyped(id: string): boolean {
  return /^(?:[a-z]{2,8}_)?[0-9a-z-]{1,20}$/i.test(id);
}

/** A task with the facts that are read off its steps. */
export async function wholeTask({ door }: Call, task: TaskRecord): Promise<TaskReply> {
  const { id: taskId, conversationId, agent: name } = task;
  const asked = { conversationId, taskId, limit: TASK_ROWS };
  const { store, parts } = door.engine;
  const steps = await store.query('step.ofTask', asked);
  const shown = { taskId, limit: LIMITS.workersOfTaskMax };
  const workers = await store.query('execution.ofTask', shown);
  const doing = await readDoing(parts, task);
  return viewTaskWhole(task, { doing, steps, workers }, agentOf(parts, name).tools.list);
}
