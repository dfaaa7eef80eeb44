// A wall clock that is not believed (design principle 8).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, pass, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  fails,
  Installation,
  OPTIONS,
  says,
  type GivenParts,
} from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';
import { becomes, mortal, noticesOf, taskRow, waiting, waitsAsAsked } from './upkeep-support.ts';

type Row = Readonly<Record<string, unknown>>;
const CONFIRM = { principal: ADMIN, channel: 'api' } as const;

/** A host with a terminal conversation, beside newer ones of other channels. */
async function watchedHost(place: Installation, given: GivenParts = {}) {
  waitsAsAsked(place);
  const engine = await place.host(given);
  const opening = { channel: 'terminal', address: 'terminal', principal: ANNA } as const;
  const terminal = await engine.openConversation(opening);
  await talkTo(engine, 'newer');
  return { engine, terminal };
}

async function clockNotices(place: Installation): Promise<readonly Row[]> {
  return (await place.rows('outbox')).filter(({ code }) => String(code).startsWith('clock_'));
}

async function codes(place: Installation): Promise<readonly unknown[]> {
  return (await clockNotices(place)).map(({ code }) => code);
}

/** Ticks that find nothing to trust. */
async function ticks(place: Installation, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += OPTIONS.tickMs) {
    place.clock.advance(OPTIONS.tickMs);
    await pass(4);
  }
}

describe('a wall clock that jumps ahead', () => {
  test('expires and wakes nothing, and is told of once, at the terminal', async () => {
    const place = new Installation();
    const { engine, terminal } = await watchedHost(place, {
      options: { ...OPTIONS, deadlineMs: DAY },
    });
    const [instant, answer] = [await waiting(engine, 'in 7200 s'), await waiting(engine, 'ask me')];
    place.clock.jump(30 * DAY);
    await ticks(place, 5 * MINUTE);
    for (const { id } of [instant, answer])
      assert.equal((await taskRow(place, id))['state'], 'waiting');
    const notices = await clockNotices(place);
    assert.deepEqual(
      notices.map(({ code }) => code),
      ['clock_distrusted'],
    );
    const [notice] = notices;
    assert.deepEqual([notice?.['conversation_id'], notice?.['level']], [terminal, 'escalation']);
    assert.deepEqual(JSON.parse(String(notice?.['params'])), { drift: 30 * DAY });
    assert.match(wordsOf(notice!), /clock/i);
    const { clock } = engine.health();
    assert.deepEqual([clock.isTrusted, clock.driftMs], [false, 30 * DAY]);
    assert.ok(clock.until !== null && clock.until > place.clock.now());
    await engine.stop(0);
  });

  test('is believed again once it is back: what is due then goes on, and that is told once', async () => {
    const place = new Installation();
    const { engine } = await watchedHost(place);
    const task = await waiting(engine, 'in 60 s');
    place.clock.jump(5 * HOUR);
    await ticks(place, MINUTE);
    place.clock.jump(-5 * HOUR);
    await ticks(place, MINUTE);
    await becomes(place, task.id, 'completed');
    assert.deepEqual(await codes(place), ['clock_distrusted', 'clock_trusted']);
    assert.equal(engine.health().clock.isTrusted, true);
    await engine.stop(0);
  });

  test('is believed as it stands when an admin says so, and by nobody else', async () => {
    const place = new Installation();
    const { engine } = await watchedHost(place);
    const early = await engine.confirmClock(CONFIRM);
    assert.equal(early.kind === 'refused' && early.code, 'clock_trusted');
    const task = await waiting(engine, 'in 7200 s');
    place.clock.jump(5 * HOUR);
    const notAllowed = await engine.confirmClock({ ...CONFIRM, principal: ANNA });
    assert.equal(notAllowed.kind === 'refused' && notAllowed.code, 'forbidden');
    assert.deepEqual(await engine.confirmClock(CONFIRM), { kind: 'confirmed' });
    await becomes(place, task.id, 'completed');
    await eventually(async () => (await clockNotices(place)).length === 2);
    assert.deepEqual(await codes(place), ['clock_distrusted', 'clock_trusted']);
    await ticks(place, 2 * MINUTE);
    assert.equal(engine.health().clock.isTrusted, true);
    await engine.stop(0);
  });

  test('is believed as it stands after ten minutes of the uptime', async () => {
    const place = new Installation();
    const { engine } = await watchedHost(place);
    const task = await waiting(engine, 'in 7200 s');
    place.clock.jump(5 * HOUR);
    await ticks(place, LIMITS.clockDistrustMs);
    assert.equal((await taskRow(place, task.id))['state'], 'waiting');
    await ticks(place, OPTIONS.tickMs);
    await becomes(place, task.id, 'completed');
    assert.deepEqual(await codes(place), ['clock_distrusted', 'clock_trusted']);
    await engine.stop(0);
  });

  test('lets nobody find a limited account out', async () => {
    const place = new Installation();
    const { engine } = await watchedHost(place);
    let isLimited = true;
    place.model.answer = () => (isLimited ? fails('transient', 'http_503') : says('done'));
    await say(engine, await talkTo(engine, 'newer'), 'hello');
    await eventually(() => engine.health().limiters.length === 1);
    isLimited = false;
    place.clock.jump(5 * HOUR);
    await ticks(place, 5 * MINUTE);
    assert.equal(place.model.requests.length, 1);
    place.clock.jump(-5 * HOUR);
    await ticks(place, MINUTE);
    await eventually(() => place.model.requests.length === 2);
    await engine.stop(0);
  });

  test('is in the log and in the state of the host where nobody ever sat at a terminal', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const warned: string[] = [];
    const log = { debug() {}, info() {}, warn: (said: string) => warned.push(said), error() {} };
    const engine = await place.host({ log });
    await talkTo(engine);
    place.clock.jump(5 * HOUR);
    await ticks(place, MINUTE);
    assert.deepEqual(await codes(place), []);
    assert.deepEqual(warned, ['the wall clock is distrusted']);
    assert.equal(engine.health().clock.isTrusted, false);
    await engine.stop(0);
  });

  test('is told of once though the commit is unseen', async () => {
    const place = new Installation();
    const clock = new QuickClock();
    const store = new ShakyStore(place.store);
    const { engine } = await watchedHost(place, { clock, store });
    let isFirst = true;
    store.mishap = ({ unit }) => {
      if (unit !== 'lease.tell' || !isFirst) return undefined;
      isFirst = false;
      return 'unseen';
    };
    clock.jump(5 * HOUR);
    clock.advance(OPTIONS.tickMs);
    await eventually(async () => (await clockNotices(place)).length > 0);
    await pass();
    clock.jump(-5 * HOUR);
    clock.advance(OPTIONS.tickMs);
    await eventually(async () => (await clockNotices(place)).length > 1);
    assert.equal(isFirst, false);
    assert.deepEqual(await codes(place), ['clock_distrusted', 'clock_trusted']);
    await engine.stop(0);
  });
});

