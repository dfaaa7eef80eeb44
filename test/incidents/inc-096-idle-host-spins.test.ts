import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, type Millis } from '../../src/kernel/time.ts';
import type { ReadName } from '../../src/ports/store.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import { HandClock, Installation, OPTIONS, says } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';

/** A hand clock that knows how many wait for it. */
class CountingClock extends HandClock {
  waiting = 0;

  override async sleep(ms: Millis, signal?: AbortSignal): Promise<void> {
    this.waiting += 1;
    await super.sleep(ms, signal);
    this.waiting -= 1;
  }
}

interface Hour {
  readonly queries: number;
  readonly commits: number;
  readonly sleepers: number;
  readonly most: ReadonlyMap<string, number>;
}

/** Simulated hours of an idle host with so many ended tasks behind it. */
async function idleHours(shared: boolean, history: number): Promise<readonly Hour[]> {
  const place = new Installation({ exclusive: !shared });
  place.model.answer = () => says('done');
  const clock = new CountingClock();
  const store = new ShakyStore(place.store);
  const asked = new Map<ReadName, number>();
  store.onQuery = (read) => {
    asked.set(read, (asked.get(read) ?? 0) + 1);
  };
  const tickMs = shared ? LIMITS.tickMsShared : LIMITS.tickMsExclusive;
  const engine = await place.host({ store, clock, options: { ...OPTIONS, tickMs } });
  for (let index = 0; index < history; index += 1)
    await say(engine, await talkTo(engine, `lane ${index % 7}`), `message ${index}`);
  await restOf(engine);
  const hours: Hour[] = [];
  for (let hour = 0; hour < 2; hour += 1) {
    asked.clear();
    const before = store.seen.length;
    for (let passed = 0; passed < HOUR; passed += tickMs) {
      clock.advance(tickMs);
      // The place's own clock is the store's: both move.
      place.clock.advance(tickMs);
      await pass(3);
    }
    hours.push({
      queries: [...asked.values()].reduce((sum, count) => sum + count, 0),
      commits: store.seen.length - before,
      sleepers: clock.waiting,
      most: new Map(asked),
    });
  }
  assert.equal(place.model.requests.length, history, 'an idle host asks no model');
  await engine.stop(0);
  return hours;
}

test('INC-096 an idle host looks at the due index at each tick and does nothing else, whatever lies behind it', async () => {
  for (const shared of [false, true]) {
    const ticks = HOUR / (shared ? LIMITS.tickMsShared : LIMITS.tickMsExclusive);
    const [first, second] = await idleHours(shared, 0);
    assert.deepEqual(second, first, 'the second hour is as the first');
    const [old] = await idleHours(shared, 70);
    assert.deepEqual(old, first, 'ended work costs nothing');
    assert.ok(first !== undefined);
    assert.equal(
      first.commits,
      shared ? HOUR / LIMITS.leaseRenewMs : 0,
      'a lease is renewed, no more',
    );
    // Turns without an owner, what is due by instant, what waits for an assessment, what is maintained (two reads), open
    // commands and the inbox;
    // limiters, the storm and the workers of dead hosts where others change them.
    assert.ok(
      first.queries <= (shared ? 13 : 9) * ticks,
      `${first.queries} queries in ${ticks} ticks`,
    );
    for (const [read, times] of first.most) assert.ok(times <= ticks, `${read}: ${times} times`);
    assert.equal(first.sleepers, shared ? 2 : 1, 'one loop, and one for the lease');
  }
});

test('INC-096 a store that fails at each tick is asked once a tick, and no loop is added', async () => {
  const place = new Installation();
  const clock = new CountingClock();
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store, clock });
  // The looks of the start are over.
  await restOf(engine);
  await pass();
  let asked = 0;
  store.onQuery = () => {
    asked += 1;
    throw new Error('no connection');
  };
  const ticks = 120;
  for (let tick = 0; tick < ticks; tick += 1) {
    clock.advance(OPTIONS.tickMs);
    await pass(3);
  }
  assert.ok(asked <= ticks, `${asked} tries in ${ticks} ticks`);
  assert.equal(clock.waiting, 1);
  store.onQuery = () => {};
  await say(engine, await talkTo(engine), 'hello');
  await restOf(engine);
  assert.equal((await place.rows('outbox')).length, 1);
  await engine.stop(0);
});
