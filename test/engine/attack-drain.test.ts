import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../src/engine/create.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import type { ToolOutcome } from '../../src/ports/tools.ts';
import { ANNA, asks, Installation, OPTIONS, says, taskIn, until } from '../support/host.ts';
import { QuickClock, ShakyStore, storeFault } from '../support/store-faults.ts';

const CUT: ModelOutcome = {
  kind: 'fault',
  class: 'aborted',
  code: 'aborted',
  message: 'ended by the host',
  retryAt: null,
  usage: null,
};
const ENDED: ToolOutcome = { kind: 'error', code: 'ended', text: 'ended' };

function onAbort<T>(signal: AbortSignal, outcome: T): Promise<T> {
  if (signal.aborted) return Promise.resolve(outcome);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(outcome));
  });
}

test('R-1 a model call that a drain cuts leaves its task interrupted, never failed', async () => {
  const place = new Installation();
  const asked = Promise.withResolvers<void>();
  place.model.answer = (_request, signal) => {
    asked.resolve();
    return onAbort(signal, CUT);
  };
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'think long', principal: ANNA });
  assert.equal(run.kind, 'accepted');
  await asked.promise;
  await engine.stop(0);
  const [task] = await place.rows('task');
  assert.deepEqual(
    [task?.['state'], task?.['reason'], task?.['wait_kind']],
    ['waiting', 'interrupted', 'assessment'],
  );
  assert.equal((await place.rows('run'))[0]?.['state'], 'open');
  assert.deepEqual(await place.rows('outbox'), [], 'an assessment that is due is no news');
  assert.equal((await place.rows('turn'))[0]?.['end'], 'interrupted');
});

test('E-2 a call that a drain ends half way is uncertain, and nothing starts after it', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', { sum: 1 }], ['pay', { sum: 2 }]);
  place.tools.perform = (_call, signal) => {
    started.resolve();
    return onAbort(signal, ENDED);
  };
  const engine = await place.host();
  await engine.acceptRun({ input: 'pay twice', principal: ANNA });
  await started.promise;
  await engine.stop(0);
  assert.equal(place.tools.ran.length, 1);
  assert.equal(place.model.requests.length, 1);
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => [step['tool'], step['state']]),
    [
      [null, 'finished'],
      ['pay', 'uncertain'],
    ],
  );
  assert.equal((await place.rows('task'))[0]?.['reason'], 'interrupted');
});

test('W-1 a call that does not heed its signal is cut off within its limit after a stop', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  place.model.answer = () => asks(['pay', { sum: 1 }]);
  place.tools.perform = () => {
    started.resolve();
    return new Promise(() => {});
  };
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'pay', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await started.promise;
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  place.clock.advance(LIMITS.stopToolsMs);
  await until(engine, run.conversationId, async () => {
    const [turn] = await place.rows('turn');
    return turn?.['state'] === 'ended';
  });
  const steps = await place.rows('step');
  assert.deepEqual(
    steps.map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  assert.equal(engine.health().runningTurns, 0);
  place.model.answer = () => says('next');
  await engine.acceptMessage({
    conversationId: run.conversationId,
    text: 'and now?',
    principal: ANNA,
  });
  await taskIn(engine, run.conversationId, 'completed');
  await engine.stop(0);
});

test('a drain ends although a model and a tool hang', async () => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  place.tools.perform = () => {
    started.resolve();
    return new Promise(() => {});
  };
  place.model.answer = (request) => {
    if (request.messages.some((message) => message.role === 'user' && message.text === 'pay'))
      return asks(['pay', {}]);
    asked.resolve();
    return new Promise(() => {});
  };
  const engine = await place.host();
  await engine.acceptRun({ input: 'pay', principal: ANNA });
  await engine.acceptRun({ input: 'think', principal: ANNA });
  await Promise.all([started.promise, asked.promise]);
  const stopped = engine.stop(60_000);
  await new Promise(setImmediate);
  place.clock.advance(60_000);
  await new Promise(setImmediate);
  place.clock.advance(LIMITS.stopToolsMs);
  await stopped;
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => turn['end']),
    ['interrupted', 'interrupted'],
  );
  const states = (await place.rows('step')).map((step) => step['state']);
  assert.deepEqual(new Set(states), new Set(['finished', 'uncertain', 'cut']));
});

test('T-16 a turn that a broken port throws out of has its recorded end at once', async () => {
  const place = new Installation();
  const engine = await place.host({
    instructions: () => Promise.reject(new Error('the file is gone')),
  });
  const run = await engine.acceptRun({ input: 'anything', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const task = await taskIn(engine, run.conversationId, 'waiting');
  assert.equal(task.reason, 'interrupted');
  assert.equal((await place.rows('conversation'))[0]?.['turn_id'], null);
  await engine.stop(0);
});

test('T-16 a passing fault of a read costs no turn', async () => {
  const place = new Installation();
  const store = new ShakyStore(place.store);
  let faults = 0;
  store.onQuery = (read) => {
    if (read !== 'step.before' || faults >= 2) return;
    faults += 1;
    throw storeFault('busy');
  };
  const engine = await place.host({ store, clock: new QuickClock() });
  const run = await engine.acceptRun({ input: 'anything', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await taskIn(engine, run.conversationId, 'completed');
  assert.equal(faults, 2);
  await engine.stop(0);
});

test('a host that is stopped while it starts takes up nothing', async () => {
  const place = new Installation();
  const gate = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit === 'lease.start') await gate.promise;
    return undefined;
  });
  const before = await place.host();
  await before.stop(0);
  const run = await before.acceptRun({ input: 'waits', principal: ANNA });
  assert.equal(run.kind, 'accepted');
  const engine = createEngine(place.parts({ store, options: { ...OPTIONS, pid: 2 } }));
  const starting = engine.start();
  const stopping = engine.stop(0);
  gate.resolve();
  await Promise.all([starting, stopping]);
  await new Promise(setImmediate);
  assert.equal(engine.health().state, 'stopped');
  assert.equal(place.model.requests.length, 0);
  assert.ok((await place.rows('host')).every((host) => host['stopped_at'] !== null));
});

test('a host that is stopped while it answers open commands takes up nothing', async () => {
  const place = new Installation();
  const before = await place.host();
  await before.stop(0);
  await before.acceptRun({ input: 'waits', principal: ANNA });
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store);
  store.onQuery = async (read) => {
    if (read !== 'message.openCommands') return;
    reached.resolve();
    await gate.promise;
  };
  const engine = createEngine(place.parts({ store, options: { ...OPTIONS, pid: 2 } }));
  const starting = engine.start();
  await reached.promise;
  const stopping = engine.stop(0);
  gate.resolve();
  await Promise.all([starting, stopping]);
  assert.equal(engine.health().state, 'stopped');
  assert.equal((await place.rows('turn')).length, 0);
});
