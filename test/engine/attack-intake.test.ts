import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../src/engine/create.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { ANNA, asks, BEN, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { restOf, say } from '../support/acts.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

const keyed = (key: string, body = key) => ({ idempotency: { key, fingerprint: body } });

test('INC-035 twenty parallel requests with one key make one run, also across hosts and a restart', async () => {
  const place = new Installation({ exclusive: false });
  const hosts = [await place.host(), await place.host({ options: { ...OPTIONS, pid: 2 } })];
  const accepted = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const host = hosts[index % 2] ?? assert.fail();
      return host.acceptRun({ input: 'once', principal: ANNA, ...keyed('k') });
    }),
  );
  await Promise.all(hosts.map((host) => host.stop(0)));
  const later = await place.host({ options: { ...OPTIONS, pid: 3 } });
  accepted.push(await later.acceptRun({ input: 'once', principal: ANNA, ...keyed('k') }));
  const ids = accepted.map((verdict) => ('runId' in verdict ? verdict.runId : verdict.kind));
  assert.equal(new Set(ids).size, 1);
  const messages = new Set(accepted.map((one) => ('messageId' in one ? one.messageId : one.kind)));
  assert.equal(messages.size, 1);
  assert.equal(accepted.filter((one) => 'repeated' in one && !one.repeated).length, 1);
  assert.equal((await place.rows('conversation')).length, 1);
  assert.equal((await place.rows('task')).length, 1);
  await later.stop(0);
});

test('INC-035 a key with another body is refused, and is free again after its time', async () => {
  const place = new Installation();
  const engine = await place.host();
  const first = await engine.acceptRun({ input: 'a', principal: ANNA, ...keyed('k', 'a') });
  const clash = await engine.acceptRun({ input: 'b', principal: ANNA, ...keyed('k', 'b') });
  assert.deepEqual(
    [clash.kind, 'code' in clash && clash.code],
    ['refused', 'idempotency_conflict'],
  );
  const bens = await engine.acceptRun({ input: 'b', principal: BEN, ...keyed('k', 'b') });
  assert.equal(bens.kind === 'accepted' && bens.repeated, false);
  place.clock.advance(LIMITS.idempotencyKeptMs - 1);
  const still = await engine.acceptRun({ input: 'a', principal: ANNA, ...keyed('k', 'a') });
  assert.equal(still.kind === 'accepted' && still.repeated, true);
  place.clock.advance(1);
  const free = await engine.acceptRun({ input: 'b', principal: ANNA, ...keyed('k', 'b') });
  assert.equal(free.kind === 'accepted' && free.repeated, false);
  assert.ok(first.kind === 'accepted' && free.kind === 'accepted' && first.runId !== free.runId);
  await engine.stop(0);
});

test('INC-035 a key used for a message and then for a run is a conflict', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  const message = await engine.acceptMessage({
    conversationId,
    text: 'a',
    principal: ANNA,
    ...keyed('k', 'POST message a'),
  });
  assert.equal(message.kind, 'accepted');
  const run = await engine.acceptRun({ input: 'a', principal: ANNA, ...keyed('k', 'POST run a') });
  assert.deepEqual([run.kind, 'code' in run && run.code], ['refused', 'idempotency_conflict']);
  await engine.stop(0);
});

test('T-1 what is accepted without a key is there once, also when its commit was not seen', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store, clock: new QuickClock() });
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  const unseen = new Set<string>();
  store.mishap = ({ unit }) => {
    if (!unit.startsWith('run.') && !unit.startsWith('inbox.')) return undefined;
    if (unseen.has(unit)) return undefined;
    unseen.add(unit);
    return 'unseen';
  };
  const held = Promise.withResolvers<ReturnType<typeof says>>();
  place.model.answer = () => held.promise;
  const run = await engine.acceptRun({ input: 'a', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const further = await engine.messageRun({ runId: run.runId, text: 'b', principal: ANNA });
  const message = await engine.acceptMessage({ conversationId, text: 'c', principal: ANNA });
  assert.deepEqual([...unseen], ['run.accept', 'run.message', 'inbox.accept']);
  for (const verdict of [run, further, message])
    assert.equal(verdict.kind === 'accepted' && verdict.repeated, false);
  assert.equal((await place.rows('message')).length, 3);
  assert.equal((await place.rows('run')).length, 1);
  held.resolve(says('ok'));
  await engine.stop(60_000);
});

