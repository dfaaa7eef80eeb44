import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { asideAccount } from '../../src/engine/budget/aside.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import {
  eventually,
  everyRow,
  heldCall,
  order,
  pass,
  restOf,
  say,
  talkTo,
  wordsOf,
} from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  asks,
  fails,
  type GivenParts,
  Installation,
  judges,
  OPTIONS,
  says,
} from '../support/host.ts';
import { codesOf, cutWork, elapse, eventsOf, SPACING, taskOf } from './recovery-support.ts';
import { mortal } from './upkeep-support.ts';

describe('an assessment', () => {
  test('R-2 is its own call: its own prompt, no tools, no session, everything as data', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs: DAY };
    const { taskId } = await cutWork(place, { options });
    place.assessor.answer = () => judges('inconclusive');
    await place.host({ options });
    await elapse(place, SECOND);
    const [request] = place.assessor.requests;
    assert.ok(request);
    assert.deepEqual(request.tools, []);
    assert.equal(request.answer?.name, 'assessment');
    assert.equal(request.messages.length, 1, 'nothing of the session');
    assert.ok(!request.system.includes('hosting'), 'the prompt quotes nobody');
    const shown = JSON.parse(textOf(request)) as Record<string, unknown>;
    const { deadline } = await taskOf(place, taskId);
    assert.partialDeepStrictEqual(shown, {
      request: 'pay the hosting bill',
      deadline: new Date(deadline ?? 0).toISOString().replace('.000Z', 'Z'),
      checkpoint: null,
      finishedEffects: [{ tool: 'pay', result: 'done' }],
      uncertainEffects: [],
      workers: [],
      attempt: 1,
      attemptsMax: 3,
    });
    assert.deepEqual(Object.keys(shown['budgets'] as object), [
      'turns',
      'tokens',
      'costUsd',
      'continuations',
    ]);
  });

  test('R-1 `continue` lets it go on from what is saved, and no call is made again', async () => {
    const place = new Installation();
    const { taskId, runId } = await cutWork(place);
    place.assessor.answer = () => judges('continue');
    const engine = await place.host();
    await elapse(place, SECOND);
    const task = await taskOf(place, taskId);
    assert.deepEqual([task.state, task.reason], ['completed', 'answered']);
    assert.equal(place.tools.ran.length, 1);
    const request = place.model.requests.at(-1);
    const calls = request?.messages.filter(({ role }) => role === 'tool') ?? [];
    assert.equal(calls.length, 1, 'the saved result is in the request');
    const run = await engine.store.query('run.byId', { id: runId as `run_${string}` });
    assert.equal(run?.state, 'completed');
    assert.deepEqual(await codesOf(place, taskId), [], 'R-7: nobody was told of the recovery');
  });

  test('R-4 `end` ends it with one message that quotes the request and the reason', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => judges('end', 'the bill was paid by hand');
    await place.host();
    await elapse(place, SECOND);
    const task = await taskOf(place, taskId);
    assert.deepEqual([task.state, task.reason], ['failed', 'ended_by_assessment']);
    assert.deepEqual(await codesOf(place, taskId), ['ended_by_assessment']);
    const rows = await place.rows('outbox');
    const words = wordsOf(rows.find((row) => row['code'] === 'ended_by_assessment') ?? {});
    assert.match(words, /pay the hosting bill/);
    assert.match(words, /the bill was paid by hand/);
    assert.match(words, /again/);
  });

  test('R-4 `inconclusive` blocks at once, and only an admin has it assessed anew', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => judges('inconclusive', 'nobody knows');
    const engine = await place.host();
    await elapse(place, 5 * SPACING);
    assert.equal(place.assessor.requests.length, 1, 'no retry');
    const blocked = await taskOf(place, taskId);
    assert.deepEqual([blocked.state, blocked.reason], ['blocked', 'recovery_inconclusive']);
    assert.deepEqual(await codesOf(place, taskId), ['recovery_inconclusive']);

    const before = await everyRow(place);
    const refused = await engine.resumeTask({ taskId, principal: ANNA, channel: 'api' });
    assert.equal(
      refused.kind === 'refused' && refused.code,
      'forbidden',
      'her own task all the same',
    );
    assert.deepEqual(await everyRow(place), before);
    place.assessor.answer = () => judges('continue');
    const resumed = await engine.resumeTask({ taskId, principal: ADMIN, channel: 'api' });
    assert.equal(resumed.kind, 'ordered');
    await elapse(place, SPACING);
    const done = await taskOf(place, taskId);
    assert.deepEqual(
      [done.state, done.recoveryEpoch],
      ['completed', 3],
      'one by the order, one by the turn',
    );
  });

  test('R-7 its steps are told only where that was asked for', async () => {
    for (const diagnostics of [false, true]) {
      const place = new Installation();
      const options = { ...OPTIONS, recovery: { ...OPTIONS.recovery, diagnostics } };
      const { taskId } = await cutWork(place, { options });
      let calls = 0;
      place.assessor.answer = () =>
        (calls += 1) < 3 ? fails('transient', 'http_500') : judges('continue');
      await place.host({ options });
      await elapse(place, 3 * SPACING);
      assert.equal((await taskOf(place, taskId)).state, 'completed');
      assert.deepEqual(
        await codesOf(place, taskId),
        diagnostics ? ['assessment_missed', 'assessment_missed', 'assessment_continues'] : [],
      );
    }
  });

  test('is paid for by its task, and by the bounds of its budgets', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => judges('inconclusive');
    const before = await taskOf(place, taskId);
    const { kill } = await mortal(place);
    await elapse(place, SECOND);
    kill();
    const after = await taskOf(place, taskId);
    assert.ok(after.tokensUsed >= before.tokensUsed + 15);

    const poor = new Installation();
    const options = { ...OPTIONS, tokensLimit: 16 };
    const { taskId: short } = await cutWork(poor, { options });
    poor.assessor.answer = () => says('it may go on');
    const engine = await poor.host({ options });
    await elapse(poor, 2 * SPACING);
    assert.equal(poor.assessor.requests.length, 1);
    const blocked = await taskOf(poor, short);
    assert.deepEqual([blocked.state, blocked.reason], ['blocked', 'budget_exhausted']);
    poor.assessor.answer = () => judges('continue');
    const grant = { tokens: 1_000_000 };
    const order = { taskId: short, principal: ADMIN, channel: 'api', grant };
    assert.equal((await engine.extendTask(order)).kind, 'ordered');
    assert.equal(
      (await taskOf(poor, short)).waitKind,
      'assessment',
      'R-1: granted is not assessed',
    );
    await elapse(poor, SECOND);
    assert.equal((await taskOf(poor, short)).state, 'completed');
  });
});

