// Deadlines that pass and windows that run out (T-6, T-7, E-4).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { askedIn, eventually, heldCall, order, pass, say, talkTo } from '../support/acts.ts';
import { ANNA, asks, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';
import { becomes, mortal, noticesOf, taskRow, waiting, waitsAsAsked } from './upkeep-support.ts';

const SHORT = { ...OPTIONS, deadlineMs: 30 * MINUTE };

/** An installation whose tool `pay` waits for a person. */
function askingPlace(): Installation {
  const place = new Installation();
  place.tools.asked.add('pay');
  place.model.answer = (request) =>
    askedIn(request) === 'pay Ben' ? asks(['pay', { to: 'Ben' }]) : says('done');
  return place;
}

describe('a deadline that passes', () => {
  test('T-7 ends a waiting, a paused and a blocked task, with one notice each', async () => {
    const place = new Installation();
    waitsAsAsked(place, () => says(''));
    const engine = await place.host({ options: SHORT });
    const waits = await waiting(engine, 'in 1799 s');
    const paused = await waiting(engine, 'ask me');
    const by = { taskId: paused.id, principal: ANNA, channel: 'api' };
    assert.equal((await engine.pauseTask(by)).kind, 'ordered');
    const there = await talkTo(engine, 'empty');
    await say(engine, there, 'say nothing');
    const blocked = await taskIn(engine, there, 'blocked');
    place.clock.advance(30 * MINUTE);
    for (const { id } of [waits, paused, blocked]) {
      const row = await becomes(place, id, 'expired');
      assert.deepEqual([row['reason'], row['due_at']], ['deadline_passed', null]);
      const notices = await noticesOf(place, id);
      assert.equal(notices.filter((code) => code === 'deadline_passed').length, 1);
    }
    await pass();
    place.clock.advance(HOUR);
    await pass();
    const all = await noticesOf(place, waits.id);
    assert.deepEqual(all, ['awaits_instant', 'deadline_passed']);
    await engine.stop(0);
  });

  test('T-7 closes all that belonged to the task: messages, run, approvals', async () => {
    const place = askingPlace();
    const engine = await place.host({ options: SHORT });
    const run = await order(engine, 'pay Ben');
    const task = await taskIn(engine, run.conversationId, 'waiting');
    place.clock.advance(30 * MINUTE);
    await becomes(place, task.id, 'expired');
    const [approval] = await place.rows('approval');
    assert.equal(approval?.['state'], 'denied');
    assert.match(String(approval?.['decided_by']), /^host:/);
    const [ended] = await place.rows('run');
    assert.deepEqual([ended?.['state'], ended?.['outcome_code']], ['failed', 'deadline_passed']);
    for (const { state } of await place.rows('message')) assert.equal(state, 'done');
    const given = { decision: 'approve', principal: ANNA, channel: 'api' } as const;
    const late = await engine.answerApproval({ ...given, approvalId: approval?.['id'] as 'appr_' });
    assert.equal(late.kind === 'refused' && late.code, 'approval_closed');
    await engine.stop(0);
  });

  test('T-7 during a call interrupts it at once and leaves the turn a recorded end', async () => {
    const place = new Installation();
    let aborted = false;
    place.model.answer = (_request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve({ ...ENDED });
        });
      });
    const engine = await place.host({ options: SHORT });
    const here = await talkTo(engine);
    await say(engine, here, 'think');
    await eventually(() => place.model.requests.length === 1);
    for (let passed = 0; passed < 30 * MINUTE; passed += 30 * SECOND) {
      assert.equal(aborted, false);
      place.clock.advance(30 * SECOND);
      await pass(2);
    }
    await taskIn(engine, here, 'expired');
    await eventually(async () => (await place.rows('turn'))[0]?.['end'] === 'stopped');
    assert.equal(aborted, true);
    const [task] = await place.rows('task');
    assert.deepEqual(await noticesOf(place, String(task?.['id'])), ['deadline_passed']);
    await engine.stop(0);
  });

  test('expires a task once though the commit is unseen, and interrupts its turn all the same', async () => {
    const place = new Installation();
    const held = heldCall();
    place.model.answer = (_request, signal) => {
      signal.addEventListener('abort', () => held.release({ ...ENDED }));
      return held.hold();
    };
    const store = new ShakyStore(place.store);
    const clock = new QuickClock();
    const engine = await place.host({ options: SHORT, store, clock });
    const here = await talkTo(engine);
    await say(engine, here, 'think');
    await held.begun;
    let isFirst = true;
    store.mishap = ({ unit }) => {
      if (unit !== 'task.due' || !isFirst) return undefined;
      isFirst = false;
      return 'unseen';
    };
    place.clock.advance(30 * MINUTE);
    clock.advance(30 * MINUTE);
    await taskIn(engine, here, 'expired');
    await eventually(async () => (await place.rows('turn'))[0]?.['state'] === 'ended');
    assert.equal(isFirst, false);
    const [task] = await place.rows('task');
    assert.deepEqual(await noticesOf(place, String(task?.['id'])), ['deadline_passed']);
    await engine.stop(0);
  });

  test('that passed while no host ran ends the task at the start', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const former = await mortal(place, { options: SHORT });
    const task = await waiting(former.engine, 'in 1799 s');
    former.kill();
    place.clock.advance(HOUR);
    const engine = await place.host({ options: SHORT });
    await becomes(place, task.id, 'expired');
    await engine.stop(0);
  });
});

