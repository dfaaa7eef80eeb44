// What is told of maintenance: that it waits, that it is blocked, that work goes on (M-10, I-2).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { say, talkTo, wordsOf } from '../support/acts.ts';
import { ADMIN, fails, Installation, sumsUp, type GivenParts } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import {
  comesTo,
  elapse,
  later,
  noticesOf,
  ONE_BY_ONE,
  operationOf,
  saysFull,
  toldOf,
} from './maintenance-support.ts';

const MINUTES_MS = 130_000;

type Row = Readonly<Record<string, unknown>>;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** A conversation whose first compact has just failed. */
async function failed(given: GivenParts = {}): Promise<Stand> {
  const place = new Installation();
  place.summariser.answer = () => fails('transient', 'http_500');
  const engine = await place.host({ options: ONE_BY_ONE, ...given });
  const here = await talkTo(engine);
  place.model.answer = () => saysFull('read');
  await say(engine, here, 'the first');
  await comesTo(engine, here, 'waiting');
  return { place, engine, here };
}

/** Every entry about maintenance, those that never left among them. */
async function entries(place: Installation): Promise<readonly Row[]> {
  const rows = await place.rows('outbox');
  return rows.filter(({ code }) => String(code).startsWith('maintenance_'));
}

async function admit({ place, engine, here }: Stand, receiptId: string): Promise<void> {
  const { id: operationId, version: expectedVersion } = await operationOf(place, here);
  const given = { operationId, expectedVersion, receiptId, principal: ADMIN, channel: 'api' };
  assert.equal((await engine.admit(given)).kind, 'admitted');
}

describe('that an operation waits', () => {
  test('M-10 is told to nobody where it is over within 5 s, and nobody is told that work goes on', async () => {
    const { place, engine, here } = await failed();
    const [prepared] = await entries(place);
    assert.deepEqual([prepared?.['code'], prepared?.['state']], ['maintenance_waiting', 'pending']);
    place.summariser.answer = () => sumsUp('all of it');
    await elapse(place, SECOND);
    await comesTo(engine, here, 'done');
    await elapse(place, 30 * SECOND);
    const all = await entries(place);
    assert.deepEqual(
      all.map(({ id, state, delivered_at: at }) => [id, state, at]),
      [[prepared?.['id'], 'stale', null]],
    );
    const events = (await place.rows('event')).map(({ type }) => type);
    assert.equal(events.filter((type) => type === 'notice.withdrawn').length, 1);
  });

  test('M-10 is told at 5 s and not before, once, with what it waits for; its end is told', async () => {
    const { place, engine, here } = await failed();
    const since = place.clock.now();
    await elapse(place, 4 * SECOND);
    assert.deepEqual(await toldOf(place, here), []);
    await elapse(place, SECOND);
    const [waiting] = await noticesOf(place, here);
    const { nextAttemptAt, id } = await operationOf(place, here);
    assert.equal(waiting?.['at'], since + 5 * SECOND);
    assert.match(String(waiting['key']), new RegExp(`^notice:${id}:[0-9]+$`));
    const params = JSON.parse(String(waiting['params']));
    assert.deepEqual([params.code, params.nextAt], ['http_500', nextAttemptAt]);
    assert.equal(waiting['level'], 'waiting');
    await elapse(place, 10 * SECOND);
    assert.deepEqual(await toldOf(place, here), ['maintenance_waiting']);
    place.summariser.answer = () => sumsUp('all of it');
    await elapse(place, 20 * SECOND);
    await comesTo(engine, here, 'done');
    const told = await noticesOf(place, here);
    assert.deepEqual(
      told.map(({ code, level }) => [code, level]),
      [
        ['maintenance_waiting', 'waiting'],
        ['maintenance_over', 'info'],
      ],
    );
  });

  test('M-10 is told by the next host where the first died before the 5 s were over', async () => {
    const { place, engine, here } = await failed();
    const [prepared] = await entries(place);
    await engine.stop(0);
    place.clock.advance(20 * SECOND);
    await place.host();
    await later(place, 0);
    const [waiting, ...others] = await noticesOf(place, here);
    assert.equal(waiting?.['id'], prepared?.['id']);
    assert.equal(waiting?.['key'], prepared?.['key']);
    assert.deepEqual(others, []);
  });

  test('M-10 is told while a try takes long, and a wait for a quota is told as it is', async () => {
    const { place, here } = await failed();
    const until = place.clock.now() + 5 * HOUR;
    place.summariser.answer = () =>
      fails('transient', 'http_429', { retryAt: until, scope: 'account' });
    await elapse(place, 6 * SECOND);
    const [waiting] = await noticesOf(place, here);
    const { code, nextAt } = JSON.parse(String(waiting?.['params']));
    assert.deepEqual([code, nextAt], ['http_429', until]);
    const { failures, quotaWaits } = await operationOf(place, here);
    assert.deepEqual([failures, quotaWaits], [1, 1], 'waiting for a quota is no failure');
  });
});

