import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { Installation, says } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { order, pass, restOf } from '../support/acts.ts';

test('G-6 Y64 what is given up on a full disk is taken up by itself once there is room, and told until then', async () => {
  const place = new Installation();
  place.model.answer = () => says('here I am');
  let isFull = false;
  let probes = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit === 'lease.renew') probes += 1;
    return isFull && (unit === 'turn.claim' || unit === 'lease.renew') ? 'disk_full' : undefined;
  });
  const engine = await place.host({ store });
  const alarm = (): string | null => engine.store.alarm?.code ?? null;
  assert.equal(alarm(), null);
  isFull = true;
  await order(engine, 'are you there?');
  for (let pause = 0; pause < 3; pause += 1) {
    await pass();
    assert.equal(alarm(), 'disk_full');
    assert.equal(place.model.requests.length, 0);
    place.clock.advance(LIMITS.diskFullPauseMs);
  }
  await pass();
  assert.equal(probes, 3, 'the store is asked once in a pause');
  isFull = false;
  place.clock.advance(LIMITS.diskFullPauseMs);
  await restOf(engine);
  assert.equal(alarm(), null);
  assert.equal((await place.rows('task'))[0]?.['state'], 'completed');
  assert.equal(place.model.requests.length, 1);
  await engine.stop(0);
});

test('G-6 a host that ends asks a full disk no more', async () => {
  const place = new Installation();
  let probes = 0;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit === 'lease.renew') probes += 1;
    return unit === 'turn.claim' || unit === 'lease.renew' ? 'disk_full' : undefined;
  });
  const engine = await place.host({ store });
  await order(engine, 'are you there?');
  await pass();
  await engine.stop(0);
  place.clock.advance(10 * LIMITS.diskFullPauseMs);
  await pass();
  assert.equal(probes, 0);
});
