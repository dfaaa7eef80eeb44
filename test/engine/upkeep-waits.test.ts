// Waits that come due (T-6, T-12), and those that a host did not see through.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import type { TaskId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, pass, restOf } from '../support/acts.ts';
import { ADMIN, fails, Installation, OPTIONS, says } from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';
import {
  becomes,
  mortal,
  noticesOf,
  taskRow,
  waiting,
  waitsAsAsked,
  wakesOf,
} from './upkeep-support.ts';

describe('an instant that a task set', () => {
  test('T-6 wakes it once, with one input that quotes the request and no more authority', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const engine = await place.host();
    const task = await waiting(engine, 'in 90 s');
    place.clock.advance(89 * SECOND);
    await pass();
    assert.equal((await taskRow(place, task.id))['state'], 'waiting');
    place.clock.advance(SECOND);
    await becomes(place, task.id, 'completed');
    const wakes = await wakesOf(place, task.id);
    assert.equal(wakes.length, 1);
    assert.equal(wakes[0]?.['external_id'], `${task.id}:${task.version + 1}`);
    assert.match(String(wakes[0]?.['text']), /> in 90 s$/);
    assert.deepEqual([wakes[0]?.['kind'], wakes[0]?.['authority']], ['generated', 'own']);
    assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant']);
    await engine.stop(0);
  });

  test('far beyond the tick is found by its timer or by the poll', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const engine = await place.host();
    const task = await waiting(engine, 'in 86400 s');
    for (let passed = 0; passed < DAY; passed += OPTIONS.tickMs) {
      place.clock.advance(OPTIONS.tickMs);
      await pass(1);
    }
    await becomes(place, task.id, 'completed');
    await engine.stop(0);
  });

  for (const mishap of ['unseen', 'busy', 'disconnected'] as const) {
    test(`wakes it once though the commit is ${mishap}`, async () => {
      const place = new Installation();
      waitsAsAsked(place);
      const store = new ShakyStore(place.store);
      const clock = new QuickClock();
      const engine = await place.host({ store, clock });
      const task = await waiting(engine, 'in 20 s');
      let isFirst = true;
      store.mishap = ({ unit }) => {
        if (unit !== 'task.due' || !isFirst) return undefined;
        isFirst = false;
        return mishap;
      };
      place.clock.advance(20 * SECOND);
      clock.advance(20 * SECOND);
      await becomes(place, task.id, 'completed');
      assert.equal(isFirst, false);
      assert.equal((await wakesOf(place, task.id)).length, 1);
      assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant']);
      await engine.stop(0);
    });
  }

  test('wakes it once though two hosts look', async () => {
    const place = new Installation({ exclusive: false });
    waitsAsAsked(place);
    const options = { ...OPTIONS, leaseMs: HOUR };
    const engines = [await place.host({ options }), await place.host({ options })];
    const task = await waiting(engines[0]!, 'in 90 s');
    for (let ticks = 0; ticks < 4; ticks += 1) {
      place.clock.advance(30 * SECOND);
      await pass(4);
    }
    await becomes(place, task.id, 'completed');
    assert.equal((await wakesOf(place, task.id)).length, 1);
    for (const engine of engines) await engine.stop(0);
  });

  test('wakes all of many that are due at once', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const engine = await place.host();
    const many = LIMITS.dueMax + 9;
    for (let index = 0; index < many; index += 1) await waiting(engine, 'in 90 s', `lane ${index}`);
    place.clock.advance(90 * SECOND);
    await eventually(async () =>
      (await place.rows('task')).every(({ state }) => state === 'completed'),
    );
    assert.equal(place.model.requests.length, 2 * many);
    await engine.stop(0);
  });
});

/** The standing of the task and the move that led there; neither speaks of work that was not done. */
async function saysOfIt(engine: Engine, id: TaskId, cause: RegExp): Promise<void> {
  const reader = { locale: 'en', timeZone: 'UTC' } as const;
  const said = await explainTask(engine.parts, id, reader);
  const moved = said?.chain.find((line) => line.includes('The task stayed waiting.')) ?? '';
  for (const text of [said?.sentence ?? '', moved]) assert.match(text, cause);
}

