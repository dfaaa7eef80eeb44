import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { FORMATS, resultsIn, type Provider } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';

const PARTS = 90;
const BEFORE = 70;
const PER_REPLY = 30;

/** Orders the parts that are not done yet, as many as one reply may call. */
function ordersParts(done: number, upTo: number): ModelAnswer {
  const count = Math.min(PER_REPLY, upTo - done);
  if (count <= 0) return says(`all ${done} are done`);
  const calls = Array.from({ length: count }, (_, index) => ({
    name: 'pay',
    args: JSON.stringify({ part: done + index }),
    id: `part_${done + index}`,
  }));
  return { kind: 'reply', calls };
}

function partsRun({ place }: Stage): readonly number[] {
  return place.tools.ran.map(({ args }) => (JSON.parse(args) as { readonly part: number }).part);
}

async function receiptsOf({ place }: Stage): Promise<readonly unknown[]> {
  const steps = await place.rows('step');
  return steps.filter(({ kind, state }) => kind === 'tool' && state === 'finished');
}

function callsOf({ sent }: Provider): number {
  return sent.filter(({ what }) => what === 'call').length;
}

for (const format of FORMATS) {
  test(`INC-077 (90 calls of one task in place of 90 sub-tasks, the restart is clean) the limit at 70, its end in 5 h, a restart at 2 h: ${format}`, async (t) => {
    const stage = openStage(t);
    const provider = await stage.provider(format, 'first');
    provider.script = (request) => ordersParts(resultsIn(request), PARTS);
    const { tools } = stage.place;
    await provider.fail((request) => {
      const done = resultsIn(request);
      return done < BEFORE
        ? ordersParts(done, BEFORE)
        : fails(429, { 'retry-after': String(5 * 3_600) });
    });
    await stage.start([provider.model('big-1')]);
    const here = await stage.say();
    await stage.until(() => stage.isIn(here, 'waiting awaits_quota'), MINUTE);
    const reset = stage.now + 5 * HOUR;
    assert.equal((await stage.task(here)).waitUntil, reset);
    assert.equal(tools.ran.length, BEFORE);
    const receipts = await receiptsOf(stage);
    const before = { calls: callsOf(provider), requests: provider.sent.length };
    await provider.recover();
    await stage.pass(2 * HOUR);
    await stage.restart('clean');
    await stage.pass(3 * HOUR - 1);
    assert.equal(provider.sent.length, before.requests, 'nobody is asked until then');
    assert.deepEqual(await stage.told(here), ['awaits_quota']);
    await stage.until(() => stage.isIn(here, 'completed answered'), MINUTE);
    assert.deepEqual(await stage.told(here), ['awaits_quota', 'goes_on', 'reply: all 90 are done']);
    assert.equal(callsOf(provider), before.calls + 2, 'one more reply with calls, and the answer');
    assert.deepEqual(
      partsRun(stage),
      Array.from({ length: PARTS }, (_, part) => part),
      'each part once',
    );
    assert.deepEqual((await receiptsOf(stage)).slice(0, BEFORE), receipts, 'receipts unchanged');
    const { state, quotaWaits } = await stage.task(here);
    assert.deepEqual([state, quotaWaits], ['completed', 0]);
  });

  test(`INC-077 many tasks wait for one reset: one call finds out, then the others go on: ${format}`, async (t) => {
    const stage = openStage(t);
    const provider = await stage.provider(format, 'first');
    await provider.fail(fails(429, { 'retry-after': String(5 * 3_600) }));
    await stage.start([provider.model('big-1')]);
    const places = [await stage.say('Order 0')];
    await stage.quiet();
    for (let n = 1; n < 12; n += 1) places.push(await stage.say(`Order ${n}`));
    await stage.pass(HOUR);
    assert.equal(provider.arrived, 1, 'the limit is known to all');
    for (const here of places) assert.deepEqual(await stage.told(here), ['awaits_quota']);
    let most = 0;
    let heard = 0;
    await provider.fail((request) => {
      heard += 1;
      most = Math.max(most, provider.open);
      return heard === 1 ? { kind: 'stall' } : provider.script(request);
    });
    await stage.pass(4 * HOUR + MINUTE);
    assert.deepEqual([heard, most], [1, 1], 'one probes, the others wait for it');
    for (const here of places)
      await stage.until(() => stage.isIn(here, 'completed answered'), 10 * MINUTE);
    for (const here of places)
      assert.deepEqual(await stage.told(here), ['awaits_quota', 'goes_on', 'reply: done, big-1']);
    assert.equal(stage.place.tools.ran.length, places.length);
  });
}
