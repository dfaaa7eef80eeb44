// What the tests of orders do again and again: bring a task to where it stands, order, look.
import assert from 'node:assert/strict';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Committed, Store, Unit, UnitReads } from '../../src/ports/store.ts';
import { eventually, restOf, say, talkTo, wordsOf } from './acts.ts';
import { asks, says, type Installation } from './host.ts';

/** A conversation with one task in it. */
export interface Standing {
  readonly conversationId: ConversationId;
  readonly taskId: TaskId;
}

export async function taskOf(engine: Engine, { taskId }: Standing): Promise<TaskRecord> {
  const task = await engine.store.query('task.byId', { id: taskId });
  assert.ok(task !== undefined);
  return task;
}

/** Says something and waits until nothing of it goes on; gives the task that it came to. */
export async function standing(
  engine: Engine,
  text = 'Count the files',
  address = 'here',
): Promise<Standing> {
  const conversationId = await talkTo(engine, address);
  await say(engine, conversationId, text);
  await restOf(engine);
  const [task] = await engine.store.query('task.openOf', { conversationId, limit: 1 });
  assert.ok(task !== undefined, 'a task is open');
  return { conversationId, taskId: task.id };
}

/** A task that is blocked because its model said nothing, twice. */
export async function withoutOutcome(place: Installation, engine: Engine): Promise<Standing> {
  place.model.answer = () => says('');
  const found = await standing(engine);
  assert.equal((await taskOf(engine, found)).reason, 'no_outcome');
  place.model.answer = () => says('done');
  return found;
}

/** A task that waits for the approval of one call of `pay`. */
export async function askingToPay(
  place: Installation,
  engine: Engine,
): Promise<Standing & { readonly approval: ApprovalRecord }> {
  place.tools.asked.add('pay');
  place.model.answer = () => asks(['pay', { euros: 5 }]);
  const found = await standing(engine, 'Pay the bill');
  place.model.answer = () => says('done');
  const [approval] = await engine.store.query('approval.openOfTask', { taskId: found.taskId });
  assert.ok(approval !== undefined, 'it was asked');
  return { ...found, approval };
}

/** Types a command and gives what it is answered, in words. */
export async function type(
  engine: Engine,
  conversationId: ConversationId,
  text: string,
  principal?: Principal,
): Promise<string> {
  const by = principal === undefined ? {} : { principal };
  const id = await say(engine, conversationId, text, by);
  await eventually(async () => {
    return (await engine.store.query('message.byId', { id }))?.state === 'done';
  });
  const message = await engine.store.query('message.byId', { id });
  assert.ok(message !== undefined && message.answerId !== null, 'it has its answer');
  const entry = await engine.store.query('outbox.byId', { id: message.answerId });
  assert.equal(entry?.conversationId, conversationId, 'it is answered where it was said');
  return wordsOf({ ...entry });
}

/** A store that loses the first race of one unit: nothing was written, and it is to be decided again. */
export function losing(store: Store, name: string): Store {
  let isFirst = true;
  return {
    traits: store.traits,
    commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
      if (unit.name !== name || !isFirst) return store.commit(unit);
      isFirst = false;
      return Promise.resolve({ kind: 'lost' });
    },
    query: (read, args) => store.query(read, args),
    close: () => Promise.resolve(),
  };
}

/** How many rows of a table there are, by one column. */
export async function counted(
  place: Installation,
  table: string,
  column: string,
): Promise<Readonly<Record<string, number>>> {
  const rows = Map.groupBy(await place.rows(table), (row) => String(row[column]));
  return Object.fromEntries([...rows].map(([value, same]) => [value, same.length]));
}
