import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { eventually, heldCall, order, pass, restOf, say } from '../support/acts.ts';
import {
  ANNA,
  fails,
  type GivenParts,
  Installation,
  judges,
  OPTIONS,
  says,
} from '../support/host.ts';
import { codesOf, cutWork, elapse, eventsOf, SPACING, taskOf } from './recovery-support.ts';
import { mortal } from './upkeep-support.ts';

describe('a `continue` that no turn follows', () => {
  test('R-16 is void before the next start: it takes a new attempt', async () => {
    const place = new Installation();
    const { taskId, conversationId } = await cutWork(place);
    place.assessor.answer = () => judges('continue');
    // Another turn has the conversation, so that none can follow.
    const { engine, kill } = await mortal(place, {
      options: { ...OPTIONS, concurrentConversations: 1 },
    });
    const busy = heldCall();
    place.model.answer = busy.hold;
    await say(engine, conversationId, 'first something else');
    await busy.begun;
    await elapse(place, SECOND);
    assert.equal((await taskOf(place, taskId)).recoveryState, 'granted');
    kill();
    place.model.answer = () => says('paid');
    place.assessor.answer = () => fails('transient', 'http_500');
    const next = await mortal(place);
    await pass(40);
    next.kill();
    const task = await taskOf(place, taskId);
    assert.deepEqual(
      [task.state, task.waitKind, task.recoveryState],
      ['waiting', 'assessment', 'needed'],
    );
    assert.equal(task.recoveryAttempts, 1, 'the spacing holds');
    place.assessor.answer = () => judges('continue');
    await place.host();
    await elapse(place, SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    const inputs =
      place.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user') ?? [];
    const told = inputs.filter((input) =>
      /was interrupted.*pay the hosting/s.test(JSON.stringify(input)),
    );
    assert.equal(told.length, 1, 'the input of the void one is not read');
  });

  test('R-16 is void after ten minutes', async () => {
    const place = new Installation();
    const { taskId, conversationId } = await cutWork(place);
    place.assessor.answer = () => judges('continue');
    const engine = await place.host();
    const busy = heldCall();
    place.model.answer = busy.hold;
    await say(engine, conversationId, 'first something else');
    await busy.begun;
    await elapse(place, LIMITS.recoveryGrantMs + 2 * SECOND);
    place.model.answer = () => says('done');
    busy.release(says('that took long'));
    await elapse(place, 2 * SECOND);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    const reserved = await eventsOf(place, taskId, 'assessment.reserved');
    assert.equal(reserved.length, 2);
  });
});

test('R-16 at most two are assessed at once, those with the newest words of a person first', async () => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const tasks: string[] = [];
  for (const name of ['one', 'two', 'three', 'four']) {
    tasks.push((await order(engine, name)).taskId);
    await pass();
    place.clock.advance(SECOND);
  }
  kill();
  const running = new Set<string>();
  const began: string[] = [];
  let most = 0;
  place.assessor.answer = async (request) => {
    const { request: name } = JSON.parse(textOf(request)) as { request: string };
    began.push(name);
    running.add(name);
    most = Math.max(most, running.size);
    await pass(5);
    running.delete(name);
    return judges('inconclusive');
  };
  await place.host();
  await elapse(place, 2 * SECOND);
  assert.equal(most, 2);
  assert.deepEqual(began, ['four', 'three', 'two', 'one']);
});

test('R-16 no attempt is reserved while the host drains', async () => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  for (const name of ['one', 'two', 'three']) await order(engine, name);
  await pass();
  kill();
  const held = heldCall();
  place.assessor.answer = held.hold;
  const next = await place.host();
  await held.begun;
  await pass();
  const stopped = next.stop(MINUTE);
  held.release(judges('inconclusive'));
  await stopped;
  assert.equal(place.assessor.requests.length, 2);
  const attempts = (await place.rows('task')).map((row) => row['recovery_attempts']);
  assert.deepEqual(
    attempts.toSorted((one, other) => Number(one) - Number(other)),
    [0, 1, 1],
  );
});