describe('what is said to interrupted work', () => {
  test('R-1 a new message is answered at once and wakes nothing; a reply is read by its next turn', async () => {
    const place = new Installation();
    const { taskId, conversationId } = await cutWork(place);
    const held = heldCall();
    place.assessor.answer = held.hold;
    const engine = await place.host();
    await held.begun;
    const words: string[] = [];
    place.model.answer = (request) => {
      words.push(JSON.stringify(request.messages));
      return says('an answer');
    };
    const id = await say(engine, conversationId, 'how is the weather?');
    await restOf(engine);
    const answered = await engine.store.query('message.byId', { id });
    assert.equal(answered?.state, 'done');
    assert.notEqual(answered.taskId, taskId);
    const reply = await engine.acceptMessage({
      conversationId,
      text: 'mind the currency',
      replyTo: taskId,
      principal: ANNA,
    });
    assert.equal(reply.kind, 'accepted');
    await restOf(engine);
    assert.equal((await taskOf(place, taskId)).waitKind, 'assessment');
    assert.equal(words.length, 1);
    assert.deepEqual(await codesOf(place, taskId), ['kept_for_interrupted']);
    held.release(judges('continue'));
    await elapse(place, SECOND);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    assert.match(words.at(-1) ?? '', /mind the currency/);
  });

  test('R-10 a stop during the call ends the task, and its outcome changes nothing', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    const held = heldCall();
    place.assessor.answer = held.hold;
    const engine = await place.host();
    await held.begun;
    const stopped = await engine.stopTask({ taskId, principal: ANNA, channel: 'api' });
    assert.equal(stopped.kind, 'stopped');
    held.release(judges('continue'));
    await elapse(place, 5 * SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'stopped');
    assert.deepEqual(await codesOf(place, taskId), ['stopped']);
    assert.equal(place.assessor.requests.length, 1);
  });

  test('R-10 one whose deadline passes while it waits expires and is not assessed', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs: 90 * SECOND };
    const { taskId } = await cutWork(place, { options });
    await place.host({ options });
    await elapse(place, 5 * SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'expired');
    assert.equal(place.assessor.requests.length, 2);
    assert.deepEqual(await codesOf(place, taskId), ['deadline_passed']);
  });
});

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
  assert.deepEqual(attempts.toSorted(), [0, 1, 1]);
});