describe('that an operation is blocked', () => {
  test('M-10 is told once in each epoch with the command, however often hosts come and go', async () => {
    let stand = await failed();
    const { place, here } = stand;
    const { id } = await operationOf(place, here);
    for (let epoch = 1; epoch <= 3; epoch += 1) {
      await elapse(place, MINUTES_MS);
      assert.equal((await operationOf(place, here)).state, 'blocked');
      await stand.engine.stop(0);
      stand = { ...stand, engine: await place.host({ options: ONE_BY_ONE }) };
      await elapse(place, 31 * SECOND);
      const told = await toldOf(place, here);
      const each = ['maintenance_waiting', 'maintenance_exhausted'];
      assert.deepEqual(told, Array.from({ length: epoch }, () => each).flat());
      await admit(stand, `receipt ${epoch}`);
    }
    const rows = await noticesOf(place, here);
    const keys = rows.map(({ key }) => String(key));
    assert.equal(new Set(keys).size, keys.length, 'each has a key of its own');
    assert.ok(keys.every((key) => key.startsWith(`notice:${id}:`)));
    for (const row of rows.filter(({ level }) => level === 'blocked'))
      assert.match(wordsOf(row), new RegExp(`/admit ${id}`));
  });

  test('M-10 withdraws what had not left yet', async () => {
    const maintenance = { ...ONE_BY_ONE.maintenance, firstDelayMs: 100, maxDelayMs: 100 };
    const { place, here } = await failed({ options: { ...ONE_BY_ONE, maintenance } });
    for (let n = 0; n < 8; n += 1) await later(place, 100);
    assert.deepEqual(await toldOf(place, here), ['maintenance_exhausted']);
    const all = await entries(place);
    assert.deepEqual(
      all.map(({ state }) => state),
      ['stale', 'delivered'],
    );
  });

  test('I-2 a message that is kept behind it is told of once in an epoch', async () => {
    const stand = await failed();
    const { place, here } = stand;
    await say(stand.engine, here, 'kept while it waits');
    await elapse(place, MINUTES_MS);
    assert.ok(
      !(await toldOf(place, here)).includes('maintenance_kept'),
      'the wait is told already',
    );
    for (const text of ['one', 'two', 'three']) await say(stand.engine, here, text);
    const before = (await toldOf(place, here)).filter((code) => code === 'maintenance_kept');
    assert.equal(before.length, 1);
    await stand.engine.stop(0);
    const engine = await place.host({ options: ONE_BY_ONE });
    await say(engine, here, 'after a restart');
    await admit({ ...stand, engine }, 'receipt 1');
    await elapse(place, MINUTES_MS);
    for (const text of ['four', 'five']) await say(engine, here, text);
    const kept = (await noticesOf(place, here)).filter(({ code }) => code === 'maintenance_kept');
    const { id } = await operationOf(place, here);
    assert.deepEqual(
      kept.map(({ key, level }) => [key, level]),
      [
        [`kept:${id}:1`, 'info'],
        [`kept:${id}:2`, 'info'],
      ],
    );
  });

  test('I-2 it is told in the commit that keeps the message: nothing that fails afterwards loses it', async () => {
    const { place, here, engine: first } = await failed();
    await elapse(place, MINUTES_MS);
    await first.stop(0);
    const shaky = new ShakyStore(place.store);
    const engine = await place.host({ options: ONE_BY_ONE, store: shaky });
    shaky.mishap = ({ unit }) => (unit === 'inbox.accept' ? undefined : 'disk_full');
    await say(engine, here, 'kept');
    assert.equal((await toldOf(place, here)).at(-1), 'maintenance_kept');
    shaky.mishap = () => undefined;
    await engine.stop(0);
  });
});
