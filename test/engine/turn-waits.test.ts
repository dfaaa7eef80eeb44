import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { ADMIN, ANNA, asks, fails, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { askedIn, eventually, order, pass, restOf, say, talkTo, wordsOf } from '../support/acts.ts';

test('T-6 a question ends the turn, and its answer goes on with it', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'book it'
      ? asks(['task_wait', { for: 'answer', question: 'Which day?' }])
      : says(`booked for ${askedIn(request)}`);
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'book it');
  const waiting = await taskIn(engine, here, 'waiting');
  assert.deepEqual([waiting.reason, waiting.waitQuestion], ['awaits_answer', 'Which day?']);
  assert.equal(waiting.waitUntil, waiting.changedAt + LIMITS.answerWaitMs);
  await say(engine, here, 'Friday');
  const done = await taskIn(engine, here, 'completed');
  assert.equal(done.id, waiting.id);
  assert.deepEqual((await place.rows('outbox')).map(wordsOf), ['Which day?', 'booked for Friday']);
  assert.equal(place.classifier.requests.length, 0, 'the one question needs no classifier');
  assert.equal((await place.rows('message')).filter(({ state }) => state !== 'done').length, 0);
  await engine.stop(0);
});

test('T-6 a wait for an instant becomes due by itself, and a question that nobody answers blocks', async () => {
  const place = new Installation();
  place.model.answer = (request) => {
    if (askedIn(request) === 'remind me')
      return asks(['task_wait', { for: 'instant', seconds: 90 }]);
    if (askedIn(request) === 'ask me')
      return asks(['task_wait', { for: 'answer', question: 'What?' }]);
    return says('now');
  };
  const engine = await place.host();
  const here = await talkTo(engine, 'one');
  const there = await talkTo(engine, 'two');
  await say(engine, here, 'remind me');
  await taskIn(engine, here, 'waiting');
  await say(engine, there, 'ask me');
  await taskIn(engine, there, 'waiting');
  await place.clock.sleeper(90 * SECOND);
  place.clock.advance(90 * SECOND);
  await taskIn(engine, here, 'completed');
  place.clock.advance(LIMITS.answerWaitMs);
  const blocked = await taskIn(engine, there, 'blocked');
  assert.equal(blocked.reason, 'wait_elapsed');
  assert.equal((await engine.resumeTask(orderOf(blocked.id))).kind, 'ordered');
  await taskIn(engine, there, 'completed');
  await engine.stop(0);
});

function orderOf(taskId: `task_${string}`) {
  return { taskId, principal: ANNA, channel: 'api' } as const;
}

test('T-7 continuations in a row are bounded; only a person breaks the row', async () => {
  const place = new Installation();
  let rounds = 0;
  place.model.answer = () => {
    rounds += 1;
    return asks(['task_continue', { note: `round ${rounds}` }]);
  };
  const engine = await place.host({ options: { ...OPTIONS, continuationsLimit: 2 } });
  const here = await talkTo(engine);
  await say(engine, here, 'go on and on');
  const blocked = await taskIn(engine, here, 'blocked');
  assert.deepEqual([blocked.reason, rounds], ['budget_exhausted', 3]);
  assert.match(blocked.outcomeData ?? '', /continuations=\+2/);
  const grant = { continuations: 2 };
  const extend = { ...orderOf(blocked.id), principal: ADMIN, grant };
  assert.equal((await engine.extendTask(extend)).kind, 'ordered');
  await eventually(() => rounds === 5);
  await engine.stop(0);
});

test('T-7 a budget is checked before the spend: turns, tokens, cost', async () => {
  for (const [limit, used] of [
    [{ tokensLimit: 30 }, 2],
    [{ costLimitMicroUsd: 4 }, 2],
  ] as const) {
    const place = new Installation();
    place.model.answer = () => asks(['look', { at: place.model.requests.length }]);
    const engine = await place.host({ options: { ...OPTIONS, ...limit } });
    const here = await talkTo(engine);
    await say(engine, here, 'look around');
    const blocked = await taskIn(engine, here, 'blocked');
    assert.equal(blocked.reason, 'budget_exhausted');
    assert.equal(place.model.requests.length, used, JSON.stringify(limit));
    await engine.stop(0);
  }
});

test('T-7 a deadline that passes during a turn expires the task', async () => {
  const place = new Installation();
  place.model.answer = () => {
    place.clock.advance(HOUR);
    return asks(['look', {}]);
  };
  const engine = await place.host({ options: { ...OPTIONS, deadlineMs: 30 * MINUTE } });
  const run = await order(engine, 'look around');
  await taskIn(engine, run.conversationId, 'expired');
  await restOf(engine);
  const [ended] = await place.rows('run');
  assert.deepEqual([ended?.['state'], ended?.['outcome_code']], ['failed', 'deadline_passed']);
  await engine.stop(0);
});

