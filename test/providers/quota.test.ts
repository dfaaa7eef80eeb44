// A quota that ends and is used up again, for longer than anybody should wait for it (T-12).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { fails } from '../../src/testing/model-answer.ts';
import { eventually } from '../support/acts.ts';
import { ANNA } from '../support/host.ts';
import { FORMATS } from './provider.ts';
import { openStage } from './stage.ts';

for (const format of FORMATS) {
  test(`T-12 ${format}: after ten quota waits in a row the task is blocked, and resumed it goes on`, async (t) => {
    const stage = openStage(t);
    const first = await stage.provider(format, 'first');
    stage.place.tools.perform = async () => {
      await first.fail(fails(429, { 'retry-after': '3600' }));
      return { kind: 'result', text: 'paid' };
    };
    await stage.start([first.model('big-1')]);
    const here = await stage.say();
    await stage.until(() => stage.isIn(here, 'blocked quota'), 11 * HOUR);
    assert.equal(first.arrived, 1 + 1 + LIMITS.quotaWaitsMax, 'one call at each instant');
    const told = await stage.told(here);
    assert.equal(told.filter((code) => code === 'awaits_quota').length, LIMITS.quotaWaitsMax);
    assert.deepEqual(told.slice(-1), ['quota']);
    const { turnsUsed, id: taskId } = await stage.task(here);
    assert.equal(turnsUsed, 1, 'waiting uses nothing up');
    await stage.pass(HOUR);
    assert.equal(first.arrived, 1 + 1 + LIMITS.quotaWaitsMax, 'and it asks no more');
    await first.recover();
    const resumed = await stage.engine.resumeTask({ taskId, principal: ANNA, channel: 'api' });
    assert.equal(resumed.kind, 'ordered');
    await stage.until(() => stage.isIn(here, 'completed answered'), MINUTE);
    assert.equal((await stage.told(here)).at(-1), 'reply: done, big-1');
    assert.equal(stage.place.tools.ran.length, 1);
  });

  test(`T-12 ${format}: an instant after the deadline blocks at once, named as such`, async (t) => {
    const stage = openStage(t, { options: { deadlineMs: HOUR } });
    const first = await stage.provider(format, 'first');
    await first.fail(fails(429, { 'retry-after': String(2 * 3_600) }));
    await stage.start([first.model('big-1')]);
    const here = await stage.say();
    await eventually(() => stage.isIn(here, 'blocked quota'));
    assert.deepEqual(await stage.told(here), ['quota']);
    assert.equal(first.arrived, 1);
    await stage.pass(HOUR);
    assert.equal(await stage.standing(here), 'expired deadline_passed');
  });

  const LIMITED_2H = fails(429, { 'retry-after': String(2 * 3_600) });
  const LIMITED_5H = fails(429, { 'retry-after': String(5 * 3_600) });
  for (const [what, ofFirst, ofOther, hours] of [
    ['the first refuses for good and the fallback is limited', fails(401), LIMITED_5H, 5],
    ['the fallback’s quota ends first', LIMITED_5H, LIMITED_2H, 2],
    ['the first’s quota ends first', LIMITED_2H, LIMITED_5H, 2],
    ['the fallback is away', LIMITED_5H, fails(503), 5],
  ] as const) {
    test(`T-12 ${format}: ${what}: it waits for the quota that ends first, asking nobody`, async (t) => {
      const stage = openStage(t);
      const first = await stage.provider(format, 'first');
      const other = await stage.provider(format, 'other');
      await first.fail(ofFirst);
      await other.fail(ofOther);
      await stage.start([first.model('big-1'), other.model('spare-1')]);
      const here = await stage.say();
      await stage.quiet();
      assert.equal(await stage.standing(here), 'waiting awaits_quota');
      const until = stage.now + hours * HOUR;
      assert.equal((await stage.task(here)).waitUntil, until);
      assert.deepEqual([first.arrived, other.arrived], [1, 1]);
      await Promise.all([first.recover(), other.recover()]);
      await stage.until(() => stage.isIn(here, 'completed answered'), 6 * HOUR);
      assert.equal(stage.now, until);
      assert.equal(
        first.arrived + other.arrived,
        2 + 2,
        'two steps, the second of them the answer',
      );
    });
  }
}