test('T-7 a `continue` that comes after the deadline lets nothing begin', async () => {
  const place = new Installation();
  const options = { ...OPTIONS, deadlineMs: 5 * MINUTE };
  const { taskId } = await cutWork(place, { options });
  const held = heldCall();
  place.assessor.answer = held.hold;
  await place.host({ options });
  await held.begun;
  const calls = place.model.requests.length;
  // A laptop that slept: no timer has run yet.
  place.clock.jump(10 * MINUTE);
  held.release(judges('continue'));
  await elapse(place, SPACING);
  assert.equal((await taskOf(place, taskId)).state, 'expired');
  assert.equal(place.model.requests.length, calls);
});

describe('a permission of a task that stands still', () => {
  /** A task that may go on and cannot: another turn has its conversation. */
  async function granted(place: Installation, given: GivenParts = {}) {
    const cut = await cutWork(place, given);
    const judged = heldCall();
    place.assessor.answer = judged.hold;
    const busy = heldCall();
    place.model.answer = busy.hold;
    const host = await mortal(place, given);
    await say(host.engine, cut.conversationId, 'something quite else');
    await busy.begun;
    await judged.begun;
    judged.release(judges('continue'));
    await eventually(async () => (await taskOf(place, cut.taskId)).recoveryState === 'granted');
    return { ...cut, ...host, busy };
  }

  test('R-10 R-16 of a paused one a start takes it back and leaves the task paused', async () => {
    const place = new Installation();
    const { taskId, engine, kill } = await granted(place);
    const given = { taskId, principal: ANNA, channel: 'api' };
    assert.equal((await engine.pauseTask(given)).kind, 'ordered');
    kill();
    place.model.answer = () => says('done');
    const next = await place.host();
    await pass(40);
    const paused = await taskOf(place, taskId);
    assert.deepEqual([paused.state, paused.recoveryState], ['paused', 'needed']);
    assert.equal((await next.resumeTask(given)).kind, 'ordered');
    assert.equal((await taskOf(place, taskId)).waitKind, 'assessment');
    place.assessor.answer = () => judges('continue');
    await elapse(place, SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
  });

  test('R-16 words to one that was paused for long lead to its assessment, and hold nothing back', async () => {
    const place = new Installation();
    const { taskId, conversationId, engine, busy } = await granted(place);
    await engine.pauseTask({ taskId, principal: ANNA, channel: 'api' });
    await elapse(place, LIMITS.recoveryGrantMs + MINUTE);
    place.model.answer = () => says('done');
    busy.release(says('that took long'));
    await restOf(engine);
    place.assessor.answer = () => fails('transient', 'http_500');
    const intake = { conversationId, text: 'go on', replyTo: taskId, principal: ANNA };
    await engine.acceptMessage(intake);
    const id = await say(engine, conversationId, 'and something new');
    await restOf(engine);
    assert.equal((await taskOf(place, taskId)).waitKind, 'assessment');
    assert.equal((await engine.store.query('message.byId', { id }))?.state, 'done');
  });

  test('R-10 one that its budget has blocked stays blocked over restarts, told once', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, turnsLimit: 2 };
    const { taskId } = await cutWork(place, { options });
    place.assessor.answer = () => judges('continue');
    await place.store.commit({
      name: 'test.spend',
      reads: { task: { read: 'task.byId', args: { id: taskId } } },
      decide: ({ task }) => ({
        verdict: undefined,
        writes:
          task === undefined
            ? []
            : [{ write: 'task.save', row: { ...task, version: task.version + 1, turnsUsed: 2 } }],
      }),
    });
    for (let start = 0; start < 3; start += 1) {
      const { kill } = await mortal(place, { options });
      await elapse(place, SPACING);
      kill();
    }
    assert.deepEqual(await codesOf(place, taskId), ['budget_exhausted']);
    assert.equal(place.assessor.requests.length, 0, 'a turn that is forbidden is not assessed');
  });
});

function textOf(request: ModelRequest): string {
  const [message] = request.messages;
  return message?.role === 'user' ? message.text : '';
}
