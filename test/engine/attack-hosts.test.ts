import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../src/engine/create.ts';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ToolOutcome } from '../../src/ports/tools.ts';
import { ANNA, asks, HandClock, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { QuickClock, ShakyStore, storeFault } from '../support/store-faults.ts';

const SHARED = { ...OPTIONS, tickMs: LIMITS.tickMsShared };
const ENDED: ToolOutcome = { kind: 'error', code: 'ended', text: 'ended' };

async function pass(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise(setImmediate);
}

/** Time passes for every host, in steps that a lease survives. */
async function elapse(clocks: readonly HandClock[], ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    for (const clock of clocks) clock.advance(Math.min(left, 1_000));
    await pass();
  }
}

/** A host that can be frozen: its timers stand still and its commits wait. */
async function freezable(
  place: Installation,
  pid: number,
  { whileBusy }: Pick<EngineOptions, 'whileBusy'> = OPTIONS,
) {
  const clock = new QuickClock();
  clock.advance(place.clock.now() - clock.now());
  let frozen: PromiseWithResolvers<void> | undefined;
  const store = new ShakyStore(place.store, async () => {
    await frozen?.promise;
    return undefined;
  });
  const options = { ...SHARED, pid, whileBusy };
  const engine = createEngine(place.parts({ store, clock, options }));
  await engine.start();
  const freeze = (): void => {
    frozen = Promise.withResolvers();
  };
  const thaw = (): void => {
    frozen?.resolve();
    frozen = undefined;
  };
  return { engine, clock, store, freeze, thaw };
}

async function working(place: Installation, engine: Engine) {
  const started = Promise.withResolvers<AbortSignal>();
  const finished = Promise.withResolvers<ToolOutcome>();
  place.model.answer = (request) =>
    request.messages.at(-1)?.role === 'user' ? asks(['pay', { sum: 1 }]) : says('paid');
  place.tools.perform = (_call, signal) => {
    started.resolve(signal);
    signal.addEventListener('abort', () => finished.resolve(ENDED));
    return finished.promise;
  };
  const run = await engine.acceptRun({ input: 'pay', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  return { run, signal: await started.promise, finished };
}

test('V19 a host that wakes after a takeover writes nothing and ends its running call', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  const { run, signal } = await working(place, a.engine);
  a.freeze();
  place.clock.advance(LIMITS.leaseMs + 6_000);
  await elapse([b.clock], LIMITS.leaseMs + 6_000);
  const [turn] = await place.rows('turn');
  assert.equal(turn?.['end'], 'interrupted');
  assert.equal(signal.aborted, false);
  a.thaw();
  await elapse([a.clock], LIMITS.tickMsShared + LIMITS.leaseRenewMs);
  assert.equal(signal.aborted, true, 'its call goes on although the turn was taken over');
  await pass();
  assert.equal(a.engine.health().runningTurns, 0);
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  const [task] = await place.rows('task');
  assert.deepEqual([task?.['state'], task?.['reason']], ['waiting', 'interrupted']);
  assert.deepEqual(
    (await place.rows('outbox')).map((entry) => entry['code']),
    ['uncertain_effect'],
  );
  assert.equal(run.kind, 'accepted');
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
});

test('V19 a call that finishes late after a takeover changes nothing', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  const { run, finished } = await working(place, a.engine);
  a.freeze();
  place.clock.advance(LIMITS.leaseMs + 6_000);
  await elapse([b.clock], LIMITS.leaseMs + 6_000);
  a.thaw();
  finished.resolve({ kind: 'result', text: 'paid' });
  await pass(60);
  assert.deepEqual(
    (await place.rows('step')).map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  assert.equal(place.model.requests.length, 1);
  await b.engine.acceptMessage({
    conversationId: run.conversationId,
    text: 'well?',
    principal: ANNA,
  });
  await taskIn(b.engine, run.conversationId, 'completed');
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
});

test('W-1 a stop that arrives on another host ends the call within its limit', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  const { run, signal } = await working(place, a.engine);
  const stopped = await b.engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  assert.equal(stopped.kind, 'stopped');
  assert.equal((await place.rows('conversation'))[0]?.['turn_id'] !== null, true);
  place.clock.advance(LIMITS.tickMsShared);
  await elapse([a.clock, b.clock], LIMITS.tickMsShared + 1_000);
  assert.equal(signal.aborted, true);
  await pass();
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => [turn['state'], turn['end']]),
    [['ended', 'stopped']],
  );
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
});

