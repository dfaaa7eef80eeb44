import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FewATurn } from './few-a-turn.ts';

/** Turns of a loop that begin when they are told to. */
class Loop {
  #sleeping: (() => void)[] = [];

  sleep(): Promise<void> {
    return new Promise((resolve) => this.#sleeping.push(resolve));
  }

  async turn(): Promise<void> {
    const ready = this.#sleeping;
    this.#sleeping = [];
    for (const wake of ready) wake();
    await settled();
  }
}

/** Once everything that promises hold has been done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('four go on in each turn of the loop, in the order in which they came', async () => {
  const loop = new Loop();
  const begins = new FewATurn(loop);
  const begun: number[] = [];
  for (let n = 1; n <= 10; n += 1) void begins.next().then(() => begun.push(n));
  await settled();
  assert.deepEqual(begun, [1, 2, 3, 4]);
  await loop.turn();
  assert.deepEqual(begun, [1, 2, 3, 4, 5, 6, 7, 8]);
  await loop.turn();
  assert.deepEqual(begun, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('where the loop has turned the next goes on at once', async () => {
  const loop = new Loop();
  const begins = new FewATurn(loop);
  for (let n = 1; n <= 4; n += 1) await begins.next();
  await loop.turn();
  let hasBegun = false;
  void begins.next().then(() => (hasBegun = true));
  await settled();
  assert.equal(hasBegun, true);
});