test('I-1 a redelivered message or command changes nothing', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await engine.openConversation({
    channel: 'chat',
    address: 'x',
    principal: ANNA,
  });
  const intake = { conversationId, text: 'hello', principal: ANNA, externalId: 'e1' };
  const both = await Promise.all([engine.acceptMessage(intake), engine.acceptMessage(intake)]);
  await taskIn(engine, conversationId, 'completed');
  const again = await engine.acceptMessage({ ...intake, text: 'edited' });
  const ids = [...both, again].map((one) => ('messageId' in one ? one.messageId : one.kind));
  assert.equal(new Set(ids).size, 1);
  assert.equal((await place.rows('message')).length, 1);
  assert.equal((await place.rows('outbox')).length, 1);
  await engine.stop(0);
});

test('V17 what a task was given stands in the event that made it', async () => {
  const place = new Installation();
  const options = { ...OPTIONS, deadlineMs: 60_000, turnsLimit: 7 };
  const engine = await place.host({ options });
  const run = await engine.acceptRun({ input: 'a', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  // While it runs the message would steer it (T-11) and make no task.
  await taskIn(engine, run.conversationId, 'completed');
  await say(engine, run.conversationId, 'b');
  await restOf(engine);
  const created = (await place.rows('event')).filter((event) => event['type'] === 'task.created');
  const tasks = new Map((await place.rows('task')).map((task) => [task['id'], task]));
  assert.equal(created.length, 2);
  for (const event of created) {
    const task = tasks.get(event['task_id']);
    assert.deepEqual(JSON.parse(String(event['data'])), {
      enrollment: task?.['enrollment'],
      deadline: task?.['deadline'],
      turnsLimit: 7,
      tokensLimit: task?.['tokens_limit'],
      costLimit: task?.['cost_limit'],
      continuationsLimit: task?.['continuations_limit'],
    });
  }
  await engine.stop(0);
});

test('what a turn spent is counted once, also when it was closed by another host', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', {}]);
  place.tools.perform = () => {
    started.resolve();
    return new Promise(() => {});
  };
  const dead = await place.host();
  const run = await dead.acceptRun({ input: 'pay', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await started.promise;
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  const [task] = await place.rows('task');
  assert.deepEqual([task?.['turns_used'], task?.['tokens_used'], task?.['cost_used']], [1, 15, 3]);
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  const [after] = await place.rows('task');
  assert.deepEqual([after?.['tokens_used'], after?.['cost_used']], [15, 3]);
  await engine.stop(0);
});

test('V21 two thousand due conversations and three hundred open turns are worked off', async () => {
  const place = new Installation();
  const dead = await place.host({
    instructions: () => new Promise(() => {}),
    options: { ...OPTIONS, concurrentConversations: 300 },
  });
  await Promise.all(
    Array.from({ length: 300 }, (_, n) => dead.acceptRun({ input: `o${n}`, principal: ANNA })),
  );
  while ((await place.rows('turn')).length < 300) await new Promise(setImmediate);
  const idle = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await idle.stop(0);
  for (let batch = 0; batch < 4; batch += 1) {
    await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        idle.acceptRun({ input: `d${batch} ${n}`, principal: ANNA }),
      ),
    );
  }
  place.model.answer = () => says('ok');
  const store = new ShakyStore(place.store);
  const engine = createEngine(
    place.parts({ store, clock: new QuickClock(), options: { ...OPTIONS, pid: 3 } }),
  );
  await engine.start();
  assert.ok(
    (await place.rows('turn')).filter((turn) => turn['end'] === 'interrupted').length === 300,
  );
  for (;;) {
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    const due = await place.store.query('inbox.due', { generatedSince: 0, limit: 1 });
    if (due.length === 0 && engine.health().runningTurns === 0) break;
  }
  const states = Map.groupBy(await place.rows('task'), (task) => task['state']);
  assert.equal(states.get('completed')?.length, 2_000);
  assert.equal(states.get('waiting')?.length, 300);
  await engine.stop(0);
});

test('V21 what waits for a free place is kept in the store, not in memory', async () => {
  const place = new Installation();
  const held = Promise.withResolvers<ReturnType<typeof says>>();
  place.model.answer = () => held.promise;
  const engine = await place.host({ options: { ...OPTIONS, concurrentConversations: 1 } });
  for (let n = 0; n < 300; n += 1) await engine.acceptRun({ input: `r${n}`, principal: ANNA });
  held.resolve(says('ok'));
  for (;;) {
    await new Promise(setImmediate);
    const due = await place.store.query('inbox.due', { generatedSince: 0, limit: 1 });
    if (due.length === 0 && engine.health().runningTurns === 0) break;
  }
  assert.ok((await place.rows('task')).every((task) => task['state'] === 'completed'));
  await engine.stop(0);
});
