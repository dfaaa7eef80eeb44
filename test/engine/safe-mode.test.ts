import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { verifyAudit } from '../../src/engine/audit/verify.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, heldCall, inTime, pass, say, talkTo } from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  Installation,
  OPTIONS,
  ScriptedModel,
  says,
  taskIn,
  type GivenParts,
} from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { mortal, taskRow, waiting, waitsAsAsked } from './upkeep-support.ts';

const STORMY: GivenParts = {
  options: { ...OPTIONS, recovery: { ...OPTIONS.recovery, safeMode: true } },
};
const BY_ADMIN = { principal: ADMIN, channel: 'api' } as const;

async function terminalOf(engine: Engine): Promise<void> {
  await engine.openConversation({ channel: 'terminal', address: 'desk', principal: ADMIN });
}

/** A host that is killed a minute after it was ready, `times` times in a row. */
async function killed(
  place: Installation,
  times: number,
  given: GivenParts = STORMY,
): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    const { engine, kill } = await mortal(place, given);
    await terminalOf(engine);
    kill();
    place.clock.advance(MINUTE);
  }
}

/** The codes of the host's own notices about storms, in order. */
async function told(place: Installation): Promise<readonly unknown[]> {
  const rows = await place.rows('outbox');
  return rows
    .filter(({ code }) => String(code).startsWith('safe_mode'))
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']))
    .map(({ code, level }) => `${String(code)} ${String(level)}`);
}

const ESCALATED = 'safe_mode escalation';
const OVER = 'safe_mode_over info';

describe('R-12: the third unclean start within ten minutes', () => {
  test('starts nothing by itself, answers people, and goes on when an admin says so', async () => {
    const place = new Installation();
    const { model } = place;
    const assessment = new ScriptedModel(() => new Promise(() => {}), 'judge');
    const given = { ...STORMY, assessment };
    waitsAsAsked(place);
    const first = await mortal(place, given);
    await terminalOf(first.engine);
    const early = await waiting(first.engine, 'in 190 s');
    const held = heldCall();
    model.answer = held.hold;
    const work = await talkTo(first.engine, 'work');
    await say(first.engine, work, 'long work');
    await held.begun;
    first.kill();
    place.clock.advance(MINUTE);
    await killed(place, 2, given);

    const asked = assessment.requests.length;
    assessment.answer = () => says('{"verdict":"continue","reason":"harmless"}');
    waitsAsAsked(place);
    const engine = await place.host(given);
    assert.notEqual(engine.health().safeMode, null);
    const interrupted = await taskIn(engine, work, 'waiting');
    const late = await waiting(engine, 'in 20 s');
    for (let seconds = 0; seconds < 120; seconds += 10) {
      place.clock.advance(10 * SECOND);
      await pass();
    }
    for (const { id } of [early, late, interrupted])
      assert.equal((await taskRow(place, id))['state'], 'waiting');
    assert.equal(assessment.requests.length, asked);

    const here = await talkTo(engine, 'new');
    await say(engine, here, 'hello');
    const answered = await taskIn(engine, here, 'completed');
    assert.equal(answered.mandateText, 'hello');
    assert.equal(assessment.requests.length, asked);

    const by = { principal: ANNA, channel: 'api' };
    const no = await engine.endSafeMode(by);
    assert.deepEqual([no.kind, 'code' in no && no.code], ['refused', 'forbidden']);
    assert.deepEqual(await engine.endSafeMode(BY_ADMIN), { kind: 'ended' });
    assert.equal(engine.health().safeMode, null);
    await inTime(place, async () => {
      const states = [early, late, interrupted].map(({ id }) => taskRow(place, id));
      return (await Promise.all(states)).every(({ state }) => state === 'completed');
    });
    const again = await engine.endSafeMode(BY_ADMIN);
    assert.equal('code' in again && again.code, 'no_safe_mode');
    assert.deepEqual(await told(place), [ESCALATED, OVER]);
    const [entry, ...more] = await place.rows('audit');
    assert.deepEqual(
      [entry?.['action'], entry?.['principal'], more.length],
      ['safe-mode.off', 'key:ops', 0],
    );
    assert.equal((await verifyAudit(engine.parts)).kind, 'whole');
    await engine.stop(0);
  });

  test('takes up no input that the host made before, and all of them once safe mode is over', async () => {
    const place = new Installation();
    waitsAsAsked(place);
    const first = await mortal(place, STORMY);
    await terminalOf(first.engine);
    const waits = await waiting(first.engine, 'in 20 s');
    first.store.mishap = ({ unit }) => (unit === 'turn.claim' ? 'hangs' : undefined);
    place.clock.advance(20 * SECOND);
    await eventually(async () => (await taskRow(place, waits.id))['state'] === 'active');
    first.kill();
    for (let count = 0; count < 2; count += 1) {
      place.clock.advance(SECOND);
      const store = new ShakyStore(place.store, ({ unit }) =>
        unit === 'turn.claim' ? 'hangs' : undefined,
      );
      await place.host({ ...STORMY, store });
      store.mishap = () => 'hangs';
    }
    place.clock.advance(SECOND);
    const engine = await place.host(STORMY);
    assert.notEqual(engine.health().safeMode, null);
    place.clock.advance(MINUTE);
    await pass();
    assert.equal((await taskRow(place, waits.id))['state'], 'active');
    await say(engine, waits.here, 'something else');
    await taskIn(engine, waits.here, 'completed');
    assert.equal((await taskRow(place, waits.id))['state'], 'active');
    await engine.endSafeMode(BY_ADMIN);
    await eventually(async () => (await taskRow(place, waits.id))['state'] === 'completed');
    await engine.stop(0);
  });

  test('is counted over clean starts between, and not where the configuration says no', async () => {
    const place = new Installation();
    await killed(place, 2);
    const clean = await place.host(STORMY);
    assert.equal(clean.health().safeMode, null, 'two are no storm');
    await clean.stop(0);
    await killed(place, 1);
    const off = await place.host();
    assert.equal(off.health().safeMode, null);
    await off.stop(0);
    assert.deepEqual(await place.rows('storm'), []);
    await killed(place, 1);
    const on = await place.host(STORMY);
    assert.notEqual(on.health().safeMode, null);
    await on.stop(0);
  });

  test('is told once in a storm, over its restarts', async () => {
    const place = new Installation();
    await killed(place, 5);
    const engine = await place.host(STORMY);
    assert.notEqual(engine.health().safeMode, null);
    assert.equal((await place.rows('storm')).length, 1);
    assert.deepEqual(await told(place), [ESCALATED]);
    await engine.stop(0);
  });

  test('is recorded where there is nobody to tell', async () => {
    const place = new Installation();
    for (let count = 0; count < 3; count += 1) {
      const { engine, kill } = await mortal(place, STORMY);
      await talkTo(engine);
      kill();
      place.clock.advance(SECOND);
    }
    const engine = await place.host(STORMY);
    assert.notEqual(engine.health().safeMode, null);
    assert.deepEqual(await told(place), []);
    await engine.stop(0);
  });
});

