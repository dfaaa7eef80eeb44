import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { heldCall, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, asks, BEN, fails, Installation, says } from '../support/host.ts';
import { askingToPay, counted, taskOf, type, withoutOutcome, standing } from '../support/orders.ts';

const order = { principal: ANNA, channel: 'api' };

test('a resumed task has exactly one new turn that is told so, and no budget changes', async () => {
  const place = new Installation();
  const engine = await place.host();
  const found = await withoutOutcome(place, engine);
  const before = await taskOf(engine, found);
  const calls = place.model.requests.length;
  const said = await type(engine, found.conversationId, `/task-resume ${found.taskId}`);
  assert.match(said, /“Count the files” goes on/u);
  await restOf(engine);
  const after = await taskOf(engine, found);
  assert.equal(after.state, 'completed');
  assert.equal(after.turnsUsed, before.turnsUsed + 1);
  assert.equal(after.turnsLimit, before.turnsLimit);
  assert.equal(place.model.requests.length, calls + 1);
  const told = place.model.requests.at(-1)?.messages.at(-1);
  assert.match(told?.role === 'user' ? told.text : '', /one new turn[^]*> Count the files/u);
  await engine.stop(0);
});

test('a resumed task that leads nowhere again is blocked again, with a notice of its own', async () => {
  const place = new Installation();
  const engine = await place.host();
  const found = await withoutOutcome(place, engine);
  place.model.answer = () => says('');
  await engine.resumeTask({ ...order, taskId: found.taskId });
  await restOf(engine);
  assert.equal((await taskOf(engine, found)).reason, 'no_outcome');
  assert.equal((await counted(place, 'outbox', 'code'))['no_outcome'], 2);
  await engine.stop(0);
});

test('W-7 what cannot be resumed is told the nearest way out, and nothing changes', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { conversationId, taskId, approval } = await askingToPay(place, engine);
  const rows = await place.rows('task');
  const said = await type(engine, conversationId, `/task-resume ${taskId}`);
  assert.match(said, new RegExp(`not possible while it is waiting.*/approve ${approval.id}`, 'u'));
  assert.deepEqual(await place.rows('task'), rows);
  assert.equal((await place.rows('receipt')).length, 0);
  await engine.stop(0);
});

test('only the one whose task it is or an admin resumes or pauses it', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId } = await withoutOutcome(place, engine);
  const bens = { taskId, principal: BEN, channel: 'api' };
  for (const verdict of [await engine.resumeTask(bens), await engine.pauseTask(bens)])
    assert.equal(verdict.kind === 'refused' && verdict.code, 'forbidden');
  const old = { taskId, principal: ANNA, channel: 'api', expectedVersion: 1 };
  const late = await engine.resumeTask(old);
  assert.equal(late.kind === 'refused' && late.code, 'version_conflict');
  await engine.stop(0);
});

test('an admin who resumes a guest’s task lends it no authority', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId } = await withoutOutcome(place, engine);
  await engine.resumeTask({ taskId, principal: ADMIN, channel: 'api' });
  await restOf(engine);
  const turns = await place.rows('turn');
  const messages = await place.rows('message');
  const lent = [...turns, ...messages].map(({ authority }) => authority);
  assert.deepEqual([...new Set(lent)], ['own']);
  await engine.stop(0);
});

/** A task whose turn is inside its first model call. */
async function busy(place: Installation, engine: Engine) {
  const call = heldCall();
  place.model.answer = (_request, signal) => {
    signal.addEventListener('abort', () => call.release(fails('transient', 'cut')));
    return call.hold();
  };
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Count the files');
  await call.begun;
  const [task] = await engine.store.query('task.openOf', { conversationId, limit: 1 });
  assert.ok(task !== undefined);
  return { call, conversationId, taskId: task.id };
}

test('a pause takes the right to write from the running turn without stopping it: it ends parked', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { call, ...found } = await busy(place, engine);
  const said = await type(engine, found.conversationId, `/pause ${found.taskId}`);
  assert.match(said, /“Count the files” is paused[^]*\/task-resume/u);
  assert.equal((await taskOf(engine, found)).state, 'paused');
  assert.equal((await place.rows('turn'))[0]?.['state'], 'running', 'its call goes on');
  call.release(says('seven'));
  await restOf(engine);
  assert.equal((await place.rows('turn'))[0]?.['end'], 'parked');
  const paused = await taskOf(engine, found);
  assert.deepEqual([paused.state, paused.reason], ['paused', 'paused']);
  assert.equal(paused.tokensUsed, 15, 'what the call spent is counted');
  assert.equal((await place.rows('outbox')).filter(({ kind }) => kind === 'reply').length, 0);
  place.model.answer = () => says('eight');
  await engine.resumeTask({ ...order, taskId: found.taskId });
  await restOf(engine);
  assert.equal((await taskOf(engine, found)).state, 'completed');
  await engine.stop(0);
});

test('a task that is paused and resumed while its step still runs is not interrupted', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { call, ...found } = await busy(place, engine);
  assert.equal((await engine.pauseTask({ ...order, taskId: found.taskId })).kind, 'ordered');
  assert.equal((await engine.resumeTask({ ...order, taskId: found.taskId })).kind, 'ordered');
  place.model.answer = () => says('eight');
  call.release(says('seven'));
  await restOf(engine);
  const ends = (await place.rows('turn')).map(({ end }) => end);
  assert.deepEqual(ends, ['parked', 'answered']);
  assert.equal((await taskOf(engine, found)).state, 'completed');
  await engine.stop(0);
});

test('R-1 a task that waits for its assessment cannot be paused around it', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { conversationId, taskId } = await busy(place, engine);
  await engine.stop(0);
  const next = await place.host();
  await restOf(next);
  const said = await type(next, conversationId, `/pause ${taskId}`);
  assert.match(said, new RegExp(`independent check decides by itself.*/stop ${taskId}`, 'u'));
  const verdict = await next.resumeTask({ ...order, taskId });
  assert.equal(verdict.kind === 'refused' && verdict.code, 'not_allowed_now');
  await next.stop(0);
});

test('a task that waits for an answer is paused, and goes on when it is resumed', async () => {
  const place = new Installation();
  const engine = await place.host();
  place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
  const found = await standing(engine);
  assert.equal((await taskOf(engine, found)).waitKind, 'answer');
  await engine.pauseTask({ ...order, taskId: found.taskId });
  const paused = await taskOf(engine, found);
  assert.deepEqual([paused.state, paused.waitKind, paused.waitUntil], ['paused', null, null]);
  place.model.answer = () => says('done');
  await engine.resumeTask({ ...order, taskId: found.taskId });
  await restOf(engine);
  assert.equal((await taskOf(engine, found)).state, 'completed');
  await engine.stop(0);
});

test('a command about a task of another conversation is answered where it was said', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId, conversationId } = await withoutOutcome(place, engine);
  const other = await talkTo(engine, 'elsewhere');
  assert.match(await type(engine, other, `/task-resume ${taskId}`), /goes on/u);
  await restOf(engine);
  assert.equal((await taskOf(engine, { taskId, conversationId })).state, 'completed');
  const typo = `${taskId.slice(0, -1)}${taskId.endsWith('Z') ? 'Y' : 'Z'}`;
  const said = await type(engine, conversationId, `/pause ${typo}`);
  assert.ok(said.includes(taskId) && !said.includes('\n'), said);
  await engine.stop(0);
});