const ENDED = {
  kind: 'fault',
  class: 'aborted',
  code: 'ended',
  message: 'ended',
  retryAt: null,
  usage: null,
} as const;

describe('a window that runs out', () => {
  test('T-6 blocks the task with one notice, ends its run, and its way out leads out', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const engine = await place.host();
    const run = await order(engine, 'ask me');
    const task = await taskIn(engine, run.conversationId, 'waiting');
    place.clock.advance(LIMITS.answerWaitMs);
    const row = await becomes(place, task.id, 'blocked');
    assert.equal(row['reason'], 'wait_elapsed');
    assert.deepEqual(JSON.parse(String(row['outcome_data'])), { wait: 'answer' });
    assert.deepEqual(await noticesOf(place, task.id), ['wait_elapsed']);
    const [ended] = await place.rows('run');
    assert.deepEqual([ended?.['state'], ended?.['outcome_code']], ['failed', 'wait_elapsed']);
    assert.equal(place.model.requests.length, 1, 'it does not work on by itself');
    const by = { taskId: task.id, principal: ANNA, channel: 'api' };
    assert.equal((await engine.resumeTask(by)).kind, 'ordered');
    await becomes(place, task.id, 'completed');
    await engine.stop(0);
  });

  test('E-4 of an approval expires it with the block, and nothing runs', async () => {
    const place = askingPlace();
    const engine = await place.host();
    const here = await talkTo(engine);
    await say(engine, here, 'pay Ben');
    const task = await taskIn(engine, here, 'waiting');
    place.clock.advance(OPTIONS.approvalMs);
    await becomes(place, task.id, 'blocked');
    const [approval] = await place.rows('approval');
    assert.equal(approval?.['state'], 'expired');
    const decided = (await place.rows('event')).filter(({ type }) => type === 'approval.decided');
    assert.equal(decided.length, 1);
    assert.deepEqual(await noticesOf(place, task.id), ['awaits_approval', 'wait_elapsed']);
    assert.equal(place.tools.ran.length, 0);
    await engine.stop(0);
  });

  test('E-4 of an approval that its task does not wait for closes the approval alone', async () => {
    const place = askingPlace();
    const engine = await place.host();
    const here = await talkTo(engine);
    await say(engine, here, 'pay Ben');
    const task = await taskIn(engine, here, 'waiting');
    const by = { taskId: task.id, principal: ANNA, channel: 'api' };
    assert.equal((await engine.pauseTask(by)).kind, 'ordered');
    const before = await taskRow(place, task.id);
    place.clock.advance(OPTIONS.approvalMs);
    await eventually(async () => (await place.rows('approval'))[0]?.['state'] !== 'open');
    const [approval] = await place.rows('approval');
    assert.equal(approval?.['state'], 'expired');
    assert.deepEqual(await taskRow(place, task.id), before);
    await engine.stop(0);
  });
});

test('one task that cannot be settled holds back no other', async () => {
  const place = new Installation();
  waitsAsAsked(place);
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store });
  const [bad, good] = [
    await waiting(engine, 'in 60 s', 'bad'),
    await waiting(engine, 'in 60 s', 'good'),
  ];
  let tries = 0;
  store.mishap = ({ unit }) => {
    if (unit !== 'task.due') return undefined;
    tries += 1;
    return tries === 1 ? 'disk_full' : undefined;
  };
  place.clock.advance(60 * SECOND);
  await eventually(async () => {
    const states = [await taskRow(place, bad.id), await taskRow(place, good.id)];
    return states.some(({ state }) => state === 'completed');
  });
  // A further look finds the other.
  for (let looks = 0; looks < 3; looks += 1) {
    place.clock.advance(30 * SECOND);
    await pass();
  }
  for (const { id } of [bad, good]) await becomes(place, id, 'completed');
  await engine.stop(0);
});
