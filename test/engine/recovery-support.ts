// What the tests of the recovery do again and again: work that was cut, and hosts that come after it.
import assert from 'node:assert/strict';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { order, pass } from '../support/acts.ts';
import { asks, says, type GivenParts, type Installation } from '../support/host.ts';
import { mortal } from './upkeep-support.ts';

export const SPACING = MINUTE;

/** A task whose turn was cut in its second step by the death of its host; its first call has run. */
export interface Cut {
  readonly taskId: TaskId;
  readonly runId: string;
  readonly conversationId: ConversationId;
}

/** Lets a host die in the middle of a turn: after its `pay` has run, in the next model call. */
export async function cutWork(place: Installation, given: GivenParts = {}): Promise<Cut> {
  const second = Promise.withResolvers<void>();
  place.model.answer = (request) => {
    if (request.messages.some(({ role }) => role === 'tool')) {
      second.resolve();
      return new Promise(() => {});
    }
    return asks(['pay', { amount: 1 }]);
  };
  const { engine, kill } = await mortal(place, given);
  const run = await order(engine, 'pay the hosting bill');
  await second.promise;
  kill();
  place.model.answer = () => says('paid');
  const { taskId, runId, conversationId } = run;
  return { taskId, runId, conversationId };
}

/** The task as the store has it. */
export async function taskOf(place: Installation, id: TaskId): Promise<TaskRecord> {
  const task = await place.store.query('task.byId', { id });
  assert.ok(task);
  return task;
}

/** Lets time pass in steps that every timer of a host may wake in. */
export async function elapse(place: Installation, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SECOND) {
    await pass(6);
    place.clock.advance(Math.min(left, SECOND));
  }
  await pass(40);
}

/** Notices of a task, by code, oldest first. */
export async function codesOf(place: Installation, taskId: TaskId): Promise<readonly string[]> {
  const rows = await place.rows('outbox');
  return rows
    .filter((row) => row['kind'] === 'notice' && row['task_id'] === taskId)
    .map((row) => String(row['code']));
}

/** Events of a task by type. */
export async function eventsOf(
  place: Installation,
  taskId: TaskId,
  type: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await place.rows('event');
  return rows
    .filter((row) => row['task_id'] === taskId && row['type'] === type)
    .map((row) => ({ at: row['at'], ...JSON.parse((row['data'] as string | null) ?? '{}') }));
}
