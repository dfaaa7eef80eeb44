import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { closeLost } from '../../src/engine/dispatch/lease.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ExecutionId } from '../../src/kernel/ids.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { hostRow, idOf } from '../../src/testing/store-rows.ts';
import { everyRow, pass, restOf } from '../support/acts.ts';
import { ADMIN, ANNA, Installation } from '../support/host.ts';
import {
  BEGIN,
  FORMER,
  hashOf,
  oldPlaces,
  oldTask,
  oldWorker,
  strayWorker,
} from '../support/history.ts';
import { ShakyStore } from '../support/store-faults.ts';

const ID = idOf('execution', 1);
const current = { enrollment: 'current' } as const;

async function workerIn({ store }: Installation, id: ExecutionId = ID): Promise<ExecutionRecord> {
  const worker = await store.query('execution.byId', { id });
  assert.ok(worker !== undefined);
  return worker;
}

/** A current task of now that stands still, with the worker of an import beside it. */
async function withWorker(
  place: Installation,
  given: { readonly task?: Partial<TaskRecord>; readonly worker?: Partial<ExecutionRecord> } = {},
): Promise<void> {
  const standing = { ...current, state: 'paused', reason: 'paused' } as const;
  await mustPut(
    place.store,
    ...oldPlaces(),
    { write: 'task.insert', row: oldTask(1, { ...standing, ...given.task }) },
    { write: 'execution.insert', row: oldWorker(1, { state: 'paused', ...given.worker }) },
  );
}

describe('R-14 a record that says running', () => {
  test('INC-005 is taken up at the start, whoever wrote it, and counts as nobody at work', async () => {
    const place = new Installation();
    await withWorker(place, { worker: { ...current, state: 'running' } });
    const engine = await place.host();
    const worker = await workerIn(place);
    assert.deepEqual([worker.state, worker.hostId, worker.version], ['retrying', null, 2]);
    await engine.stop(0);
    const rows = await everyRow(place);
    const next = await place.host();
    assert.deepEqual((await everyRow(place))['execution'], rows['execution']);
    await next.stop(0);
  });

  test('on a shared store it is left to a host that lives, and taken up when its lease is over', async () => {
    const place = new Installation({ exclusive: false });
    await withWorker(place, { worker: { ...current, state: 'running' } });
    const alive = { id: FORMER, startedAt: BEGIN - HOUR, aliveUntil: BEGIN + 10_000 };
    await mustPut(place.store, { write: 'host.insert', row: hostRow(alive) });
    const parts = place.parts();
    assert.equal(await closeLost(parts, idOf('host', 1)), 0);
    assert.equal((await workerIn(place)).state, 'running');
    place.clock.advance(10_000);
    assert.equal(await closeLost(parts, idOf('host', 1)), 1);
    assert.equal((await workerIn(place)).state, 'retrying');
    assert.equal(await closeLost(parts, idOf('host', 1)), 0);
  });

  test('of a host that has stopped cleanly, or that nobody knows, it is taken up at once', async () => {
    for (const hostId of [FORMER, idOf('host', 77), null]) {
      const place = new Installation({ exclusive: false });
      await withWorker(place, { worker: { ...current, state: 'running', hostId } });
      const stopped = hostRow({ id: FORMER, aliveUntil: BEGIN + HOUR, stoppedAt: BEGIN - 1 });
      await mustPut(place.store, { write: 'host.insert', row: { ...stopped, end: 'clean' } });
      assert.equal(await closeLost(place.parts(), idOf('host', 1)), 1);
    }
  });

  test('what is held, and what this host runs itself, stays as it is', async () => {
    const place = new Installation();
    await withWorker(place, { worker: { enrollment: 'held-legacy', state: 'running' } });
    const own = oldWorker(2, { ...current, hostId: idOf('host', 1) });
    await mustPut(place.store, { write: 'execution.insert', row: own });
    const before = await place.rows('execution');
    assert.equal(await closeLost(place.parts(), idOf('host', 1)), 0);
    assert.deepEqual(await place.rows('execution'), before);
  });

  test('a takeover whose outcome stays unknown is made once', async () => {
    const place = new Installation();
    await withWorker(place, { worker: { ...current, state: 'running' } });
    const shaky = new ShakyStore(place.store, ({ index }) => (index === 0 ? 'unseen' : undefined));
    const work = closeLost(place.parts({ store: shaky }), idOf('host', 1));
    await pass();
    place.clock.advance(1_000);
    await work;
    assert.equal((await workerIn(place)).version, 2);
  });
});