test('W-1 V14 a call that finishes after a stop elsewhere is recorded and followed by nothing', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  const { run, finished } = await working(place, a.engine);
  await b.engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  finished.resolve({ kind: 'result', text: 'paid' });
  await pass(60);
  assert.equal(place.model.requests.length, 1);
  const steps = await place.rows('step');
  assert.deepEqual(steps.map((step) => [step['state'], step['output']]).slice(1), [
    ['finished', 'paid'],
  ]);
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => [turn['state'], turn['end']]),
    [['ended', 'stopped']],
  );
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
});

test('R-14 a stopping turn of a host that died is closed as stopped by another', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  const { run } = await working(place, a.engine);
  a.freeze();
  await b.engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  await elapse([b.clock], LIMITS.tickMsShared + 1_000);
  assert.equal((await place.rows('turn'))[0]?.['state'], 'stopping');
  place.clock.advance(LIMITS.leaseMs + 6_000);
  await elapse([b.clock], LIMITS.leaseMs);
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => [turn['state'], turn['end']]),
    [['ended', 'stopped']],
  );
  assert.deepEqual(
    (await place.rows('step')).map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  await b.engine.stop(0);
});

/** Two hosts take 40 messages of one conversation in turns, and come to rest. */
async function race(whileBusy: EngineOptions['whileBusy']): Promise<Installation> {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1, { whileBusy });
  const b = await freezable(place, 2, { whileBusy });
  place.model.answer = () => says('ok');
  const conversationId = await a.engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? a : b).engine.acceptMessage({
        conversationId,
        text: `m${index}`,
        principal: ANNA,
      }),
    ),
  );
  await elapse([a.clock, b.clock], 2 * LIMITS.tickMsShared);
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
  return place;
}

test('T-10 two hosts that race for one conversation make one turn a message where messages wait', async () => {
  const place = await race('wait');
  const turns = await place.rows('turn');
  assert.equal(turns.length, 40);
  assert.ok(turns.every((turn) => turn['end'] === 'answered'));
  assert.equal(new Set(turns.map((turn) => turn['token'])).size, 40);
  assert.equal((await place.rows('outbox')).length, 40);
});

test('V2 two hosts that race for one conversation answer each message once where messages steer', async () => {
  const place = await race('steer');
  const turns = await place.rows('turn');
  assert.ok(turns.length < 40, 'nothing has steered');
  assert.ok(turns.every((turn) => turn['end'] === 'answered'));
  assert.equal(new Set(turns.map((turn) => turn['token'])).size, turns.length);
  const answers = (await place.rows('outbox')).map((entry) => entry['id']);
  const messages = await place.rows('message');
  assert.equal(messages.length, 40);
  assert.ok(messages.every((row) => row['state'] === 'done'));
  // What had its answer before more arrived has one of its own.
  const given = new Set(messages.map((row) => row['answer_id']));
  assert.deepEqual(given, new Set(answers));
  const said = place.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
  assert.deepEqual(
    said?.map((message) => 'text' in message && message.text),
    messages.toSorted((one, other) => Number(one['seq']) - Number(other['seq'])).map(textOf),
  );
});

function textOf(row: Readonly<Record<string, unknown>>): unknown {
  return row['text'];
}

