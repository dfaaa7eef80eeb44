import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ADMIN,
  ANNA,
  asks,
  fails,
  Installation,
  OPTIONS,
  says,
  taskIn,
  until,
} from '../support/host.ts';

async function opened(engine: Awaited<ReturnType<Installation['host']>>) {
  return engine.openConversation({ channel: 'terminal', address: 'terminal', principal: ADMIN });
}

test('T-1 a message is durable before a model is asked and becomes exactly one task', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await opened(engine);
  const accepted = await engine.acceptMessage({ conversationId, text: 'hello', principal: ADMIN });
  assert.equal(accepted.kind, 'accepted');
  assert.equal(place.model.requests.length, 0);
  const task = await taskIn(engine, conversationId, 'completed');
  assert.equal(task.mandateText, 'hello');
  assert.equal((await place.rows('task')).length, 1);
  const [message] = await place.rows('message');
  assert.equal(message?.['state'], 'done');
  const [reply] = await place.rows('outbox');
  assert.equal(reply?.['text'], 'ok');
  assert.equal(message?.['answer_id'], reply?.['id']);
  assert.deepEqual([task.turnsUsed, task.tokensUsed, task.costUsed], [1, 15, 3]);
  await engine.stop(0);
});

test('E-1 each call of a turn is journalled before it runs and saved before the next', async () => {
  const place = new Installation();
  const seen: unknown[] = [];
  place.tools.perform = async (call) => {
    const steps = await place.rows('step');
    seen.push(steps.filter((step) => step['state'] === 'started').map((step) => step['tool']));
    return { kind: 'result', text: `${call.name} ${place.tools.ran.length}` };
  };
  place.model.answer = (request) =>
    request.messages.some((message) => message.role === 'tool')
      ? says('all looked at')
      : asks(['look', { at: 1 }], ['look', { at: 2 }], ['pay', { sum: 3 }]);
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'look and pay', principal: ANNA });
  assert.equal(run.kind, 'accepted');
  if (run.kind !== 'accepted') return;
  await taskIn(engine, run.conversationId, 'completed');
  assert.deepEqual(seen, [['look'], ['look'], ['pay']]);
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => step['ordinal']),
    [1, 2, 3, 4, 5],
  );
  assert.ok(steps.every((step) => step['state'] === 'finished'));
  const last = place.model.requests.at(-1)?.messages ?? [];
  assert.deepEqual(
    last.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'tool'],
  );
  await engine.stop(0);
});

test('W-1 a stop is committed first, ends the running call and frees the conversation', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', { sum: 1 }]);
  place.tools.perform = (_call, signal) => {
    started.resolve();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () =>
        resolve({ kind: 'error', code: 'ended', text: 'ended' }),
      );
    });
  };
  const engine = await place.host();
  const conversationId = await opened(engine);
  await engine.acceptMessage({ conversationId, text: 'pay it', principal: ADMIN });
  await started.promise;
  const command = await engine.acceptMessage({ conversationId, text: '/stop', principal: ADMIN });
  assert.equal(command.kind, 'accepted');
  const task = await taskIn(engine, conversationId, 'stopped');
  await until(
    engine,
    conversationId,
    async () => (await place.rows('turn'))[0]?.['state'] === 'ended',
  );
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => [step['tool'], step['state']]),
    [
      [null, 'finished'],
      ['pay', 'cut'],
    ],
  );
  const [conversation] = await place.rows('conversation');
  assert.equal(conversation?.['turn_id'], null);
  assert.equal(task.reason, 'stopped_by_person');
  place.model.answer = () => says('next');
  await engine.acceptMessage({ conversationId, text: 'next', principal: ADMIN });
  await taskIn(engine, conversationId, 'completed');
  await engine.stop(0);
});

test('an interrupted turn leaves its task waiting for an assessment, tells nobody of it and asks once about its call', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', { sum: 1 }]);
  place.tools.perform = () => {
    started.resolve();
    return new Promise(() => {});
  };
  const first = await place.host();
  const run = await first.acceptRun({ input: 'pay the bill', principal: ANNA });
  assert.equal(run.kind, 'accepted');
  await started.promise;
  for (const pid of [2, 3]) {
    const next = await place.host({ options: { ...OPTIONS, pid } });
    await next.stop(0);
  }
  const [task] = await place.rows('task');
  assert.deepEqual(
    [task?.['state'], task?.['wait_kind'], task?.['reason']],
    ['waiting', 'assessment', 'interrupted'],
  );
  const notices = await place.rows('outbox');
  assert.deepEqual(
    notices.map((notice) => [notice['code'], notice['level']]),
    [['uncertain_effect', 'escalation']],
  );
  const approvals = await place.rows('approval');
  assert.deepEqual(
    approvals.map((approval) => [approval['kind'], approval['state'], approval['tool']]),
    [['uncertain', 'open', 'pay']],
  );
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  assert.equal(place.tools.ran.length, 1);
});

test('T-8 a turn without an outcome gets one corrective turn, then the task is blocked', async () => {
  const place = new Installation();
  place.model.answer = () => says('  ');
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'say something', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const task = await taskIn(engine, run.conversationId, 'blocked');
  assert.equal(task.reason, 'no_outcome');
  assert.equal(place.model.requests.length, 2);
  const [row] = await place.rows('run');
  assert.deepEqual([row?.['state'], row?.['outcome_code']], ['failed', 'no_outcome']);
  assert.deepEqual(
    (await place.rows('outbox')).map((notice) => notice['code']),
    ['no_outcome'],
  );
  await engine.stop(0);
});

test('T-16 a refused model ends the task with a visible last word', async () => {
  const place = new Installation();
  place.model.answer = () => fails('refused', 'http_401');
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'anything', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const task = await taskIn(engine, run.conversationId, 'failed');
  assert.equal(task.reason, 'model_refused');
  assert.equal(place.model.requests.length, 1);
  const notices = await place.rows('outbox');
  assert.deepEqual(
    notices.map((notice) => notice['code']),
    ['model_refused'],
  );
  const { provider, name } = place.model;
  assert.match(String(notices[0]?.['params']), new RegExp(`"model":"${provider}/${name}"`));
  await engine.stop(0);
});
