import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import { approvalRow, idOf, messageRow, stepRow, turnRow } from '../../src/testing/store-rows.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { eventually, inTime, pass, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { ADMIN, ANNA, Installation, asks, judges, says } from '../support/host.ts';
import { BEGIN, FORMER, importHistory, oldPlaces, oldTask, PROVEN } from '../support/history.ts';
import { type } from '../support/orders.ts';

const OLD = oldTask(1);
const HERE: ConversationId = OLD.conversationId;

/** An installation with one held task of Anna's, as the boundary has left it. */
async function withHeld(
  given: Partial<TaskRecord> = {},
): Promise<{ readonly place: Installation; readonly engine: Engine; readonly held: TaskRecord }> {
  const place = new Installation();
  await mustPut(place.store, ...oldPlaces(), { write: 'task.insert', row: oldTask(1, given) });
  const engine = await place.host();
  await restOf(engine);
  const held = await taskIn(place);
  assert.equal(held.enrollment, 'held-legacy');
  return { place, engine, held };
}

async function taskIn({ store }: Installation, id = OLD.id): Promise<TaskRecord> {
  const task = await store.query('task.byId', { id });
  assert.ok(task !== undefined);
  return task;
}

describe('what is held is touched by nothing', () => {
  test('B-5 a message joins it by no topic, no question, no id and no reply', async () => {
    const asked = {
      state: 'waiting',
      reason: 'awaits_answer',
      waitKind: 'answer',
      waitQuestion: 'Which one?',
    } as const;
    const { place, engine, held } = await withHeld(asked);
    place.classifier.answer = () => says(JSON.stringify({ taskId: held.id, reason: 'the same' }));
    await say(engine, HERE, 'the second one');
    await restOf(engine);
    await say(engine, HERE, `go on with ${held.id}`);
    await restOf(engine);
    await engine.acceptMessage({
      conversationId: HERE,
      text: 'yes',
      replyTo: held.id,
      principal: ADMIN,
    });
    await restOf(engine);
    assert.equal(place.classifier.requests.length, 0, 'nobody is asked about history');
    assert.deepEqual(await taskIn(place), held);
    const tasks = await place.rows('task');
    assert.equal(tasks.length, 4, 'each is a task of its own');
    await engine.stop(0);
  });

  test('B-5 the classifier is shown the open tasks of now and none of history', async () => {
    const { place, engine, held } = await withHeld();
    place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 86_400 }]);
    await say(engine, HERE, 'remind me of the rent');
    await restOf(engine);
    place.model.answer = () => says('done');
    await say(engine, HERE, 'something else');
    await restOf(engine);
    assert.equal(place.classifier.requests.length, 1);
    const shown = JSON.stringify(place.classifier.requests);
    assert.ok(shown.includes('remind me of the rent'));
    assert.ok(!shown.includes(held.id) && !shown.includes(held.mandateText));
    await engine.stop(0);
  });

  test('B-5 the request of another task names nothing of it', async () => {
    const { place, engine, held } = await withHeld();
    await say(engine, HERE, 'what is open here?');
    await restOf(engine);
    const shown = JSON.stringify(place.model.requests);
    assert.ok(place.model.requests.length > 0);
    assert.ok(!shown.includes(held.id) && !shown.includes(held.mandateText));
    assert.ok(!shown.includes(String(held.checkpoint)));
    await engine.stop(0);
  });

  test('B-4 no tick and no start ends it, wakes it or asks about it', async () => {
    const { place, engine, held } = await withHeld({
      state: 'waiting',
      reason: 'awaits_instant',
      waitKind: 'instant',
      waitUntil: BEGIN + HOUR,
      dueAt: BEGIN + HOUR,
      deadline: BEGIN + 2 * HOUR,
    });
    await engine.stop(0);
    for (let start = 0; start < 3; start += 1) {
      const next = await place.host();
      for (let tick = 0; tick < 20; tick += 1) {
        place.clock.advance(HOUR);
        await pass(4);
      }
      await next.stop(0);
    }
    assert.deepEqual(await taskIn(place), held);
    assert.equal(place.assessor.requests.length + place.model.requests.length, 0);
  });

  test('B-5 no permission to continue that came with it is looked at, at any start', async () => {
    const granted = { recoveryState: 'granted', recoveryGrantedAt: BEGIN } as const;
    const { place, engine, held } = await withHeld(granted);
    await engine.stop(0);
    const next = await place.host();
    await restOf(next);
    assert.deepEqual(await taskIn(place), held);
    assert.equal(place.assessor.requests.length, 0);
    await next.stop(0);
  });

  test('B-11 a newer topic, a finished task and a fresh session leave it as it is', async () => {
    const { place, engine, held } = await withHeld();
    await say(engine, HERE, 'count the files');
    await restOf(engine);
    await type(engine, HERE, '/new');
    await say(engine, HERE, 'count them again');
    await restOf(engine);
    assert.deepEqual(await taskIn(place), held);
    await engine.stop(0);
  });

  test('V9 neither /stop nor /stop all takes it, and its own exact stop does', async () => {
    const { place, engine, held } = await withHeld();
    await type(engine, HERE, '/stop', ADMIN);
    await type(engine, HERE, '/stop all', ADMIN);
    await type(engine, HERE, '/stop all', ANNA);
    assert.deepEqual(await taskIn(place), held);
    await type(engine, HERE, `/stop ${held.id}`, ANNA);
    const stopped = await taskIn(place);
    assert.deepEqual([stopped.state, stopped.reason], ['stopped', 'stopped_by_person']);
    await engine.stop(0);
  });

  test('V9 no order but its resume and its stop moves it', async () => {
    const { place, engine, held } = await withHeld({
      recoveryAttempts: 3,
      recoveryOutcome: 'failed',
    });
    const order = { taskId: held.id, principal: ADMIN, channel: 'api' };
    const refused = [
      await engine.pauseTask(order),
      await engine.extendTask({ ...order, grant: { turns: 5 } }),
      await engine.resetBudget(order),
      await engine.resumeTask({ ...order, principal: ANNA }),
    ];
    assert.deepEqual(
      refused.map((verdict) => ('code' in verdict ? verdict.code : verdict.kind)),
      ['not_allowed_now', 'not_allowed_now', 'not_budget_blocked', 'forbidden'],
    );
    assert.deepEqual(await taskIn(place), held);
    await engine.stop(0);
  });

  test('E-4 its open question is answered by nobody while it is held', async () => {
    const place = new Installation();
    const asked = { state: 'waiting', reason: 'awaits_approval', waitKind: 'approval' } as const;
    const approvalId = idOf('approval', 1);
    await mustPut(
      place.store,
      ...oldPlaces(),
      { write: 'task.insert', row: oldTask(1, { ...asked, waitId: approvalId }) },
      {
        write: 'approval.insert',
        row: approvalRow({
          id: approvalId,
          taskId: OLD.id,
          conversationId: HERE,
          expiresAt: BEGIN + DAY,
        }),
      },
    );
    const engine = await place.host();
    await restOf(engine);
    const held = await taskIn(place);
    for (const decision of ['approve', 'deny'] as const) {
      const order = { approvalId, decision, principal: ADMIN, channel: 'api' };
      const verdict = await engine.answerApproval(order);
      assert.equal(verdict.kind === 'refused' ? verdict.code : verdict.kind, 'not_allowed_now');
    }
    place.clock.advance(3 * DAY);
    await pass();
    assert.deepEqual(await taskIn(place), held);
    const [kept] = await place.rows('message');
    assert.equal(kept, undefined, 'no input was made of it');
    await engine.stop(0);
  });

  test('V9 a turn of it that was cut is closed, and nothing of the task moves', async () => {
    const place = new Installation();
    const turnId = idOf('turn', 1);
    const of = { conversationId: HERE, taskId: OLD.id, turnId };
    const made = { kind: 'generated', channel: 'wake', state: 'claimed', claimedSeq: 40 } as const;
    await mustPut(
      place.store,
      ...oldPlaces(),
      { write: 'task.insert', row: OLD },
      { write: 'message.insert', row: messageRow({ ...of, ...made, seq: 39 }) },
      { write: 'turn.insert', row: turnRow({ ...of, id: turnId, hostId: FORMER, firstSeq: 40 }) },
      {
        write: 'step.insert',
        row: stepRow({
          ...of,
          seq: 41,
          state: 'started',
          kind: 'tool',
          tool: 'pay',
          repeatable: 'no',
        }),
      },
      {
        write: 'conversation.advance',
        id: HERE,
        expectedSeq: 1_000,
        seq: 1_000,
        token: 1,
        turnId,
      },
    );
    const engine = await place.host();
    await restOf(engine);
    const held = await taskIn(place);
    assert.deepEqual(
      [held.enrollment, held.reason, held.tokensUsed],
      ['held-legacy', 'held_legacy', OLD.tokensUsed],
    );
    const [turn] = await place.rows('turn');
    assert.deepEqual([turn?.['state'], turn?.['end']], ['ended', 'interrupted']);
    const [step] = await place.rows('step');
    assert.equal(step?.['state'], 'uncertain');
    assert.equal((await place.rows('approval')).length, 0, 'nobody is asked about history');
    await say(engine, HERE, 'and you?');
    await restOf(engine);
    assert.equal(place.model.requests.length, 1, 'its conversation is free');
    await engine.stop(0);
  });

  test('B-4 a whole import stays asleep while others work beside it', async () => {
    const place = new Installation();
    await importHistory(place.store);
    place.assessor.answer = () => judges('continue');
    const engine = await place.host();
    await eventually(() => place.model.requests.length >= PROVEN.length);
    await restOf(engine);
    const sleeping = async (): Promise<readonly unknown[]> =>
      (await place.rows('task')).filter(({ enrollment }) => enrollment === 'held-legacy');
    const before = await sleeping();
    const elsewhere = await talkTo(engine, 'elsewhere');
    await say(engine, elsewhere, 'one more');
    await say(engine, HERE, 'and here');
    await restOf(engine);
    for (let tick = 0; tick < 100; tick += 1) {
      place.clock.advance(30_000);
      await pass(2);
    }
    assert.deepEqual(await sleeping(), before);
    assert.equal(place.assessor.requests.length, 2);
    await engine.stop(0);
  });
});

