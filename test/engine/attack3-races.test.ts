// What moves between a look and its commit: stops, pauses, drains, other hosts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../../src/kernel/time.ts';
import { ADMIN, ANNA, asks, fails, Installation, says, taskIn } from '../support/host.ts';
import {
  askedIn,
  eventually,
  heldCall,
  pass,
  restOf,
  say,
  talkTo,
  watched,
} from '../support/acts.ts';
import { askingToPay } from '../support/orders.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

const BY_ANNA = { principal: ANNA, channel: 'api' } as const;

test('V2 T-2 a message that is being kept for a task that is stopped meanwhile is answered', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'Count the files'
      ? fails('transient', 'http_429', { retryAt: place.clock.now() + 10 * MINUTE })
      : says('something new');
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store });
  const here = await talkTo(engine);
  await say(engine, here, 'Count the files');
  const { id: taskId } = await taskIn(engine, here, 'waiting');
  let isFirst = true;
  store.mishap = async ({ unit }) => {
    if (unit !== 'inbox.keep' || !isFirst) return undefined;
    isFirst = false;
    assert.equal((await engine.stopTask({ ...BY_ANNA, taskId })).kind, 'stopped');
    return undefined;
  };
  const id = await say(engine, here, `How is ${taskId}?`);
  await restOf(engine);
  assert.equal(isFirst, false);
  const message = await engine.store.query('message.byId', { id });
  assert.notEqual(message?.state, 'unclaimed', 'a turn has it, or it is answered');
  await engine.stop(0);
});

test('R-1 a host that drains while a message is classified leaves it for the next', async () => {
  const place = new Installation();
  const asked = heldCall();
  place.classifier.answer = () => asked.hold();
  place.model.answer = (request) =>
    askedIn(request) === 'remind me'
      ? asks(['task_wait', { for: 'instant', seconds: 86_400 }])
      : new Promise(() => {});
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'remind me');
  await taskIn(engine, here, 'waiting');
  const id = await say(engine, here, 'something else');
  await asked.begun;
  const stopped = engine.stop(0);
  await pass();
  asked.release(says('{"taskId":null,"reason":"new"}'));
  await stopped;
  const message = await place.store.query('message.byId', { id });
  assert.equal(message?.state, 'unclaimed');
  assert.equal(
    (await place.rows('task')).filter(({ reason }) => reason === 'interrupted').length,
    0,
  );
});

test('T-12 a task that was paused and resumed before its turn had called anything goes on', async () => {
  const place = new Installation();
  place.model.alive = false;
  place.model.answer = () => fails('transient', 'connect');
  let taskId: `task_${string}` | undefined;
  const store = watched(place.store, async ({ name }) => {
    if (name !== 'turn.claim' || taskId === undefined) return;
    const order = { ...BY_ANNA, taskId };
    taskId = undefined;
    assert.equal((await engine.pauseTask(order)).kind, 'ordered');
    assert.equal((await engine.resumeTask(order)).kind, 'ordered');
  });
  const engine = await place.host({ store });
  const first = await talkTo(engine, 'first');
  await say(engine, first, 'sink the account');
  await eventually(async () => {
    place.clock.advance(MINUTE);
    const [task] = await engine.store.query('task.openOf', { conversationId: first, limit: 1 });
    return task?.waitKind === 'provider';
  });
  const here = await talkTo(engine);
  const run = await engine.acceptRun({ input: 'work', principal: ANNA, conversationId: here });
  assert.equal(run.kind, 'accepted');
  if (run.kind === 'accepted') taskId = run.taskId;
  await restOf(engine);
  const [task] = await engine.store.query('task.openOf', { conversationId: here, limit: 1 });
  assert.equal(taskId, undefined, 'it was paused');
  assert.equal(task?.waitKind, 'provider');
  await engine.stop(0);
});

test('V14 V4 a claim whose commit was not seen runs nothing once its task was stopped elsewhere', async () => {
  const place = new Installation({ exclusive: false });
  const other = await place.host({ clock: new QuickClock() });
  let isClaimed = false;
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store, clock: new QuickClock() });
  const { taskId, approval } = await askingToPay(place, engine);
  store.mishap = async ({ unit }) => {
    if (unit !== 'turn.claim') return undefined;
    if (isClaimed) {
      await other.stopTask({ principal: ADMIN, channel: 'api', taskId });
      return undefined;
    }
    isClaimed = true;
    return 'unseen';
  };
  const order = { ...BY_ANNA, decision: 'approve', approvalId: approval.id } as const;
  assert.equal((await engine.answerApproval(order)).kind, 'answered');
  await restOf(engine);
  assert.equal(isClaimed, true);
  assert.deepEqual(place.tools.ran, []);
  await eventually(async () => (await place.rows('turn')).every(({ state }) => state === 'ended'));
  await engine.stop(0);
  await other.stop(0);
});

test('T-1 V20 a message that was bound while another host looked at it begins no task of its own', async () => {
  const place = new Installation({ exclusive: false });
  const held = heldCall();
  place.model.answer = () => (place.model.requests.length === 1 ? held.hold() : says('done'));
  const own = new ShakyStore(place.store);
  const engine = await place.host({ store: own });
  const here = await talkTo(engine);
  await say(engine, here, 'Count the files');
  await held.begun;

  const looked = Promise.withResolvers<void>();
  const mayGo = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit !== 'turn.claim') return undefined;
    looked.resolve();
    await mayGo.promise;
    return undefined;
  });
  const other = await place.host({ store });
  await say(other, here, 'and the folders');
  await looked.promise;
  // The turn ends without an outcome: what was said meanwhile is its task's next input.
  const late = Promise.withResolvers<void>();
  own.mishap = async ({ unit }) => {
    if (unit === 'turn.claim') await late.promise;
    return undefined;
  };
  held.release(says(''));
  await eventually(async () => (await place.rows('turn')).some(({ end }) => end === 'invalid'));
  mayGo.resolve();
  await taskIn(other, here, 'completed');
  late.resolve();
  await restOf(engine);
  assert.deepEqual(
    (await place.rows('task')).map(({ state }) => state),
    ['completed'],
  );
  await engine.stop(0);
  await other.stop(0);
});
