import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RECOVERY_FAILURES } from '../../src/core/maintenance/record.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { eventually, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  asks,
  BEN,
  fails,
  Installation,
  says,
  sumsUp,
  taskIn,
} from '../support/host.ts';
import {
  comesTo,
  elapse,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
} from '../engine/maintenance-support.ts';

test('INC-011 one failure is followed by a second try that succeeds, and nothing of it is left', async () => {
  const place = new Installation();
  place.model.contextWindow = 8_000;
  place.model.strictWindow = 8_000;
  let output = 'r'.repeat(20_000);
  place.tools.perform = () => ({ kind: 'result', text: output });
  place.model.answer = ({ messages }) =>
    messages.at(-1)?.role === 'tool' || place.tools.ran.length > 2
      ? says(`read ${place.tools.ran.length}`)
      : asks(['look', { part: place.tools.ran.length }]);
  let calls = 0;
  place.summariser.answer = () => {
    calls += 1;
    return calls === 1 ? fails('transient', 'http_500') : sumsUp('all of it');
  };
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  await say(engine, here, 'read it');
  await comesTo(engine, here, 'waiting');
  assert.equal((await engine.recoveryStatus(here)).failures, 1);
  output = 'short';
  await elapse(place, 2 * SECOND);
  await eventually(async () => (await repliesIn(place, here)).length === 1);
  assert.equal(calls, 2);
  // A latch would refuse every later turn: each is answered, and the next operation counts from 0.
  for (let n = 0; n < 5; n += 1) {
    await say(engine, here, `go on ${n}`);
    await restOf(engine);
  }
  assert.equal((await repliesIn(place, here)).length, 6);
  const { state, failures } = await engine.recoveryStatus(here);
  assert.deepEqual([state, failures], ['none', 0]);
  place.model.strictWindow = null;
  place.model.answer = () => saysFull('full', 7_900);
  await say(engine, here, 'and again');
  await restOf(engine);
  const next = await comesTo(engine, here, 'done');
  assert.deepEqual([next.failures, next.lifetimeFailures], [0, 0]);
});

test('INC-011 seven failures are shown with their reason, and what comes back by itself is kept and delivered after an admission', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  place.summariser.answer = () => fails('transient', 'http_503');
  place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 90 }]);
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  await say(engine, here, 'remind me');
  await taskIn(engine, here, 'waiting');
  place.model.answer = () => asks(['pay', { amount: 1 }]);
  await say(engine, here, 'pay it', { principal: BEN });
  await eventually(async () => (await place.rows('approval')).length === 1);
  place.model.answer = () => saysFull('read');
  await say(engine, here, 'fill it up', { principal: ADMIN });
  await comesTo(engine, here, 'waiting');
  await elapse(place, 70 * SECOND);
  const { id, version } = await comesTo(engine, here, 'blocked');

  const status = await engine.recoveryStatus(here);
  assert.deepEqual([status.reason, status.failures], ['exhausted', MAX_RECOVERY_FAILURES]);
  await say(engine, here, '/status');
  await restOf(engine);
  const answer = (await place.rows('outbox')).findLast(({ kind }) => kind === 'answer');
  assert.match(wordsOf(answer ?? {}), new RegExp(`failed seven times[^]*/why ${id}`));
  const notice = (await place.rows('outbox')).find(({ code }) => code === 'maintenance_exhausted');
  assert.match(wordsOf(notice ?? {}), /503/);

  // Behind the fence an instant comes and an approval is answered.
  const [approval] = await place.rows('approval');
  const approvalId = approval?.['id'] as never;
  await engine.answerApproval({ approvalId, decision: 'approve', principal: BEN, channel: 'api' });
  await elapse(place, 60 * SECOND);
  assert.deepEqual(place.tools.ran, []);
  const before = await repliesIn(place, here);
  place.model.answer = ({ messages }) => says(`after ${messages.at(-1)?.role}`);
  place.summariser.answer = () => sumsUp('all of it');
  const order = { operationId: id, expectedVersion: version, receiptId: 'r' };
  await engine.admit({ ...order, principal: ADMIN, channel: 'api' });
  await comesTo(engine, here, 'done');
  await restOf(engine);
  assert.equal((await repliesIn(place, here)).length, before.length + 2, 'both came through');
  assert.equal(place.tools.ran.length, 1, 'the approved call, once');
  assert.ok((await place.rows('task')).every(({ state }) => state === 'completed'));
});

test('INC-011 nothing but an admission, a fitting request or a fresh session releases it', async () => {
  const place = new Installation();
  place.summariser.answer = () => fails('transient', 'http_503');
  place.model.answer = () => saysFull('read');
  let engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  await say(engine, here, 'fill it up');
  await comesTo(engine, here, 'waiting');
  await elapse(place, 70 * SECOND);
  const blocked = await comesTo(engine, here, 'blocked');
  await engine.stop(0);
  place.summariser.answer = () => sumsUp('it would succeed now');
  place.model.contextWindow = 1_000_000;
  engine = await place.host({ options: ONE_BY_ONE });
  for (const text of ['hello', '/model configured-model', '/resume', '/retry', '/new']) {
    await say(engine, here, text, { principal: ANNA });
    await restOf(engine);
  }
  await elapse(place, 70 * SECOND);
  assert.deepEqual({ ...(await operationOf(place, here)), isKeptTold: 'no' }, blocked);
  assert.equal(place.model.requests.length, 1);
});
