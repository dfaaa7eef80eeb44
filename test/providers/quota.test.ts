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
}
