import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { eventually, everyRow, heldCall, restOf, say, wordsOf } from '../support/acts.ts';
import { ADMIN, ANNA, fails, Installation, judges, OPTIONS, says } from '../support/host.ts';
import { saysFull } from './maintenance-support.ts';
import { codesOf, cutWork, elapse, SPACING, taskOf } from './recovery-support.ts';
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

test('the check is shown what a person has said to the task behind another turn', async () => {
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

function textOf(request: ModelRequest): string {
  const [message] = request.messages;
  return message?.role === 'user' ? message.text : '';
}

for (const [how, fill] of Object.entries({ whole: 10, 'once it was summarised': 110_000 }))
  test(`E-1 work that goes on much later sees its own finished calls, whatever else was said since, in a session that is shown ${how}`, async () => {
    const place = new Installation();
    const { taskId, conversationId } = await cutWork(place);
    const asked = heldCall();
    place.assessor.answer = asked.hold;
    place.model.answer = () => says('an answer');
    const engine = await place.host({ options: { ...OPTIONS, tickMs: 3_600_000 } });
    await asked.begun;
    for (let turn = 0; turn <= LIMITS.historyStepsMax; turn += 1)
      await say(engine, conversationId, `something else ${turn} ${'…'.repeat(200)}`);
    await restOf(engine);
    place.model.answer = () => saysFull('the last', fill);
    await say(engine, conversationId, 'the last of it');
    await eventually(async () => {
      const { fence } = (await place.rows('conversation'))[0] ?? {};
      return fence === (fill > 10 ? 'passed' : 'none') && engine.health().runningTurns === 0;
    });
    asked.release(judges('continue'));
    await eventually(async () => (await taskOf(place, taskId)).state === 'completed');
    const { messages } = place.model.requests.at(-1) ?? assert.fail();
    const results = messages.flatMap(({ role, text }) => (role === 'tool' ? [text] : []));
    const facts = messages.filter(({ text }) =>
      text.includes('that were made and are no longer shown'),
    );
    assert.deepEqual(results, fill > 10 ? [] : ['done'], 'its finished call has its result');
    assert.equal(facts.length, fill > 10 ? 1 : 0);
    if (fill > 10) assert.match(facts[0]?.text ?? '', /"tool":"pay".*"outcome":"finished"/);
    await engine.stop(0);
  });
