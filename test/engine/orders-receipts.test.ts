import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyAudit } from '../../src/engine/audit/verify.ts';
import { everyRow, heldCall, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, BEN, fails, Installation } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { askingToPay, taskOf, type, withoutOutcome } from '../support/orders.ts';

test('a receipt is looked at before the version, and gives its first outcome for ever', async () => {
  const place = new Installation();
  const engine = await place.host();
  const found = await withoutOutcome(place, engine);
  const { version } = await taskOf(engine, found);
  const given = { taskId: found.taskId, principal: ANNA, channel: 'api', receiptId: 'r1' };
  const order = { ...given, expectedVersion: version };
  const first = await engine.resumeTask(order);
  assert.ok(first.kind === 'ordered' && !first.repeated);
  await restOf(engine);
  assert.equal((await taskOf(engine, found)).state, 'completed');
  const rows = await everyRow(place);
  const again = await engine.resumeTask(order);
  assert.ok(again.kind === 'ordered' && again.repeated);
  assert.deepEqual(again.task, first.task);
  assert.deepEqual(await everyRow(place), rows, 'nothing changed');
  await engine.stop(0);
});

test('a receipt that was used for another order, subject or content is refused', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId, approval, conversationId } = await askingToPay(place, engine);
  const given = { principal: ADMIN, channel: 'api', receiptId: 'r1' };
  const grant = { turns: 1 };
  const extend = { ...given, taskId, grant, fingerprint: 'a' };
  assert.equal((await engine.extendTask(extend)).kind, 'ordered');
  const refused = [
    await engine.extendTask({ ...extend, fingerprint: 'b' }),
    await engine.pauseTask({ ...given, taskId, fingerprint: 'a' }),
    await engine.stopTask({ ...given, taskId, fingerprint: 'a' }),
    await engine.answerApproval({ ...given, approvalId: approval.id, decision: 'approve' }),
  ];
  for (const verdict of refused)
    assert.equal(verdict.kind === 'refused' && verdict.code, 'receipt_used');
  const task = await taskOf(engine, { taskId, conversationId });
  assert.deepEqual([task.state, task.turnsLimit], ['waiting', 51]);
  const own = { ...given, principal: ANNA };
  assert.equal(
    (await engine.pauseTask({ ...own, taskId })).kind,
    'ordered',
    'it is one principal’s',
  );
  await engine.stop(0);
});

test('a stop under its receipt gives what ran at the first, and stops nothing again', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = (_request, signal) => {
    signal.addEventListener('abort', () => call.release(fails('transient', 'cut')));
    return call.hold();
  };
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'think');
  await call.begun;
  const [task] = await engine.store.query('task.openOf', { conversationId, limit: 1 });
  assert.ok(task !== undefined);
  const order = { taskId: task.id, principal: ANNA, channel: 'api', receiptId: 'r1' };
  const first = await engine.stopTask(order);
  assert.ok(first.kind === 'stopped' && first.repeated !== true);
  assert.deepEqual(first.running, ['model']);
  await restOf(engine);
  const again = await engine.stopTask(order);
  assert.ok(again.kind === 'stopped' && again.repeated === true);
  assert.deepEqual([again.running, again.task], [['model'], first.task]);
  await engine.stop(0);
});

test('what an admin orders about another’s task is chained in the log, an own order is not', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId, approval, conversationId } = await askingToPay(place, engine);
  await type(engine, conversationId, `/pause ${taskId}`, ANNA);
  await type(engine, conversationId, `/task-resume ${taskId}`, ADMIN);
  await restOf(engine);
  await type(engine, conversationId, `/deny ${approval.id}`, ADMIN);
  await restOf(engine);
  const next = await askingToPay(place, engine);
  await type(engine, conversationId, `/approve ${next.approval.id}`, ANNA);
  await restOf(engine);
  const last = await withoutOutcome(place, engine);
  await engine.stopTask({ taskId: last.taskId, principal: ADMIN, channel: 'terminal' });
  await type(engine, conversationId, '/model configured-model', ADMIN);
  const rows = await place.rows('audit');
  assert.deepEqual(
    rows.map((entry) => [entry['action'], entry['channel'], entry['subject_id']]),
    [
      ['task.resume', 'api', taskId],
      ['approval.deny', 'api', approval.id],
      ['task.stop', 'terminal', last.taskId],
      ['conversation.model', 'api', conversationId],
    ],
  );
  assert.deepEqual(await verifyAudit(engine.parts), { kind: 'whole', entries: 4 });
  await engine.stop(0);
});

test('nobody else’s order leaves anything behind', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { taskId, approval } = await askingToPay(place, engine);
  const rows = await everyRow(place);
  const given = { taskId, principal: BEN, channel: 'api', receiptId: 'r1' };
  for (const verdict of [
    await engine.stopTask(given),
    await engine.pauseTask(given),
    await engine.resumeTask(given),
    await engine.extendTask({ ...given, grant: { turns: 1 } }),
    await engine.extendTask({ ...given, principal: ANNA, grant: { turns: 1 } }),
    await engine.answerApproval({ ...given, approvalId: approval.id, decision: 'deny' }),
  ])
    assert.equal(verdict.kind === 'refused' && verdict.code, 'forbidden');
  assert.deepEqual(await everyRow(place), rows);
  await engine.stop(0);
});

test('a command about another conversation that a crash left unanswered is not carried out again', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store);
  const dead = await place.host({ store });
  const { taskId, conversationId } = await askingToPay(place, dead);
  const elsewhere = await talkTo(dead, 'elsewhere');
  const dying = Promise.withResolvers<void>();
  store.mishap = ({ unit }) => {
    if (unit !== 'command.answer') return undefined;
    dying.resolve();
    return 'hangs';
  };
  const text = `/extend ${taskId} turns=+5`;
  const id = await say(dead, elsewhere, text, { principal: ADMIN });
  await dying.promise;
  assert.equal((await taskOf(dead, { taskId, conversationId })).turnsLimit, 55);
  const next = await place.host();
  await restOf(next);
  assert.equal((await taskOf(next, { taskId, conversationId })).turnsLimit, 55, 'granted once');
  const message = await next.store.query('message.byId', { id });
  const answer = await next.store.query('outbox.byId', { id: message?.answerId ?? 'out_0' });
  assert.match(answer?.text ?? '', /“Pay the bill” has more to spend/u);
  assert.equal((await place.rows('audit')).length, 1);
  await next.stop(0);
});
