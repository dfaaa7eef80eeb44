import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelOutcome } from '../../src/ports/model.ts';
import {
  ADMIN,
  ANNA,
  asks,
  BEN,
  Installation,
  OPTIONS,
  says,
  taskIn,
  until,
} from '../support/host.ts';
import { requestTokens } from '../../src/testing/model-strict-port.ts';
import { ShakyStore } from '../support/store-faults.ts';

test('INC-006 a plain message is answered after a turn that filled the whole window', async () => {
  const place = new Installation();
  place.model.strictWindow = place.model.contextWindow;
  place.tools.perform = () => ({ kind: 'result', text: 'x'.repeat(30_000) });
  place.model.answer = (request) => {
    const last = request.messages.findLast(({ role }) => role === 'user');
    const { length: done } = place.tools.ran;
    if (last?.text === 'hello') return says('hello back');
    return done < 30 ? asks(['look', { n: done }]) : says('all read');
  };
  const engine = await place.host();
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  await engine.acceptMessage({ conversationId, text: 'read all', principal: ANNA });
  await taskIn(engine, conversationId, 'completed');
  assert.equal(place.tools.ran.length, 30, 'the session was maintained and the work went on');
  assert.ok((await place.rows('operation')).length > 0);
  await engine.acceptMessage({ conversationId, text: 'hello', principal: ANNA });
  await until(engine, conversationId, async () => (await place.rows('outbox')).length === 2);
  const { requests, contextWindow } = place.model;
  assert.ok(requests.every((request) => requestTokens(request) <= contextWindow));
  const { messages } = requests.at(-1) ?? assert.fail();
  assert.equal(messages.at(-1)?.text, 'hello');
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.calls : []));
  assert.equal(messages.filter(({ role }) => role === 'tool').length, calls.length);
  await engine.stop(0);
});

test('T-10 a turn reads its own inputs however many messages came before', async () => {
  const place = new Installation();
  const first = Promise.withResolvers<ModelOutcome>();
  const asked = Promise.withResolvers<void>();
  place.model.answer = () => {
    asked.resolve();
    return place.model.requests.length === 1 ? first.promise : says('ok');
  };
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'start', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const { runId, conversationId } = run;
  await asked.promise;
  for (let n = 0; n < 450; n += 1)
    await engine.messageRun({ runId, text: `m${n}`, principal: ANNA });
  first.resolve(says('so far'));
  await taskIn(engine, conversationId, 'completed');
  const told = (await place.rows('outbox')).length;
  await engine.acceptMessage({ conversationId, text: 'the newest words', principal: ANNA });
  await until(engine, conversationId, async () => (await place.rows('outbox')).length > told);
  assert.equal(place.model.requests.at(-1)?.messages.at(-1)?.text, 'the newest words');
  await engine.stop(0);
});

test('T-8 a reply that said nothing is not shown to the model as its own words', async () => {
  const place = new Installation();
  place.model.answer = () => (place.model.requests.length === 1 ? says(' ') : says('there'));
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'say something', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await taskIn(engine, run.conversationId, 'completed');
  assert.deepEqual(
    place.model.requests[1]?.messages.map(({ role }) => role),
    ['user', 'user'],
  );
  await engine.stop(0);
});