describe('a provider that cannot be reached', () => {
  test('R-15 the first attempt is a real one; then none is reserved until it returns', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    await place.host();
    await elapse(place, SPACING + SECOND);
    const waits = await taskOf(place, taskId);
    assert.deepEqual(
      [waits.state, waits.waitKind, waits.reason],
      ['waiting', 'provider', 'interrupted'],
    );
    assert.equal(waits.waitId, asideAccount(place.assessor.account));
    assert.equal(waits.recoveryAttempts, 1);
    assert.deepEqual(await codesOf(place, taskId), []);
    await elapse(place, 2 * HOUR);
    assert.equal(place.assessor.requests.length, 1, 'a probe is no attempt');
    assert.deepEqual(await codesOf(place, taskId), ['assessment_unreached'], 'told once');
    place.assessor.alive = true;
    place.assessor.answer = () => judges('continue');
    await elapse(place, 6 * MINUTE);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    assert.equal(place.assessor.requests.length, 2);
  });

  test('R-15 one that answers the probe but fails the assessment has failed an attempt', async () => {
    const place = new Installation();
    const { taskId } = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    await place.host();
    await elapse(place, 3 * SPACING);
    assert.equal(place.assessor.requests.length, 3);
    assert.equal((await taskOf(place, taskId)).reason, 'recovery_assessment_failed');
  });

  test('R-15 what waits for it ends at its deadline, and after a start the first attempt is real', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs: HOUR };
    const { taskId } = await cutWork(place, { options });
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    const { kill } = await mortal(place, { options });
    await elapse(place, SPACING + SECOND);
    kill();
    assert.equal((await taskOf(place, taskId)).waitKind, 'provider');
    await place.host({ options });
    await elapse(place, 2 * HOUR);
    assert.equal((await taskOf(place, taskId)).state, 'expired');
  });
});

