import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../src/engine/create.ts';
import { ANNA, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

test('W-3 all commands that a crash left open are answered at the next start', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store, ({ unit }) =>
    unit === 'command.answer' ? 'hangs' : undefined,
  );
  const dead = await place.host({ store });
  const conversationId = await dead.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  for (let n = 0; n < 150; n += 1)
    await dead.acceptMessage({ conversationId, text: '/help', principal: ANNA });
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  assert.equal((await place.rows('outbox')).length, 150);
  await engine.stop(0);
});

test('W-3 a command that cannot be answered is tried again at each tick and holds back no other', async () => {
  const place = new Installation();
  const clock = new QuickClock();
  let refused = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'command.answer') return undefined;
    refused += 1;
    return refused <= 70 ? 'disk_full' : undefined;
  });
  const engine = createEngine(place.parts({ store, clock }));
  await engine.start();
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  for (let n = 0; n < 80; n += 1)
    await engine.acceptMessage({ conversationId, text: '/help', principal: ANNA });
  for (let tick = 0; tick < 3; tick += 1) {
    clock.advance(OPTIONS.tickMs);
    for (let round = 0; round < 300; round += 1) await new Promise(setImmediate);
  }
  assert.equal((await place.rows('outbox')).length, 80);
  await engine.stop(0);
});

test('T-1 a reader that breaks takes nothing down with it', async () => {
  const place = new Installation();
  place.model.answer = () => says('ok');
  const engine = await place.host();
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  engine.live.subscribe(conversationId, () => {
    throw new Error('a broken reader');
  });
  const accepted = await engine.acceptMessage({ conversationId, text: 'hello', principal: ANNA });
  assert.equal(accepted.kind, 'accepted');
  const task = await taskIn(engine, conversationId, 'completed');
  assert.equal(task.reason, 'answered');
  await engine.stop(0);
});

test('the text of a turn that was thrown out is forgotten', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store, ({ unit }) =>
    unit === 'turn.end' ? 'bug' : undefined,
  );
  place.model.answer = () => says('half said');
  const engine = await place.host({ store });
  const run = await engine.acceptRun({ input: 'a', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await taskIn(engine, run.conversationId, 'waiting');
  while (engine.health().runningTurns > 0) await new Promise(setImmediate);
  assert.equal(engine.live.textInProgress(run.conversationId), undefined);
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => step['state']),
    ['finished'],
  );
  await engine.stop(0);
});