describe('safe mode', () => {
  test('ends by itself after an hour without an unclean end', async () => {
    const place = new Installation();
    await killed(place, 3);
    const engine = await place.host(STORMY);
    place.clock.advance(HOUR - 1);
    await pass();
    assert.notEqual(engine.health().safeMode, null);
    place.clock.advance(1);
    await eventually(() => engine.health().safeMode === null);
    assert.deepEqual(await told(place), [ESCALATED, OVER]);
    const [storm] = await place.rows('storm');
    assert.equal(storm?.['ended_by'], `host:${engine.health().hostId}`);
    await engine.stop(0);
    assert.deepEqual(await place.rows('audit'), []);
  });

  test('ends at a start after that hour, and outlives the clean ones before', async () => {
    const place = new Installation();
    await killed(place, 3);
    await (await place.host(STORMY)).stop(0);
    place.clock.advance(HOUR - 1);
    const before = await place.host(STORMY);
    assert.notEqual(before.health().safeMode, null);
    await before.stop(0);
    place.clock.advance(1);
    const after = await place.host(STORMY);
    assert.equal(after.health().safeMode, null);
    assert.deepEqual(await told(place), [ESCALATED, OVER]);
    await after.stop(0);
  });

  test('counts its hour from the last unclean start', async () => {
    const place = new Installation();
    await killed(place, 3);
    const { kill } = await mortal(place, STORMY);
    place.clock.advance(HOUR / 2);
    kill();
    const engine = await place.host(STORMY);
    place.clock.advance(HOUR - 1);
    await pass();
    assert.notEqual(engine.health().safeMode, null);
    place.clock.advance(1);
    await eventually(() => engine.health().safeMode === null);
    await engine.stop(0);
  });

  test('does not end on the word of a clock that is not trusted', async () => {
    const place = new Installation();
    await killed(place, 3);
    const engine = await place.host(STORMY);
    place.clock.jump(2 * HOUR);
    place.clock.advance(MINUTE);
    await pass();
    assert.notEqual(engine.health().safeMode, null);
    place.clock.advance(10 * MINUTE);
    await inTime(place, () => engine.health().safeMode === null);
    await engine.stop(0);
  });

  test('begins anew only with as many unclean starts after an admin has ended it', async () => {
    const place = new Installation();
    await killed(place, 3);
    const { engine, kill } = await mortal(place, STORMY);
    assert.deepEqual(await engine.endSafeMode(BY_ADMIN), { kind: 'ended' });
    place.clock.advance(SECOND);
    kill();
    await killed(place, 1);
    const second = await mortal(place, STORMY);
    assert.equal(second.engine.health().safeMode, null, 'the second since the end');
    second.kill();
    place.clock.advance(SECOND);
    const third = await place.host(STORMY);
    assert.notEqual(third.health().safeMode, null);
    assert.equal((await place.rows('storm')).length, 2);
    await third.stop(0);
  });

  test('is over in silence where the configuration switches it off', async () => {
    const place = new Installation();
    await killed(place, 3);
    await (await place.host(STORMY)).stop(0);
    const off = await place.host();
    assert.equal(off.health().safeMode, null);
    await off.stop(0);
    const on = await place.host(STORMY);
    assert.equal(on.health().safeMode, null);
    assert.deepEqual(await told(place), [ESCALATED]);
    await on.stop(0);
  });
});

