import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { asks, taskIn } from '../support/host.ts';
import { openDoor } from './door.ts';

test('a task tells what it noted, what it waits for, what it may use and how it came there', async (context) => {
  const door = await openDoor(context);
  const { model, clock } = door.installation;
  model.answer = () =>
    asks(
      ['change', {}],
      ['task_note', { text: 'page 3 of 5' }],
      ['task_wait', { for: 'answer', question: 'Which March?' }],
    );
  const { taskId, conversationId } = await door.client('runner').createRun({ input: 'sum it up' });
  await taskIn(door.engine, conversationId as ConversationId, 'waiting');
  const task = await door.client('runner').task(taskId);
  assert.deepEqual([task.state, task.reason], ['waiting', 'awaits_answer']);
  assert.deepEqual(task.waitsFor, {
    kind: 'answer',
    until: new Date(clock.now() + 7 * 86_400_000).toISOString(),
    question: 'Which March?',
  });
  assert.equal(task.checkpoint?.note, 'page 3 of 5');
  assert.match(task.checkpoint?.lastStepId ?? '', /^evt_/);
  assert.deepEqual(task.budgets, {
    turns: { limit: 50, used: 1 },
    tokens: { limit: 2_000_000, used: 15 },
    costUsd: { limit: 20, used: 0.000_003 },
    continuations: { limit: 20, used: 0 },
    deadline: null,
  });
  const [listed] = (await door.client('runner').tasks({ state: 'waiting' })).items;
  assert.deepEqual(listed, { ...task, checkpoint: null, evidence: [] });
  const { items } = await door.client('runner').taskEvents(taskId);
  const told = items.map(({ type }) => type);
  for (const type of ['task.created', 'turn.started', 'task.noted', 'task.moved', 'turn.ended']) {
    assert.ok(told.includes(type), type);
  }
});
