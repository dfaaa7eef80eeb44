import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Epoch, Scheduler } from './scheduler.ts';
import { virtualClock, WallClock } from './sim-clock.ts';
import { seededRandom } from './sim-random.ts';

const schedulerOf = (seed: number): Scheduler => new Scheduler(seededRandom(seed, 'scheduler'));

/** Three processes that each make some calls; gives the order in which they were answered. */
async function race(seed: number): Promise<{ readonly order: string[]; readonly hash: number }> {
  const scheduler = schedulerOf(seed);
  const order: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const epoch = new Epoch(name);
    void (async () => {
      for (let count = 0; count < 4; count += 1) {
        await scheduler.call({ epoch, label: `call ${count}`, delay: 1 }, () =>
          order.push(`${name}${count}`),
        );
      }
    })();
  }
  while (await scheduler.step());
  return { order, hash: scheduler.traceHash };
}

describe('the seeded scheduler', () => {
  test('answers in the same order for the same seed, and in others for others', async () => {
    const [first, again] = [await race(1), await race(1)];
    assert.equal(first.order.length, 12);
    assert.deepEqual(again, first);
    const orders = new Set<string>();
    for (let seed = 1; seed <= 20; seed += 1) orders.add((await race(seed)).order.join(' '));
    assert.ok(orders.size > 15, String(orders.size));
  });

  test('answers the earliest first and lets virtual time jump to it', async () => {
    const scheduler = schedulerOf(1);
    const epoch = new Epoch('a');
    const order: number[] = [];
    for (const delay of [5_000, 10, 86_400_000]) {
      void scheduler.call({ epoch, label: 'call', delay }, () => order.push(delay));
    }
    while (await scheduler.step());
    assert.deepEqual(order, [10, 5_000, 86_400_000]);
    assert.equal(scheduler.elapsed, 86_400_000);
  });

  test('has everything come to rest between two answers, however many promises it takes', async () => {
    const scheduler = schedulerOf(1);
    const epoch = new Epoch('a');
    let depth = 0;
    void (async () => {
      await scheduler.call({ epoch, label: 'call', delay: 0 }, () => undefined);
      for (; depth < 500; depth += 1) await Promise.resolve();
    })();
    await scheduler.step();
    assert.equal(depth, 500);
  });

  test('answers a dead process nothing, not even a call that was due', async () => {
    const scheduler = schedulerOf(1);
    const epoch = new Epoch('a');
    let done = 0;
    void scheduler.call({ epoch, label: 'call', delay: 0 }, () => (done += 1));
    scheduler.onStep = () => {
      epoch.state = 'dead';
    };
    await scheduler.step();
    assert.equal(await scheduler.step(), false);
    assert.equal(done, 0);
  });

  test('lets a paused process wait and answers it when it runs again', async () => {
    const scheduler = schedulerOf(1);
    const [zombie, other] = [new Epoch('zombie'), new Epoch('other')];
    const order: string[] = [];
    void scheduler.call({ epoch: zombie, label: 'write', delay: 1 }, () => order.push('zombie'));
    void scheduler.call({ epoch: other, label: 'write', delay: 60_000 }, () => order.push('other'));
    zombie.state = 'paused';
    await scheduler.step();
    zombie.state = 'running';
    await scheduler.step();
    assert.deepEqual(order, ['other', 'zombie']);
    assert.equal(scheduler.elapsed, 60_000);
  });

  test('rejects what the work throws, and answers an aborted call at once or after its linger', async () => {
    const scheduler = schedulerOf(1);
    const epoch = new Epoch('a');
    const broken = scheduler.call({ epoch, label: 'call', delay: 1 }, () => {
      throw new RangeError('no');
    });
    const refused = assert.rejects(broken, RangeError);
    await scheduler.step();
    await refused;
    const controller = new AbortController();
    const call = { epoch, label: 'call', delay: 90_000, signal: controller.signal };
    const aborted = scheduler.call(call, () => scheduler.elapsed);
    const lingering = scheduler.call({ ...call, linger: 500 }, () => scheduler.elapsed);
    controller.abort();
    while (await scheduler.step());
    assert.deepEqual(await Promise.all([aborted, lingering]), [1, 501]);
  });

  test('a clock that is set moves the wall and never a timer', async () => {
    const scheduler = schedulerOf(1);
    const wall = new WallClock(scheduler, 1_000_000);
    const clock = virtualClock(scheduler, wall, new Epoch('a'));
    const slept = clock.sleep(60_000);
    wall.offset = -3_600_000;
    await scheduler.step();
    await slept;
    assert.equal(scheduler.elapsed, 60_000);
    assert.equal(clock.now(), 1_000_000 + 60_000 - 3_600_000);
  });
});
