import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { asks, Installation, says, taskIn } from '../support/host.ts';
import { askedIn, say, talkTo, wordsOf } from '../support/acts.ts';

test('INC-025 a wait for an instant goes on within 10 s of it, also over a clean restart', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'watch it'
      ? asks(['task_wait', { for: 'instant', seconds: 180 }])
      : says('it is done');
  const first = await place.host();
  const here = await talkTo(first);
  await say(first, here, 'watch it');
  const waiting = await taskIn(first, here, 'waiting');
  place.clock.advance(60 * SECOND);
  await first.stop(HOUR);
  const engine = await place.host();
  const due = waiting.waitUntil ?? 0;
  await place.clock.sleeper(due - place.clock.now());
  place.clock.advance(due - place.clock.now());
  const done = await taskIn(engine, here, 'completed');
  assert.ok((done.endedAt ?? 0) - due <= 10 * SECOND);
  await engine.stop(0);
});

test('INC-025 what waits for a person asks once, is not done, and at its end needs a person', async () => {
  const place = new Installation();
  const question = 'Which of the two do you want?';
  place.model.answer = () => asks(['task_wait', { for: 'answer', question }]);
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'choose one');
  const waiting = await taskIn(engine, here, 'waiting');
  const told = async (): Promise<readonly string[]> => (await place.rows('outbox')).map(wordsOf);
  assert.deepEqual(await told(), [question]);
  const due = waiting.waitUntil ?? assert.fail('a wait without an end');
  await place.clock.sleeper(due - place.clock.now());
  place.clock.advance(due - place.clock.now());
  const blocked = await taskIn(engine, here, 'blocked');
  assert.equal(blocked.reason, 'wait_elapsed');
  assert.equal((await told()).length, 2);
  await engine.stop(0);
});

test('INC-025 a wait without an end or a question is refused, and the model is told', async () => {
  const place = new Installation();
  const wrong: readonly (readonly [string, unknown])[] = [
    ['task_wait', {}],
    ['task_wait', { for: 'answer' }],
    ['task_wait', { for: 'instant' }],
    ['task_wait', { for: 'instant', at: 'tomorrow' }],
    ['task_wait', { for: 'instant', at: '2001-01-01T00:00:00Z' }],
    ['task_wait', { for: 'instant', seconds: 1e12 }],
  ];
  place.model.answer = (request) =>
    request.messages.some(({ role }) => role === 'tool') ? says('then not') : asks(...wrong);
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'wait for it');
  await taskIn(engine, here, 'completed');
  const steps = (await place.rows('step')).filter(({ kind }) => kind === 'tool');
  assert.deepEqual(
    steps.map(({ error_code }) => error_code),
    wrong.map(() => 'invalid_args'),
  );
  await engine.stop(0);
});