describe('a provider that cannot be reached by the assessment alone', () => {
  async function parked(place: Installation) {
    const cut = await cutWork(place);
    place.assessor.answer = () => fails('transient', 'connect');
    place.assessor.alive = false;
    const host = await mortal(place, { assessment: place.assessor, model: place.model });
    await elapse(place, SPACING + SECOND);
    assert.equal((await taskOf(place, cut.taskId)).waitKind, 'provider');
    return { ...cut, ...host };
  }

  test('R-15 limits no turn: a person is answered at once', async () => {
    const place = new Installation();
    // Both are asked through one account.
    Object.defineProperty(place.assessor, 'account', { value: place.model.account });
    const { engine, conversationId } = await parked(place);
    const id = await say(engine, conversationId, 'are you there?');
    await restOf(engine);
    assert.equal((await engine.store.query('message.byId', { id }))?.state, 'done');
    // And what reaches the provider lets the assessment be made, though no probe does.
    place.assessor.answer = () => judges('continue');
    await elapse(place, SPACING);
    const states = (await place.rows('task')).map((row) => row['state']);
    assert.deepEqual(states, ['completed', 'completed']);
  });

  test('R-15 after a start the first attempt is a real one again, whatever a probe says', async () => {
    const place = new Installation();
    const { taskId, kill } = await parked(place);
    kill();
    place.assessor.answer = () => judges('continue');
    await place.host();
    await elapse(place, SPACING);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
  });
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

test('T-2 the check is shown what a person has said to the task behind another turn', async () => {
  const place = new Installation();
  const { taskId, conversationId } = await cutWork(place);
  const busy = heldCall();
  place.model.answer = busy.hold;
  const first = heldCall();
  place.assessor.answer = first.hold;
  const engine = await place.host();
  await first.begun;
  await say(engine, conversationId, 'something else');
  await busy.begun;
  await say(engine, conversationId, `It was not sent, ${taskId}.`);
  place.assessor.answer = () => judges('inconclusive');
  first.release(fails('transient', 'http_500'));
  await elapse(place, SPACING + SECOND);
  assert.match(textOf(place.assessor.requests.at(-1) ?? assert.fail()), /It was not sent/);
});

describe('an order with its own time', () => {
  async function ordered(place: Installation): Promise<{
    readonly taskId: `task_${string}`;
    readonly at: number;
    readonly conversationId: `conv_${string}`;
  }> {
    const at = place.clock.now() + HOUR;
    place.model.answer = () =>
      asks(['task_wait', { for: 'instant', at: new Date(at).toISOString() }]);
    const { engine, kill } = await mortal(place);
    const conversationId = await talkTo(engine);
    const run = await order(engine, 'send the report at two', conversationId);
    await restOf(engine);
    kill();
    place.model.answer = () => says('sent');
    return { taskId: run.taskId, at, conversationId };
  }

  test('T-15 is blocked when its time is past its grace, and carried out late by an order alone', async () => {
    const place = new Installation();
    const { taskId, at } = await ordered(place);
    place.clock.advance(16 * DAY);
    const engine = await place.host();
    await elapse(place, SECOND);
    const blocked = await taskOf(place, taskId);
    assert.deepEqual(
      [blocked.state, blocked.reason, blocked.orderAt],
      ['blocked', 'order_late', at],
    );
    assert.deepEqual(await codesOf(place, taskId), ['awaits_instant', 'order_late']);
    assert.equal(place.assessor.requests.length, 0);
    const resume = { taskId, principal: ANNA, channel: 'api' };
    const before = await everyRow(place);
    const refused = await engine.resumeTask(resume);
    assert.equal(
      refused.kind === 'refused' && refused.detail['way'],
      `/task-resume ${taskId} late`,
    );
    assert.deepEqual(await everyRow(place), before);
    assert.equal((await engine.resumeTask({ ...resume, late: true })).kind, 'ordered');
    await restOf(engine);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
  });

  test('T-15 its deadline ends it otherwise', async () => {
    const place = new Installation();
    const { taskId } = await ordered(place);
    place.clock.advance(DAY);
    const engine = await place.host();
    await elapse(place, SECOND);
    const grant = { deadline: { at: place.clock.now() + HOUR } };
    const extended = { taskId, principal: ADMIN, channel: 'api', grant };
    assert.equal((await engine.extendTask(extended)).kind, 'ordered');
    await elapse(place, HOUR + MINUTE);
    assert.equal((await taskOf(place, taskId)).state, 'expired');
  });

  test('R-1 within its grace one that no host saw come due is assessed', async () => {
    const place = new Installation();
    const { taskId } = await ordered(place);
    place.clock.advance(HOUR + MINUTE);
    place.assessor.answer = () => judges('continue');
    await place.host();
    await elapse(place, SECOND);
    assert.equal(place.assessor.requests.length, 1);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    assert.equal((await taskOf(place, taskId)).orderAt, null);
  });

  test('T-15 a `continue` that comes after the grace carries nothing out', async () => {
    const place = new Installation();
    const { taskId } = await ordered(place);
    place.clock.advance(HOUR + LIMITS.orderGraceMs - 30 * SECOND);
    const held = heldCall();
    place.assessor.answer = held.hold;
    await place.host();
    await elapse(place, 45 * SECOND);
    held.release(judges('continue'));
    await elapse(place, SECOND);
    assert.equal((await taskOf(place, taskId)).reason, 'order_late');
    assert.equal(place.model.requests.length, 1);
    assert.equal(place.assessor.requests.length, 1);
  });
});

function textOf(request: ModelRequest): string {
  const [message] = request.messages;
  return message?.role === 'user' ? message.text : '';
}

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
    const order = { taskId, principal: ANNA, channel: 'api' };
    assert.equal((await engine.pauseTask(order)).kind, 'ordered');
    kill();
    place.model.answer = () => says('done');
    const next = await place.host();
    await pass(40);
    const paused = await taskOf(place, taskId);
    assert.deepEqual([paused.state, paused.recoveryState], ['paused', 'needed']);
    assert.equal((await next.resumeTask(order)).kind, 'ordered');
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