describe('one exact resume', () => {
  test('B-8 wakes that one and nothing else, and its old inputs stay set aside', async () => {
    const place = new Installation();
    await importHistory(place.store);
    const engine = await place.host();
    await restOf(engine);
    await inTime(place, () => place.assessor.requests.length > 0);
    await restOf(engine);
    place.assessor.answer = () => judges('continue');
    const before = await place.rows('task');
    const inputs = place.model.requests.length;
    const id = idOf('task', 20);
    const here = oldTask(20).conversationId;
    const answer = await type(engine, here, `/task-resume ${id}`, ADMIN);
    assert.match(answer, /belongs to ongoing work again/);
    await eventually(async () => (await taskIn(place, id)).state === 'completed');
    const woken = await taskIn(place, id);
    assert.deepEqual([woken.enrollment, woken.recoveryAttempts], ['current', 0]);
    assert.equal(woken.deadline, oldTask(20).deadline);
    const own = (await place.rows('message')).filter(({ task_id }) => task_id === id);
    assert.deepEqual(
      own.filter(({ state }) => state === 'held').map(({ channel }) => channel),
      ['recovery'],
    );
    assert.equal(place.model.requests.length, inputs + 1);
    const rest = (rows: readonly Readonly<Record<string, unknown>>[]): readonly unknown[] =>
      rows.filter((row) => row['id'] !== id && row['enrollment'] === 'held-legacy');
    assert.deepEqual(rest(await place.rows('task')), rest(before));
    await engine.stop(0);
  });

  test('B-8 with no attempt left it is blocked at once, with its one notice', async () => {
    const { place, engine, held } = await withHeld({
      recoveryAttempts: 3,
      recoveryOutcome: 'failed',
    });
    const order = { taskId: held.id, principal: ADMIN, channel: 'api' };
    const verdict = await engine.resumeTask(order);
    assert.equal(verdict.kind, 'ordered');
    await restOf(engine);
    const task = await taskIn(place);
    assert.deepEqual(
      [task.enrollment, task.state, task.reason],
      ['current', 'blocked', 'recovery_assessment_failed'],
    );
    const notices = (await place.rows('outbox')).filter((row) => row['task_id'] === held.id);
    assert.equal(notices.length, 1);
    assert.match(wordsOf(notices[0] ?? {}), new RegExp(`/budget-reset ${held.id}`));
    assert.equal(place.assessor.requests.length, 0);
    await engine.stop(0);
  });

  test('given twice under one receipt it is done once, and the log tells it once', async () => {
    const { place, engine, held } = await withHeld();
    place.assessor.answer = () => judges('inconclusive', 'no idea');
    const order = { taskId: held.id, principal: ADMIN, channel: 'api', receiptId: 'once' };
    const first = await engine.resumeTask(order);
    await restOf(engine);
    await eventually(async () => (await taskIn(place)).reason === 'recovery_inconclusive');
    const second = await engine.resumeTask(order);
    assert.deepEqual(
      [first, second].map((verdict) => verdict.kind === 'ordered' && verdict.repeated),
      [false, true],
    );
    if (first.kind === 'ordered' && second.kind === 'ordered')
      assert.deepEqual(second.task, first.task);
    const log = (await place.rows('audit')).filter(({ action }) => action === 'task.resume');
    assert.equal(log.length, 1);
    assert.equal(place.assessor.requests.length, 1);
    await engine.stop(0);
  });

  test('B-8 it is refused elsewhere, by others, and while a turn has its conversation', async () => {
    const { place, engine, held } = await withHeld();
    const elsewhere = await talkTo(engine, 'elsewhere');
    assert.match(
      await type(engine, elsewhere, `/task-resume ${held.id}`, ADMIN),
      /own conversation/,
    );
    assert.match(await type(engine, HERE, `/task-resume ${held.id}`, ANNA), /admin/);
    assert.deepEqual(await taskIn(place), held);
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof says>>();
    place.model.answer = () => promise;
    await say(engine, HERE, 'count');
    await eventually(() => engine.health().runningTurns === 1);
    const order = { taskId: held.id, principal: ADMIN, channel: 'api' };
    const busy = await engine.resumeTask(order);
    assert.equal(busy.kind === 'refused' ? busy.code : busy.kind, 'conversation_busy');
    resolve(says('four'));
    await restOf(engine);
    assert.deepEqual(await taskIn(place), held);
    await engine.stop(0);
  });
});