describe('a wait that the host did not see through', () => {
  async function restarted(downFor: number, isClean: boolean) {
    const place = new Installation();
    waitsAsAsked(place);
    const former = await mortal(place);
    const task = await waiting(former.engine, 'in 90 s');
    await restOf(former.engine);
    if (isClean) await former.engine.stop(0);
    else former.kill();
    place.clock.advance(downFor);
    const engine = await place.host();
    return { place, task, engine };
  }

  test('R-1 became due while no host ran: it waits for an assessment and does not wake', async () => {
    const { place, task, engine } = await restarted(2 * MINUTE, true);
    await eventually(async () => (await taskRow(place, task.id))['wait_kind'] === 'assessment');
    const row = await taskRow(place, task.id);
    assert.deepEqual([row['state'], row['reason']], ['waiting', 'interrupted']);
    assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant']);
    await saysOfIt(engine, task.id, /Its time came while no host ran/);
    place.clock.advance(HOUR);
    await pass();
    assert.equal(place.model.requests.length, 1, 'nothing works on');
    assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant'], 'nobody is told of it');
    await engine.stop(0);
  });

  test('R-1 goes on after a clean stop when it comes due later', async () => {
    const { place, task, engine } = await restarted(MINUTE, true);
    place.clock.advance(29 * SECOND);
    await pass();
    assert.equal((await taskRow(place, task.id))['state'], 'waiting');
    place.clock.advance(SECOND);
    await becomes(place, task.id, 'completed');
    await engine.stop(0);
  });

  test('R-1 stood there at a crash: it is interrupted when it comes due, not before', async () => {
    const { place, task, engine } = await restarted(MINUTE, false);
    await pass();
    assert.equal((await taskRow(place, task.id))['wait_kind'], 'instant');
    place.clock.advance(30 * SECOND);
    await eventually(async () => (await taskRow(place, task.id))['wait_kind'] === 'assessment');
    await saysOfIt(engine, task.id, /The host stopped without warning while it waited/);
    const fresh = await waiting(engine, 'in 60 s');
    place.clock.advance(MINUTE);
    await becomes(place, fresh.id, 'completed');
    assert.equal((await taskRow(place, task.id))['wait_kind'], 'assessment');
    await engine.stop(0);
  });

  test('R-1 of an answer is none: the answer goes on with it after a crash', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const former = await mortal(place);
    const task = await waiting(former.engine, 'ask me');
    former.kill();
    place.clock.advance(HOUR);
    const engine = await place.host();
    const said = { conversationId: task.here, text: 'Friday', principal: ADMIN };
    assert.equal((await engine.acceptMessage(said)).kind, 'accepted');
    await becomes(place, task.id, 'completed');
    await engine.stop(0);
  });

  test('a host that comes beside one that lives interrupts nothing', async () => {
    const place = new Installation({ exclusive: false });
    waitsAsAsked(place);
    const options = { ...OPTIONS, leaseMs: HOUR };
    const one = await place.host({ options });
    const task = await waiting(one, 'in 90 s');
    place.clock.advance(SECOND);
    const two = await place.host({ options });
    place.clock.advance(89 * SECOND);
    await becomes(place, task.id, 'completed');
    await one.stop(0);
    await two.stop(0);
  });
});

describe('a quota', () => {
  async function parked(place: Installation, until: number, tasks: number) {
    place.model.answer = () =>
      place.clock.now() < until ? fails('transient', 'http_429', { retryAt: until }) : says('done');
    const engine = await place.host();
    const all = [];
    for (let index = 0; index < tasks; index += 1) all.push(await waiting(engine, `task ${index}`));
    return { engine, all };
  }

  test('T-12 lets its tasks go on at the named instant: one call finds out, each is told once', async () => {
    const place = new Installation();
    const until = place.clock.now() + 5 * HOUR;
    const { engine, all } = await parked(place, until, 12);
    assert.equal(place.model.requests.length, 1, 'the others learn it without a call');
    place.clock.advance(2 * HOUR);
    await pass();
    assert.equal(place.model.requests.length, 1);
    place.clock.advance(3 * HOUR);
    for (const { id } of all) {
      await becomes(place, id, 'completed');
      assert.deepEqual(await noticesOf(place, id), ['awaits_quota', 'goes_on']);
      const [wake] = await wakesOf(place, id);
      assert.equal(wake?.['text'], '', 'the session says it all');
    }
    assert.equal(place.model.requests.length, 13);
    assert.deepEqual(engine.health().limiters, []);
    await engine.stop(0);
  });

  test('T-12 survives a clean restart half way, and is interrupted when it ended while no host ran', async () => {
    for (const downFor of [HOUR, 6 * HOUR]) {
      const place = new Installation();
      const until = place.clock.now() + 5 * HOUR;
      const { engine, all } = await parked(place, until, 3);
      await engine.stop(0);
      place.clock.advance(downFor);
      const next = await place.host();
      assert.equal(next.health().limiters.length, 1, 'the limit is kept');
      place.clock.advance(5 * HOUR - downFor > 0 ? 5 * HOUR - downFor : 0);
      for (const { id } of all) {
        if (downFor === HOUR) await becomes(place, id, 'completed');
        else await eventually(async () => (await taskRow(place, id))['reason'] === 'interrupted');
      }
      await next.stop(0);
    }
  });
});
