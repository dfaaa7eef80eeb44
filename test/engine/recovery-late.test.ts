import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { everyRow, heldCall, order, restOf, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, asks, Installation, judges, says } from '../support/host.ts';
import { codesOf, elapse, taskOf } from './recovery-support.ts';
import { mortal } from './upkeep-support.ts';

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
