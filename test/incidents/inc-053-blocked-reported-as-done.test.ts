import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order, restOf, talkTo, wordsOf } from '../support/acts.ts';
import { asks, Installation, says } from '../support/host.ts';

test('INC-053 a call that waits for a person is not done, and neither is its task', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  place.model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? says('paid') : asks(['pay', { to: 'x' }]);
  const engine = await place.host();
  const run = await order(engine, 'pay x', await talkTo(engine));
  await restOf(engine);
  place.clock.advance(60 * 60_000);
  await restOf(engine);
  const task = await engine.store.query('task.byId', { id: run.taskId });
  assert.deepEqual([task?.state, task?.reason], ['waiting', 'awaits_approval']);
  assert.deepEqual(place.tools.ran, []);
  const told = (await place.rows('outbox')).map(({ code }) => code);
  assert.deepEqual(told, ['awaits_approval']);
  await engine.stop(0);
});

test('INC-053 a guard that stops a loop ends in a state of its own, never in done', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', { at: 'the same' }]);
  const engine = await place.host();
  const run = await order(engine, 'look until it is there', await talkTo(engine));
  await restOf(engine);
  const task = await engine.store.query('task.byId', { id: run.taskId });
  assert.equal(task?.state, 'blocked');
  assert.equal(task.reason, 'no_progress');
  const [notice] = await place.rows('outbox');
  assert.ok(notice !== undefined);
  assert.equal(notice['level'], 'blocked');
  assert.match(wordsOf(notice), /\/task-resume|\/extend/);
  assert.ok(!(await place.rows('outbox')).some(({ kind }) => kind === 'reply'));
  await engine.stop(0);
});
