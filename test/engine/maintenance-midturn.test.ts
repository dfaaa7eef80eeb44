// A turn that is ended so that its session can be maintained: what it was at goes on, and what was said meanwhile (M-8, M-12).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { strictRefusal } from '../../src/testing/model-strict-port.ts';
import { eventually, inTime, order, pass, restOf, say, talkTo } from '../support/acts.ts';
import { ANNA, asks, fails, Installation, OPTIONS, says, sumsUp } from '../support/host.ts';
import { comesTo, elapse, messagesOf, ONE_BY_ONE, repliesIn } from './maintenance-support.ts';
import { taskOf } from './recovery-support.ts';

const WINDOW = 8_000;
const PARTS = 12;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** A conversation whose task reads more than the window holds; `during` runs in each of its calls. */
async function reads(
  options: EngineOptions,
  during: (part: number, stand: Stand) => Promise<void> | void = () => {},
): Promise<Stand> {
  const place = new Installation();
  place.model.contextWindow = WINDOW;
  place.model.strictWindow = WINDOW;
  const engine = await place.host({ options });
  const stand = { place, engine, here: await talkTo(engine) };
  place.tools.perform = async () => {
    await during(place.tools.ran.length, stand);
    return { kind: 'result', text: `part ${place.tools.ran.length} ${'r'.repeat(6_000)}` };
  };
  place.model.answer = ({ messages }) => {
    const { length } = place.tools.ran;
    if (length < PARTS) return asks(['look', { part: length }]);
    const shown = messages.map(({ text }) => text).join('\n');
    const asked = new Set([...shown.matchAll(/\bask \d/g)].map(([one]) => one));
    return says(['all read', ...asked].join(', '));
  };
  return stand;
}

function allFit({ model }: Installation): void {
  for (const request of model.requests) assert.equal(strictRefusal(request, WINDOW), undefined);
}

describe('what is said while a turn is ended for maintenance', () => {
  for (const whileBusy of ['steer', 'wait', 'interrupt', 'collect'] as const)
    test(`M-12 is answered, and the work goes on, each part once: ${whileBusy}`, async () => {
      const stand = await reads({ ...OPTIONS, whileBusy }, async (part, { engine, here }) => {
        if (part === 3 || part === 7) await say(engine, here, `ask ${part}`);
      });
      const { place, engine, here } = stand;
      await say(engine, here, 'read all the parts');
      // A turn that was yielded has not been completed: what is full then is tried again after a pause.
      await inTime(place, async () => {
        const rows = await messagesOf(place, here);
        return rows.length === 3 && rows.every(({ state }) => state === 'done');
      });
      await restOf(engine);
      assert.ok((await place.rows('operation')).length > 1);
      const replies = (await repliesIn(place, here)).join('\n');
      assert.match(replies, /all read.*ask 3/);
      assert.match(replies, /all read.*ask 7/);
      const parts = place.tools.ran.map(({ args }) => args);
      assert.equal(new Set(parts).size, parts.length, 'no part twice');
      allFit(place);
    });

  test('M-8 a message of its run is bound to it and read by its next turn', async () => {
    const stand = await reads(ONE_BY_ONE);
    const { place, engine, here } = stand;
    place.summariser.answer = () => fails('transient', 'http_500');
    const { runId, taskId } = await order(engine, 'read all the parts', here);
    await comesTo(engine, here, 'waiting');
    const verdict = await engine.messageRun({
      runId,
      text: 'and mind the last one',
      principal: ANNA,
    });
    assert.equal(verdict.kind, 'accepted');
    await pass();
    assert.equal((await taskOf(place, taskId)).state, 'active');
    place.summariser.answer = () => sumsUp('some parts are read');
    await elapse(place, 2 * SECOND);
    await eventually(async () => (await taskOf(place, taskId)).state === 'completed');
    const shown = place.model.requests.map(({ messages }) =>
      messages.map(({ text }) => text).join('\n'),
    );
    assert.ok(shown.some((text) => text.includes('and mind the last one')));
    const run = await place.store.query('run.byId', { id: runId });
    assert.equal(run?.state, 'completed');
    allFit(place);
  });
});