describe('T-6 a polling window', () => {
  const window = {
    state: 'waiting',
    reason: 'awaits_answer',
    waitKind: 'answer',
    waitUntil: BEGIN + HOUR,
    dueAt: BEGIN + HOUR,
    changedAt: BEGIN - HOUR,
  } as const;

  async function standsAfter(
    worker: Partial<ExecutionRecord>,
    hours: number,
  ): Promise<readonly unknown[]> {
    const place = new Installation();
    await withWorker(place, { task: window, worker: { ...current, state: 'ready', ...worker } });
    const engine = await place.host();
    for (let hour = 0; hour < hours; hour += 1) {
      place.clock.advance(HOUR);
      await restOf(engine);
    }
    const task = await place.store.query('task.byId', { id: idOf('task', 1) });
    await engine.stop(0);
    return [task?.state, task?.reason, task?.waitUntil];
  }

  test('is set again for the same length while a worker of its task is at work', async () => {
    const at = BEGIN + HOUR;
    assert.deepEqual(await standsAfter({}, 1), ['waiting', 'awaits_answer', at + 2 * HOUR]);
    assert.deepEqual(await standsAfter({}, 3), ['waiting', 'awaits_answer', at + 4 * HOUR]);
  });

  test('blocks when the worker is of another mandate, or held, or does nothing', async () => {
    for (const worker of [
      { mandateHash: hashOf(9) },
      { enrollment: 'held-legacy' },
      { state: 'paused' },
      { state: 'completed', endedAt: BEGIN },
    ] as const)
      assert.deepEqual(await standsAfter(worker, 1), ['blocked', 'wait_elapsed', null]);
  });
});

describe('one exact resume of a worker', () => {
  async function held(
    given: Parameters<typeof withWorker>[1] = {},
  ): Promise<{ readonly place: Installation; readonly engine: Engine }> {
    const place = new Installation();
    await withWorker(place, given);
    const engine = await place.host();
    assert.equal((await workerIn(place)).enrollment, 'held-legacy');
    return { place, engine };
  }

  test('B-9 enrols that one, with its event, its receipt and its entry in the log', async () => {
    const { place, engine } = await held();
    const others = oldWorker(2, { enrollment: 'held-legacy', taskId: idOf('task', 1) });
    await mustPut(place.store, { write: 'execution.insert', row: others });
    const order = { executionId: ID, principal: ADMIN, channel: 'api', receiptId: 'once' };
    const first = await engine.resumeWorker(order);
    const second = await engine.resumeWorker(order);
    assert.ok(first.kind === 'ordered' && second.kind === 'ordered');
    assert.deepEqual([first.repeated, second.repeated], [false, true]);
    assert.deepEqual(second.execution, first.execution);
    const worker = await workerIn(place);
    assert.deepEqual([worker.enrollment, worker.state, worker.version], ['current', 'paused', 3]);
    const other = await workerIn(place, idOf('execution', 2));
    assert.deepEqual([other.enrollment, other.version], ['held-legacy', 1]);
    const events = (await place.rows('event')).filter(({ type }) => type === 'worker.enrolled');
    assert.equal(events.length, 1);
    const log = (await place.rows('audit')).filter(({ action }) => action === 'worker.resume');
    assert.deepEqual(
      log.map(({ principal, subject_id: subject }) => [principal, subject]),
      [['key:ops', ID]],
    );
    await engine.stop(0);
  });

  test('B-9 one that says that it runs is taken up again and not left to nobody', async () => {
    const task = { ...current, state: 'paused', reason: 'paused' } as const;
    const place = new Installation();
    await withWorker(place, {
      task,
      worker: { state: 'running', enrollment: 'held-legacy' },
    });
    const engine = await place.host();
    const verdict = await engine.resumeWorker({
      executionId: ID,
      principal: ADMIN,
      channel: 'api',
    });
    assert.equal(verdict.kind === 'ordered' && verdict.execution.state, 'retrying');
    await engine.stop(0);
  });

  test('B-9 every refusal changes nothing', async () => {
    const cases: readonly (readonly [string, Parameters<typeof withWorker>[1], object?])[] = [
      ['forbidden', {}, { principal: ANNA }],
      ['not_found', {}, { executionId: idOf('execution', 9) }],
      ['version_conflict', {}, { expectedVersion: 1 }],
      ['not_allowed_now', { worker: { mandateHash: hashOf(9) } }],
      ['not_allowed_now', { task: { enrollment: 'unmarked' } }],
      ['task_ended', { task: { state: 'completed', reason: 'answered', endedAt: BEGIN - 1 } }],
      ['deadline_passed', { worker: { deadline: BEGIN - DAY } }],
      ['budget_exhausted', { task: { turnsUsed: 50 } }],
    ];
    for (const [code, given, by = {}] of cases) {
      const { place, engine } = await held(given);
      await restOf(engine);
      const before = await everyRow(place);
      const order = { executionId: ID, principal: ADMIN, channel: 'api', ...by };
      const verdict = await engine.resumeWorker(order);
      assert.equal(verdict.kind === 'refused' ? verdict.code : verdict.kind, code);
      assert.deepEqual(await everyRow(place), before, code);
      await engine.stop(0);
    }
  });

  test('B-6 one of unknown ownership is enrolled by nobody', async () => {
    const { place, engine } = await held();
    const stray = { ...strayWorker(5), enrollment: 'held-legacy' } as const;
    await mustPut(place.store, { write: 'execution.insert', row: stray });
    const order = { executionId: stray.id, principal: ADMIN, channel: 'api' };
    const verdict = await engine.resumeWorker(order);
    assert.equal(verdict.kind === 'refused' ? verdict.code : verdict.kind, 'not_allowed_now');
    assert.equal((await workerIn(place, stray.id)).enrollment, 'held-legacy');
    await engine.stop(0);
  });
});