test('T-12 a quota whose end is named parks the turn; what was done is not repeated', async () => {
  const place = new Installation();
  const until = place.clock.now() + 5 * HOUR;
  let calls = 0;
  place.model.answer = () => {
    calls += 1;
    if (calls === 1) return asks(['pay', { to: 'Ben' }]);
    return place.clock.now() < until
      ? fails('transient', 'http_429', { retryAt: until })
      : says('paid');
  };
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'pay Ben');
  const waiting = await taskIn(engine, here, 'waiting');
  assert.deepEqual([waiting.waitKind, waiting.waitUntil], ['quota', until]);
  assert.deepEqual(
    (await place.rows('turn')).map(({ end }) => end),
    ['parked'],
  );
  await place.clock.sleeper(5 * HOUR);
  place.clock.advance(5 * HOUR);
  await taskIn(engine, here, 'completed');
  assert.deepEqual([calls, place.tools.ran.length], [3, 1]);
  const last = place.model.requests.at(-1);
  assert.deepEqual(
    last?.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  );
  await engine.stop(0);
});

test('T-18 a call that fails is tried again five times, then each fallback once, then it waits', async () => {
  const place = new Installation();
  place.model.answer = () => fails('transient', 'http_503');
  const other = new Installation().model;
  other.answer = () => fails('transient', 'connect');
  Object.defineProperty(other, 'name', { value: 'other' });
  const engine = await place.host({ fallbacks: [other] });
  const here = await talkTo(engine);
  await say(engine, here, 'hello');
  const begun = place.clock.now();
  await eventually(async () => {
    await pass(5);
    place.clock.advance(SECOND);
    return other.requests.length > 0;
  });
  assert.ok(place.clock.now() - begun >= (1 + 2 + 4 + 8 + 16) * SECOND);
  const waiting = await taskIn(engine, here, 'waiting');
  assert.equal(waiting.reason, 'awaits_provider');
  assert.equal(place.model.requests.length, 1 + LIMITS.modelRetriesMax);
  assert.equal(other.requests.length, 1);
  const [step] = await place.rows('step');
  assert.equal(step?.['tries'], 2 + LIMITS.modelRetriesMax);
  const retried = (await place.rows('event')).filter(({ type }) => type === 'model.retried');
  assert.equal(retried.length, 1 + LIMITS.modelRetriesMax);
  await engine.stop(0);
});

test('T-12 a permanent refusal is told apart and never retried; the fallback goes on from the journal', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    request.messages.some(({ role }) => role === 'tool')
      ? fails('refused', 'http_402', { scope: 'account' })
      : asks(['pay', {}]);
  const other = new Installation().model;
  Object.defineProperty(other, 'name', { value: 'other' });
  other.answer = () => says('done by the other');
  const engine = await place.host({ fallbacks: [other] });
  const here = await talkTo(engine);
  await say(engine, here, 'pay');
  await taskIn(engine, here, 'completed');
  assert.deepEqual([place.model.requests.length, other.requests.length], [2, 1]);
  assert.equal(place.tools.ran.length, 1);
  await engine.stop(0);
});

test('E-4 a call that needs approval waits, survives a restart and runs exactly once as shown', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  place.model.answer = (request) =>
    askedIn(request) === 'pay Ben' ? asks(['pay', { to: 'Ben' }], ['look', {}]) : says('paid');
  const first = await place.host();
  const here = await talkTo(first);
  await say(first, here, 'pay Ben');
  const waiting = await taskIn(first, here, 'waiting');
  assert.equal(waiting.reason, 'awaits_approval');
  assert.equal(place.tools.ran.length, 0);
  await first.stop(DAY);
  const engine = await place.host();
  const approvalId = waiting.waitId as `appr_${string}`;
  const given = { approvalId, decision: 'approve', principal: ANNA, channel: 'api' } as const;
  assert.equal((await engine.answerApproval(given)).kind, 'answered');
  const again = await engine.answerApproval(given);
  assert.equal(again.kind === 'refused' && again.code, 'approval_closed');
  await taskIn(engine, here, 'completed');
  assert.deepEqual(
    place.tools.ran.map(({ name }) => name),
    ['pay'],
  );
  await engine.stop(0);
});

test('E-4 what is not what was shown does not run', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  place.model.answer = (request) =>
    askedIn(request) === 'pay Ben' ? asks(['pay', { to: 'Ben' }]) : says('not paid');
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'pay Ben');
  const { waitId } = await taskIn(engine, here, 'waiting');
  place.tools.show = (call) => ({
    argv: [call.name, call.args],
    folder: '/elsewhere',
    env: {},
    files: [],
  });
  const approvalId = waitId as `appr_${string}`;
  await engine.answerApproval({ approvalId, decision: 'approve', principal: ANNA, channel: 'api' });
  await taskIn(engine, here, 'completed');
  assert.equal(place.tools.ran.length, 0);
  await engine.stop(0);
});