test('R-14 a host whose lease has run out claims nothing before it is renewed', async () => {
  const place = new Installation({ exclusive: false });
  const a = await freezable(place, 1);
  const b = await freezable(place, 2);
  place.model.answer = () => says('ok');
  a.store.mishap = ({ unit }) => (unit === 'lease.renew' ? 'bug' : undefined);
  place.clock.advance(LIMITS.leaseMs + 1_000);
  await pass();
  const run = await a.engine.acceptRun({ input: 'hello', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await pass();
  assert.equal((await place.rows('turn')).length, 0);
  b.clock.advance(LIMITS.leaseRenewMs);
  await pass();
  await elapse([b.clock], LIMITS.tickMsShared);
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => [turn['end'], turn['host_id']]),
    [['answered', b.engine.health().hostId]],
  );
  await Promise.all([a.engine.stop(0), b.engine.stop(0)]);
});

test('V20 one turn that cannot be closed holds back no other recovery', async () => {
  const place = new Installation();
  const dead = await place.host({
    instructions: () => new Promise(() => {}),
    options: { ...OPTIONS, concurrentConversations: 200 },
  });
  for (let n = 0; n < 70; n += 1) await dead.acceptRun({ input: `r${n}`, principal: ANNA });
  while ((await place.rows('turn')).length < 70) await pass(1);
  let closes = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'turn.close') return undefined;
    closes += 1;
    return closes === 1 ? 'bug' : undefined;
  });
  const clock = new QuickClock();
  const engine = createEngine(place.parts({ store, clock, options: { ...OPTIONS, pid: 2 } }));
  await engine.start();
  const open = (await place.rows('turn')).filter((turn) => turn['state'] !== 'ended');
  assert.ok(open.length <= 1, `${open.length} turns are still open`);
  clock.advance(OPTIONS.tickMs);
  await pass();
  assert.ok((await place.rows('turn')).every((turn) => turn['state'] === 'ended'));
  await engine.stop(0);
});

test('V20 a store that refuses every claim is not asked again and again', async () => {
  const place = new Installation();
  const idle = await place.host();
  await idle.stop(0);
  for (let n = 0; n < 100; n += 1) await idle.acceptRun({ input: `r${n}`, principal: ANNA });
  let claims = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'turn.claim') return undefined;
    claims += 1;
    return claims <= 400 ? 'disk_full' : undefined;
  });
  const clock = new QuickClock();
  const engine = createEngine(place.parts({ store, clock, options: { ...OPTIONS, pid: 2 } }));
  await engine.start();
  await pass(300);
  // A look of 64 at the start, and one after the second at whose end the store saved something small.
  assert.ok(claims <= 130, `${claims} claims without a longer pause`);
  store.mishap = () => undefined;
  clock.advance(OPTIONS.tickMs);
  await pass(300);
  assert.ok((await place.rows('task')).every((task) => task['state'] === 'completed'));
  await engine.stop(0);
});

test('V20 a claim that missed its candidate looks again at once', async () => {
  const place = new Installation();
  const engine = await place.host();
  await engine.stop(0);
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: 'x',
    principal: ANNA,
  });
  const run = await engine.acceptRun({ input: 'first', conversationId, principal: ANNA });
  await engine.acceptMessage({ conversationId, text: 'second', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  let isFirst = true;
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit !== 'turn.claim' || !isFirst) return undefined;
    isFirst = false;
    // Between the look at the head and the claim the head is stopped.
    await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
    return undefined;
  });
  const next = await place.host({ store, options: { ...OPTIONS, pid: 2 } });
  await pass(60);
  assert.equal((await place.rows('turn')).length, 1);
  await next.stop(0);
});

test('T-16 a fault of the due index at start ends the start, not the process', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store);
  store.onQuery = (read) => {
    if (read === 'inbox.due') throw storeFault('io');
  };
  const engine = createEngine(place.parts({ store }));
  await assert.rejects(engine.start());
  await engine.stop(0);
});