describe('on a shared store', () => {
  const leaseOver = OPTIONS.leaseMs;

  /** Three hosts of which each start finds the one before it. */
  async function stormed(place: Installation): Promise<void> {
    for (let count = 0; count < 3; count += 1) {
      const { engine, kill } = await mortal(place, STORMY);
      await terminalOf(engine);
      kill();
      place.clock.advance(leaseOver);
    }
  }

  test('a storm holds for each host, and its end too', async () => {
    const place = new Installation({ exclusive: false });
    const calm = await mortal(place, STORMY);
    calm.kill();
    place.clock.advance(leaseOver);
    await stormed(place);
    const one = await place.host(STORMY);
    assert.notEqual(one.health().safeMode, null);
    const other = await place.host(STORMY);
    assert.notEqual(other.health().safeMode, null);
    assert.deepEqual(await other.endSafeMode(BY_ADMIN), { kind: 'ended' });
    await inTime(place, () => one.health().safeMode === null);
    assert.equal((await one.endSafeMode(BY_ADMIN)).kind, 'refused');
    assert.deepEqual(await told(place), [ESCALATED, OVER]);
    await Promise.all([one.stop(0), other.stop(0)]);
  });

  test('hosts that died together are one unclean start, and each is counted once', async () => {
    const place = new Installation({ exclusive: false });
    const hosts = [await mortal(place, STORMY), await mortal(place, STORMY)];
    hosts.push(await mortal(place, STORMY));
    for (const { kill } of hosts) kill();
    place.clock.advance(leaseOver);
    const one = await place.host(STORMY);
    const other = await place.host(STORMY);
    assert.equal(one.health().safeMode, null);
    const rows = await place.rows('host');
    assert.equal(rows.filter(({ end }) => end === 'lost').length, 3);
    assert.equal(other.health().safeMode, null);
    await Promise.all([one.stop(0), other.stop(0)]);
  });

  test('a host that slept past its lease was not lost', async () => {
    const place = new Installation({ exclusive: false });
    const sleeper = await mortal(place, STORMY);
    sleeper.store.mishap = () => 'hangs';
    place.clock.advance(leaseOver);
    const other = await place.host(STORMY);
    const id = sleeper.engine.health().hostId;
    const row = async () => (await place.rows('host')).find((host) => host['id'] === id);
    assert.equal((await row())?.['end'], 'lost');
    await place.store.commit({
      name: 'lease.renew',
      reads: {},
      decide: (_rows, { now }) => ({
        verdict: undefined,
        writes: [{ write: 'host.renew', id, aliveUntil: now + leaseOver }],
      }),
    });
    const woken = await row();
    assert.deepEqual([woken?.['end'], woken?.['stopped_at']], [null, null]);
    await other.stop(0);
  });
});