describe('the task of a turn that was ended for maintenance', () => {
  async function parked(): Promise<Stand & { readonly taskId: string }> {
    const stand = await reads(ONE_BY_ONE);
    const { place, engine, here } = stand;
    place.summariser.answer = () => fails('transient', 'http_500');
    await say(engine, here, 'read all the parts');
    await comesTo(engine, here, 'waiting');
    const [task] = await place.rows('task');
    assert.equal(task?.['state'], 'active');
    return { ...stand, taskId: String(task['id']) };
  }

  test('is stopped behind the fence: nothing of it goes on when that opens', async () => {
    const { place, engine, here, taskId } = await parked();
    const asked = place.model.requests.length;
    const ran = place.tools.ran.length;
    await say(engine, here, `/stop ${taskId}`);
    await restOf(engine);
    assert.equal((await taskOf(place, taskId as never)).state, 'stopped');
    place.summariser.answer = () => sumsUp('some parts are read');
    await elapse(place, 20 * SECOND);
    await comesTo(engine, here, 'done');
    await restOf(engine);
    assert.deepEqual([place.model.requests.length, place.tools.ran.length], [asked, ran]);
    const open = (await place.rows('message')).filter(({ state }) => state !== 'done');
    assert.deepEqual(open, []);
  });

  test('is paused behind the fence, and goes on when it is resumed', async () => {
    const { place, engine, here, taskId } = await parked();
    await say(engine, here, `/pause ${taskId}`);
    await restOf(engine);
    assert.equal((await taskOf(place, taskId as never)).state, 'paused');
    const asked = place.model.requests.length;
    place.summariser.answer = () => sumsUp('some parts are read');
    await elapse(place, 20 * SECOND);
    await comesTo(engine, here, 'done');
    await restOf(engine);
    assert.equal(place.model.requests.length, asked, 'it stays paused');
    await say(engine, here, `/task-resume ${taskId}`);
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    assert.deepEqual(await repliesIn(place, here), ['all read']);
    const parts = place.tools.ran.map(({ args }) => args);
    assert.equal(new Set(parts).size, PARTS, 'no part twice');
  });

  test('goes on after a restart as after the operation', async () => {
    const stand = await parked();
    const { place, here } = stand;
    await stand.engine.stop(0);
    place.summariser.answer = () => sumsUp('some parts are read');
    const engine = await place.host({ options: ONE_BY_ONE });
    await elapse(place, 5 * SECOND);
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    assert.equal(new Set(place.tools.ran.map(({ args }) => args)).size, place.tools.ran.length);
    assert.equal(place.assessor.requests.length, 0, 'a turn that was ended was not interrupted');
    assert.equal(engine.health().state, 'ready');
  });
});

test('M-8 a task that continues itself, or waits for an answer, does so behind the fence', async () => {
  for (const call of [
    ['task_continue', { note: 'ask me to go on' }],
    ['task_wait', { for: 'answer', question: 'Which one?' }],
  ] as const) {
    const place = new Installation();
    place.summariser.answer = () => fails('transient', 'http_500');
    const usage = { inputTokens: 120_000, outputTokens: 5, cost: 3 };
    place.model.answer = () => Object.assign(asks(call), { usage });
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    await say(engine, here, 'the first');
    await comesTo(engine, here, 'waiting');
    await say(engine, here, 'the red one');
    const asked = place.model.requests.length;
    place.model.answer = ({ messages }) => says(`to: ${messages.at(-1)?.text}`);
    await elapse(place, SECOND);
    assert.equal(place.model.requests.length, asked);
    place.summariser.answer = () => sumsUp('all of it');
    await elapse(place, 5 * SECOND);
    await comesTo(engine, here, 'done');
    await restOf(engine);
    const replies = await repliesIn(place, here);
    assert.ok(replies.includes('to: the red one'), replies.join(' | '));
    assert.ok((await place.rows('message')).every(({ state }) => state === 'done'));
  }
});