describe('a wall clock that stands before the last commit at the start', () => {
  for (const isClean of [true, false]) {
    test(`expires nothing until it is there (${isClean ? 'stop' : 'crash'})`, async () => {
      const place = new Installation();
      waitsAsAsked(place);
      const former = await mortal(place);
      const task = await waiting(former.engine, 'in 60 s');
      await restOf(former.engine);
      place.clock.advance(30 * SECOND);
      await pass();
      if (isClean) await former.engine.stop(0);
      else former.kill();
      place.clock.jump(-5 * MINUTE);
      const engine = await place.host();
      assert.equal(engine.health().clock.isTrusted, false);
      await ticks(place, 4 * MINUTE);
      assert.equal((await taskRow(place, task.id))['wait_kind'], 'instant');
      await ticks(place, 2 * MINUTE);
      assert.equal(engine.health().clock.isTrusted, true);
      const kind = async () => (await taskRow(place, task.id))['wait_kind'];
      await eventually(async () => (await kind()) !== 'instant');
      assert.equal(await kind(), isClean ? null : 'assessment');
      assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant']);
      await engine.stop(0);
    });
  }

  test('is believed at once where nothing was committed after it', async () => {
    const place = new Installation();
    const former = await place.host();
    await former.stop(0);
    const engine = await place.host();
    assert.equal(engine.health().clock.isTrusted, true);
    await engine.stop(0);
  });
});

test('a suspended machine is no clock that runs away: the uptime counts it', async () => {
  const place = new Installation();
  const { engine } = await watchedHost(place);
  const task = await waiting(engine, 'in 7200 s');
  place.clock.advance(5 * HOUR);
  await becomes(place, task.id, 'completed');
  assert.deepEqual(await codes(place), []);
  await engine.stop(0);
});