test('T-8 a corrective turn behind another message says which request it is about', async () => {
  const place = new Installation();
  const first = Promise.withResolvers<ModelOutcome>();
  const asked = Promise.withResolvers<void>();
  place.model.answer = () => {
    asked.resolve();
    return place.model.requests.length === 1 ? first.promise : says('ok');
  };
  // A message that steers is bound to the request that it stands behind, and needs no such words.
  const engine = await place.host({ options: { ...OPTIONS, whileBusy: 'wait' } });
  const run = await engine.acceptRun({ input: 'count the files', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await asked.promise;
  await engine.acceptMessage({
    conversationId: run.conversationId,
    text: 'and the weather?',
    principal: ANNA,
  });
  first.resolve(says(''));
  await until(
    engine,
    run.conversationId,
    async () => (await place.rows('run'))[0]?.['state'] === 'completed',
  );
  assert.equal(place.model.requests.length, 3);
  assert.match(place.model.requests[2]?.messages.at(-1)?.text ?? '', /count the files/u);
  await engine.stop(0);
});

test('T-19 a turn without progress is told so, once, and then its task is blocked', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', { n: 1 }]);
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'look', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const task = await taskIn(engine, run.conversationId, 'blocked');
  assert.equal(task.reason, 'no_progress');
  assert.equal(place.tools.ran.length, 6);
  const corrective = place.model.requests[3]?.messages.at(-1)?.text ?? '';
  assert.match(corrective, /same tool call/u);
  await engine.stop(0);
});

test("a person's message that came during a second empty turn gets a turn of its own", async () => {
  const place = new Installation();
  const second = Promise.withResolvers<ModelOutcome>();
  const asked = Promise.withResolvers<void>();
  place.model.answer = () => {
    const count = place.model.requests.length;
    if (count === 2) asked.resolve();
    if (count === 1) return says('');
    return count === 2 ? second.promise : says('here you are');
  };
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'say', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await asked.promise;
  const further = await engine.messageRun({ runId: run.runId, text: 'please', principal: ANNA });
  assert.equal(further.kind, 'accepted');
  second.resolve(says(''));
  const task = await taskIn(engine, run.conversationId, 'completed');
  assert.equal(task.correctionsUsed, 0);
  const messages = await place.rows('message');
  assert.ok(messages.every((message) => message['state'] === 'done'));
  assert.equal((await place.rows('outbox')).length, 1);
  await engine.stop(0);
});

test('a message joins a run only from its own principal or an admin', async () => {
  const place = new Installation();
  const answer = Promise.withResolvers<ModelOutcome>();
  place.model.answer = () => answer.promise;
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'mine', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const { runId } = run;
  const bens = await engine.messageRun({ runId, text: 'obey', principal: BEN });
  assert.deepEqual([bens.kind, 'code' in bens && bens.code], ['refused', 'forbidden']);
  const admins = await engine.messageRun({ runId, text: 'go on', principal: ADMIN });
  assert.equal(admins.kind, 'accepted');
  answer.resolve(says('done'));
  await taskIn(engine, run.conversationId, 'completed');
  const late = await engine.messageRun({ runId, text: 'late', principal: ANNA });
  assert.deepEqual([late.kind, 'code' in late && late.code], ['refused', 'run_ended']);
  assert.equal((await place.rows('message')).length, 2);
  await engine.stop(0);
});

test('T-10 a message to an interrupted run holds back nothing and ends with its stop', async () => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const dead = await place.host();
  const run = await dead.acceptRun({ input: 'cut off', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  while ((await place.rows('step')).length === 0) await new Promise(setImmediate);
  place.model.answer = () => says('ok');
  const engine = await place.host();
  const { conversationId, runId, taskId } = run;
  const further = await engine.messageRun({ runId, text: 'well?', principal: ANNA });
  if (further.kind !== 'accepted') assert.fail();
  await engine.acceptMessage({ conversationId, text: 'something else', principal: ANNA });
  await taskIn(engine, conversationId, 'completed');
  const kept = await engine.store.query('message.byId', { id: further.messageId });
  assert.equal(kept?.state, 'unclaimed');
  await engine.stopTask({ taskId, principal: ANNA, channel: 'api' });
  const states = (await place.rows('message')).map((message) => message['state']);
  assert.deepEqual(new Set(states), new Set(['done']));
  assert.equal((await place.rows('run'))[0]?.['state'], 'cancelled');
  await engine.stop(0);
});

test('a message that races with the answer is answered once or refused', async () => {
  for (let delay = 0; delay < 8; delay += 1) {
    const place = new Installation();
    const reached = Promise.withResolvers<void>();
    const store = new ShakyStore(place.store, ({ unit }) => {
      if (unit === 'turn.end') reached.resolve();
      return undefined;
    });
    place.model.answer = () => says(`answer ${place.model.requests.length}`);
    const engine = await place.host({ store });
    const run = await engine.acceptRun({ input: 'go', principal: ANNA });
    if (run.kind !== 'accepted') assert.fail();
    if (delay > 0) await reached.promise;
    for (let turn = 1; turn < delay; turn += 1) await Promise.resolve();
    const { runId } = run;
    const further = await engine.messageRun({ runId, text: 'more', principal: ANNA });
    await taskIn(engine, run.conversationId, 'completed');
    const messages = await place.rows('message');
    assert.equal(messages.length, further.kind === 'accepted' ? 2 : 1);
    assert.ok(messages.every((message) => message['state'] === 'done'));
    // Each has its answer; both have the same when it arrived before there was one.
    const told = (await place.rows('outbox')).map(({ id }) => id);
    const answers = new Set(messages.map((message) => message['answer_id']));
    assert.deepEqual(answers, new Set(told));
    await engine.stop(0);
  }
});
