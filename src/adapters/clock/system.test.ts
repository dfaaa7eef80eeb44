import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from './system.ts';

test('a sleep ends at once when its signal aborts, before and while it waits', async () => {
  const clock = createSystemClock();
  const abort = new AbortController();
  const waiting = clock.sleep(3_600_000, abort.signal);
  abort.abort();
  await waiting;
  await clock.sleep(3_600_000, abort.signal);
});

test('a sleep longer than a timer can wait does not end at once', async () => {
  const clock = createSystemClock();
  const abort = new AbortController();
  let ended = false;
  const waiting = clock.sleep(2 ** 33, abort.signal).then(() => (ended = true));
  await clock.sleep(5);
  assert.equal(ended, false);
  abort.abort();
  await waiting;
});

test('a sleep of nothing gives everything else that is ready its turn', async () => {
  const clock = createSystemClock();
  const order: string[] = [];
  setImmediate(() => order.push('another'));
  await clock.sleep(0);
  order.push('slept');
  assert.deepEqual(order, ['another', 'slept']);
});

test('uptime counts from the start of the machine, goes on, and knows nothing of the wall clock', async (t) => {
  const clock = createSystemClock();
  const before = clock.uptime();
  assert.ok(before > performance.now(), 'the machine is older than this process');
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  const during = clock.uptime();
  t.mock.timers.reset();
  assert.ok(during >= before && during - before < 60_000);
  while (clock.uptime() === before) await clock.sleep(1);
  assert.ok(clock.uptime() > before);
});
