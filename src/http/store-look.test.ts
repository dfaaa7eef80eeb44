import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../ports/store.ts';
import { StoreLook } from './store-look.ts';

function storeOf(exclusive: boolean, query: () => Promise<unknown>) {
  return { traits: { exclusive }, query } as unknown as Pick<Store, 'traits' | 'query'>;
}

test('L-8 a store over a connection is asked, and an own one is not', async () => {
  let asked = 0;
  const fails = (): Promise<never> => {
    asked += 1;
    return Promise.reject(new Error('gone'));
  };
  assert.equal(await new StoreLook(storeOf(true, fails)).answers(), true);
  assert.equal(asked, 0);
  assert.equal(await new StoreLook(storeOf(false, fails)).answers(), false);
  assert.equal(await new StoreLook(storeOf(false, async () => undefined)).answers(), true);
});

test('L-8 many who ask at once are one question, and the next one is a new one', async () => {
  const held: PromiseWithResolvers<unknown>[] = [];
  const look = new StoreLook(
    storeOf(false, () => {
      const question = Promise.withResolvers<unknown>();
      held.push(question);
      return question.promise;
    }),
  );
  const asked = [look.answers(), look.answers(), look.answers()];
  assert.equal(held.length, 1);
  held[0]?.resolve(undefined);
  assert.deepEqual(await Promise.all(asked), [true, true, true]);
  const again = look.answers();
  assert.equal(held.length, 2);
  held[1]?.reject(new Error('gone'));
  assert.equal(await again, false);
});

test('L-8 a store that says nothing is away', async () => {
  const look = new StoreLook(
    storeOf(false, () => new Promise(() => {})),
    1,
  );
  assert.equal(await look.answers(), false);
});
