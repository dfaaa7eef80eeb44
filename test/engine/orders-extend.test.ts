import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import { readObject } from '../../src/kernel/json.ts';
import { restOf, say } from '../support/acts.ts';
import { ADMIN, ANNA, asks, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import {
  counted,
  standing,
  taskOf,
  type,
  withoutOutcome,
  type Standing,
} from '../support/orders.ts';

/** A task that has used up what these options give it. */
async function exhausted(
  place: Installation,
  given: Partial<EngineOptions>,
): Promise<{ readonly engine: Engine; readonly found: Standing }> {
  const engine = await place.host({ options: { ...OPTIONS, ...given } });
  place.model.answer = () => asks(['task_continue', { note: 'more' }]);
  const found = await standing(engine);
  const task = await taskOf(engine, found);
  assert.deepEqual([task.state, task.reason], ['blocked', 'budget_exhausted']);
  place.model.answer = () => says('done');
  return { engine, found };
}

const LIMITED: readonly [what: string, given: Partial<EngineOptions>][] = [
  ['turns', { turnsLimit: 2 }],
  ['tokens', { tokensLimit: 20 }],
  ['costUsd', { costLimitMicroUsd: 5 }],
  ['continuations', { continuationsLimit: 1 }],
];

for (const [what, given] of LIMITED)
  test(`W-7 V15 the command of the notice of used-up ${what} lets the task go on`, async () => {
    const place = new Installation();
    const { engine, found } = await exhausted(place, given);
    const { outcomeData } = await taskOf(engine, found);
    const { detail, grant } = readObject(outcomeData);
    assert.ok(detail === what && typeof grant === 'string');
    const command = `/extend ${found.taskId} ${grant}`;
    const refused = await type(engine, found.conversationId, command, ANNA);
    assert.match(refused, /an admin/u);
    assert.equal((await taskOf(engine, found)).state, 'blocked');
    const said = await type(engine, found.conversationId, command, ADMIN);
    assert.match(said, /“Count the files” has more to spend\. Left: /u);
    await restOf(engine);
    assert.equal((await taskOf(engine, found)).state, 'completed');
    await engine.stop(0);
  });

test('a grant that is not enough changes nothing and says what would be', async () => {
  const place = new Installation();
  const { engine, found } = await exhausted(place, { tokensLimit: 20 });
  const rows = await place.rows('task');
  const { conversationId, taskId } = found;
  const said = await type(engine, conversationId, `/extend ${taskId} turns=+9 tokens=+1`, ADMIN);
  assert.match(said, new RegExp(`nothing was done.*/extend ${taskId} tokens=\\+21`, 'u'));
  assert.deepEqual(await place.rows('task'), rows);
  assert.equal((await place.rows('audit')).length, 0);
  await engine.stop(0);
});

test('what is misspelt is not granted in part', async () => {
  const place = new Installation();
  const { engine, found } = await exhausted(place, { turnsLimit: 2 });
  const { conversationId, taskId } = found;
  const said = await type(engine, conversationId, `/extend ${taskId} turns=+5 token=+5`, ADMIN);
  assert.match(said, /This is typed as `\/extend ID turns=\+N/u);
  assert.equal((await taskOf(engine, found)).turnsLimit, 2);
  await engine.stop(0);
});

test('an extended task that has a message waiting goes on with that, and nothing is generated', async () => {
  const place = new Installation();
  const { engine, found } = await exhausted(place, { turnsLimit: 2 });
  await say(engine, found.conversationId, `${found.taskId}: and the folders`);
  await restOf(engine);
  const generated = (await counted(place, 'message', 'kind'))['generated'];
  assert.equal((await taskOf(engine, found)).state, 'blocked');
  await type(engine, found.conversationId, `/extend ${found.taskId} turns=+5`, ADMIN);
  await restOf(engine);
  assert.equal((await taskOf(engine, found)).state, 'completed');
  assert.equal((await counted(place, 'message', 'kind'))['generated'], generated);
  await engine.stop(0);
});

test('an extension of a task that is blocked otherwise moves its bounds and nothing else', async () => {
  const place = new Installation();
  const engine = await place.host();
  const found = await withoutOutcome(place, engine);
  const now = place.clock.now();
  const grant = { costMicroUsd: 5, deadline: { at: now + 9_000 } };
  const order = { taskId: found.taskId, principal: ADMIN, channel: 'api', grant };
  const verdict = await engine.extendTask(order);
  assert.ok(verdict.kind === 'ordered');
  const task = await taskOf(engine, found);
  assert.deepEqual({ ...verdict.task }, { ...task });
  assert.deepEqual([task.state, task.reason], ['blocked', 'no_outcome']);
  assert.deepEqual([task.deadline, task.dueAt], [now + 9_000, now + 9_000]);
  const events = (await place.rows('event')).filter(({ type: what }) => what === 'task.extended');
  assert.deepEqual(
    events.map(({ data }) => readObject(String(data))),
    [
      {
        turnsLimit: 50,
        tokensLimit: 2_000_000,
        costLimit: 20_000_005,
        continuationsLimit: 20,
        deadline: now + 9_000,
      },
    ],
  );
  // Before the next tick: the order said that it comes due.
  place.clock.advance(9_000);
  await taskIn(engine, found.conversationId, 'expired');
  await engine.stop(0);
});

test('an admin’s grant stands in the log with what was and what became of it', async () => {
  const place = new Installation();
  const { engine, found } = await exhausted(place, { turnsLimit: 2 });
  await type(engine, found.conversationId, `/extend ${found.taskId} turns=+5`, ADMIN);
  const [entry] = await place.rows('audit');
  assert.deepEqual(
    [entry?.['principal'], entry?.['channel'], entry?.['action'], entry?.['subject_id']],
    ['key:ops', 'api', 'task.extend', found.taskId],
  );
  const bounds = ['before', 'after'].map((key) => readObject(String(entry?.[key]))['turnsLimit']);
  assert.deepEqual(bounds, [2, 7]);
  await engine.stop(0);
});
