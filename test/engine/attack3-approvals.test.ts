// Approvals that somebody else has to give, that came while a turn ran, or that nobody gave.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalId } from '../../src/kernel/ids.ts';
import { ADMIN, ANNA, asks, Installation, says, taskIn } from '../support/host.ts';
import { askedIn, eventually, heldCall, pass, restOf, say, talkTo } from '../support/acts.ts';
import { askingToPay } from '../support/orders.ts';
import { mortal } from './upkeep-support.ts';

async function openOnes(place: Installation): Promise<readonly ApprovalId[]> {
  const rows = await place.store.query('approval.list', {
    state: 'open',
    conversationId: '',
    before: '~',
    limit: 10,
  });
  return rows.map(({ id }) => id);
}

test('E-6 a call that needs a second person needs one again when its outcome is unknown', async () => {
  const place = new Installation();
  place.tools.approver = 'other';
  const first = await mortal(place);
  const { approval } = await askingToPay(place, first.engine);
  const begun = Promise.withResolvers<void>();
  place.tools.perform = () => {
    begun.resolve();
    return new Promise(() => {});
  };
  const order = { channel: 'api', decision: 'approve' } as const;
  const given = { ...order, approvalId: approval.id, principal: ADMIN };
  assert.equal((await first.engine.answerApproval(given)).kind, 'answered');
  await begun.promise;
  first.kill();

  const second = await place.host();
  await eventually(async () => (await openOnes(place)).length === 1);
  const [asked] = await openOnes(place);
  assert.ok(asked !== undefined);
  const own = await second.answerApproval({ ...order, approvalId: asked, principal: ANNA });
  assert.equal(own.kind === 'refused' && own.code, 'approver_other');
  await second.stop(0);
});

test('E-4 a call that is approved while its turn runs does not wait for what the turn then waits for', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { conversationId: here, taskId, approval } = await askingToPay(place, engine);
  const held = heldCall();
  place.model.answer = (request) =>
    askedIn(request).startsWith('How is') ? held.hold() : says('done');
  await say(engine, here, `How is ${taskId}?`);
  await held.begun;
  const order = { principal: ANNA, channel: 'api', decision: 'approve' } as const;
  const answered = await engine.answerApproval({ ...order, approvalId: approval.id });
  assert.equal(answered.kind, 'answered');
  held.release(asks(['task_wait', { for: 'instant', seconds: 86_400 }]));
  await restOf(engine);
  assert.equal(place.tools.ran.length, 1);
  await taskIn(engine, here, 'completed');
  await engine.stop(0);
});

test('E-4 nothing but the answer of a person runs what was asked', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { approval } = await askingToPay(place, engine);
  // A platform whose adapter is called so, and whose messages have ids of their sender's choice.
  const there = await engine.openConversation({ channel: 'approval', principal: ANNA });
  await say(engine, there, 'go on', { externalId: approval.id });
  await restOf(engine);
  assert.equal(place.tools.ran.length, 0);
  await engine.stop(0);
});

test('E-2 R-10 a person is asked about an uncertain call of a task that was paused meanwhile', async () => {
  const place = new Installation();
  const first = await mortal(place);
  const begun = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', { euros: 5 }]);
  place.tools.perform = () => {
    begun.resolve();
    return new Promise(() => {});
  };
  const here = await talkTo(first.engine);
  await say(first.engine, here, 'Pay the bill');
  await begun.promise;
  const [task] = await first.engine.store.query('task.openOf', { conversationId: here, limit: 1 });
  assert.ok(task !== undefined);
  const order = { taskId: task.id, principal: ANNA, channel: 'api' } as const;
  assert.equal((await first.engine.pauseTask(order)).kind, 'ordered');
  first.kill();

  const second = await place.host();
  await pass();
  assert.equal((await taskIn(second, here, 'paused')).id, task.id);
  assert.equal((await openOnes(place)).length, 1);
  const codes = (await place.rows('outbox')).map(({ code }) => code);
  assert.deepEqual(codes, ['paused', 'uncertain_effect']);
  await second.stop(0);
});

test('E-4 a call runs when it is approved, though its task has asked about another since', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { conversationId: here, taskId, approval } = await askingToPay(place, engine);
  place.model.answer = (request) =>
    askedIn(request).startsWith('also') ? asks(['pay', { euros: 6 }]) : says('done');
  await say(engine, here, `also for ${taskId}`);
  await restOf(engine);
  const order = { principal: ANNA, channel: 'api', decision: 'approve' } as const;
  const ran = (): readonly string[] => place.tools.ran.map(({ args }) => args);
  for (const id of [approval.id, ...(await openOnes(place)).filter((one) => one !== approval.id)]) {
    const before = ran().length;
    assert.equal((await engine.answerApproval({ ...order, approvalId: id })).kind, 'answered');
    await restOf(engine);
    assert.equal(ran().length, before + 1);
  }
  assert.deepEqual(ran(), ['{"euros":5}', '{"euros":6}']);
  await taskIn(engine, here, 'completed');
  await engine.stop(0);
});
