// What a turn says while it goes on: two notices of one task never have the same key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN, ANNA, asks, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { askedIn, heldCall, restOf, say, talkTo } from '../support/acts.ts';

test('E-4 T-11 a turn that asked and goes on with what arrived can ask, be stopped and be told again', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  const held = heldCall();
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked === 'Pay the bill') return held.hold();
    if (asked === 'and the rent') return asks(['pay', { rent: 1 }]);
    return says('done');
  };
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'Pay the bill');
  await held.begun;
  await say(engine, here, 'and the rent');
  held.release(asks(['pay', { bill: 1 }]));
  const waiting = await taskIn(engine, here, 'waiting');
  assert.equal(waiting.waitKind, 'approval');
  await restOf(engine);
  const open = await engine.store.query('approval.openOfTask', { taskId: waiting.id });
  assert.equal(open.length, 2);
  const order = { taskId: waiting.id, principal: ANNA, channel: 'api' } as const;
  assert.equal((await engine.stopTask(order)).kind, 'stopped');
  await engine.stop(0);
});

test('T-7 T-11 a turn that asked, used its budget up and was told more is blocked with one notice', async () => {
  const place = new Installation();
  place.tools.asked.add('pay');
  const held = heldCall();
  place.model.answer = (request) =>
    askedIn(request) === 'Pay the bill' ? held.hold() : says('done');
  const engine = await place.host({ options: { ...OPTIONS, tokensLimit: 15 } });
  const here = await talkTo(engine);
  await say(engine, here, 'Pay the bill');
  await held.begun;
  await say(engine, here, 'and the rent');
  held.release(asks(['pay', { bill: 1 }]));
  const blocked = await taskIn(engine, here, 'blocked');
  assert.equal(blocked.reason, 'budget_exhausted');
  const codes = (await place.rows('outbox')).map(({ code }) => code);
  assert.deepEqual(codes, ['awaits_approval', 'budget_exhausted']);
  const order = { taskId: blocked.id, principal: ADMIN, channel: 'api' } as const;
  const extended = await engine.extendTask({ ...order, grant: { tokens: 1_000 } });
  assert.equal(extended.kind, 'ordered');
  const waiting = await taskIn(engine, here, 'waiting');
  assert.equal(waiting.waitKind, 'approval', 'what was said was read, and the question stands');
  await engine.stop(0);
});
