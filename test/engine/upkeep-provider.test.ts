// Tasks that wait for a provider that cannot be reached (T-18, R-15).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, pass, say, talkTo } from '../support/acts.ts';
import { fails, Installation, OPTIONS, says, type GivenParts } from '../support/host.ts';
import { becomes, mortal, noticesOf, wakesOf } from './upkeep-support.ts';

/** Lets time pass in steps, and what is due go on. */
async function goOn(place: Installation, ms: number, step = SECOND): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    place.clock.advance(step);
    await pass(10);
  }
}

/** Requests of so many people while the provider is away, until each task waits for it. */
async function stranded(place: Installation, count: number, given: GivenParts = {}) {
  const state = { isAway: true };
  place.model.alive = false;
  place.model.answer = () => (state.isAway ? fails('transient', 'connect') : says('done'));
  const { engine, kill } = await mortal(place, given);
  for (let index = 0; index < count; index += 1)
    await say(engine, await talkTo(engine, `lane ${index}`), 'hello');
  await goOn(place, 40 * SECOND);
  await eventually(async () => {
    const tasks = await place.rows('task');
    return tasks.length === count && tasks.every(({ wait_kind }) => wait_kind === 'provider');
  });
  const ids = (await place.rows('task')).map(({ id }) => String(id));
  return { state, engine, kill, ids };
}

async function isBack(place: Installation, state: { isAway: boolean }): Promise<void> {
  state.isAway = false;
  place.model.alive = true;
  await goOn(place, LIMITS.probeMaxMs + MINUTE, 5 * SECOND);
}

describe('a provider that cannot be reached', () => {
  test('T-18 costs one step’s tries for all tasks; when it is back each goes on once, told once', async () => {
    const place = new Installation();
    const { state, engine, ids } = await stranded(place, 12);
    assert.ok(place.model.requests.length <= 8 + LIMITS.modelRetriesMax);
    const asked = place.model.requests.length;
    await goOn(place, 10 * MINUTE, 10 * SECOND);
    assert.equal(place.model.requests.length, asked, 'cheap probes only');
    await isBack(place, state);
    const told: (readonly unknown[])[] = [];
    for (const id of ids) {
      await becomes(place, id, 'completed');
      told.push(await noticesOf(place, id));
      assert.equal((await wakesOf(place, id)).length, 1);
    }
    // The one that found out is told by its answer.
    const both = ['awaits_provider', 'goes_on'];
    assert.deepEqual(
      told.toSorted((a, b) => a.length - b.length),
      [['awaits_provider'], ...ids.slice(1).map(() => both)],
    );
    assert.equal(place.model.requests.length, asked + ids.length);
    assert.deepEqual(engine.health().limiters, []);
    await engine.stop(0);
  });

  test('T-18 that answers probes and fails calls wakes one task at a time, less and less', async () => {
    const place = new Installation();
    const { state, engine, ids } = await stranded(place, 6);
    place.model.alive = true;
    const asked = place.model.requests.length;
    await goOn(place, 30 * MINUTE, 5 * SECOND);
    const tried = place.model.requests.length - asked;
    assert.ok(tried >= 5 && tried <= 14, `${tried} calls in half an hour`);
    const wakes = await Promise.all(ids.map(async (id) => (await wakesOf(place, id)).length));
    const sum = wakes.reduce((one, other) => one + other, 0);
    assert.ok(sum <= tried + 1, `${sum} wakes for ${tried} calls`);
    await isBack(place, state);
    for (const id of ids) await becomes(place, id, 'completed');
    await engine.stop(0);
  });

  test('T-18 is waited for until the deadline at most', async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs: HOUR };
    const { engine, ids } = await stranded(place, 2, { options });
    await goOn(place, HOUR, 30 * SECOND);
    for (const id of ids) {
      await becomes(place, id, 'expired');
      assert.deepEqual(await noticesOf(place, id), ['awaits_provider', 'deadline_passed']);
    }
    await engine.stop(0);
  });

  test('R-1 that comes back after a crash wakes nothing that waited then: each is assessed, and told once that no check let it go on', async () => {
    const place = new Installation();
    const { state, ids, kill } = await stranded(place, 3);
    kill();
    place.clock.advance(MINUTE);
    state.isAway = false;
    place.model.alive = true;
    const asked = place.model.requests.length;
    const engine = await place.host();
    await goOn(place, LIMITS.probeMaxMs, 5 * SECOND);
    for (const id of ids) {
      assert.equal((await becomes(place, id, 'blocked'))['reason'], 'recovery_assessment_failed');
      assert.deepEqual(await noticesOf(place, id), [
        'awaits_provider',
        'recovery_assessment_failed',
      ]);
    }
    assert.equal(place.model.requests.length, asked);
    const cut = (await place.rows('event')).filter(({ reason }) => reason === 'interrupted');
    assert.equal(cut.length, ids.length);
    const instants = cut.map(({ at }) => at);
    assert.equal(new Set(instants).size, 1, 'in one look');
    await finds(engine, place);
    await engine.stop(0);
  });
});

/** A new request is answered: what the former host knew holds nothing back for ever. */
async function finds(engine: Engine, place: Installation): Promise<void> {
  const before = place.model.requests.length;
  await say(engine, await talkTo(engine, 'somebody else'), 'hello');
  await eventually(() => place.model.requests.length > before);
}
