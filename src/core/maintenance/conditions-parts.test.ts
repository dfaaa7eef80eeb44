import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { findConditions, mergeConditions } from './conditions.ts';

const MOST = LIMITS.conditionChars;
const ASK = 'ask me before you delete anything';

describe('a sentence that is longer than a condition may be', () => {
  test('is parted where a clause ends, once half of it is full', () => {
    const clause = `${'word '.repeat(Math.ceil(MOST / 10))}here,`;
    assert.deepEqual(findConditions(`${clause} ${ASK}.`), [`${ASK}.`]);
    const short = `well, ${ASK}.`;
    assert.deepEqual(findConditions(short), [short]);
  });

  test('is kept in pieces that are no longer, also where it is one word', () => {
    const found = findConditions(`${ASK} ${'x'.repeat(2 * MOST + 7)}`);
    assert.deepEqual(found, [ASK]);
    const exact = `${ASK} ${'x'.repeat(MOST - ASK.length - 1)}`;
    assert.deepEqual(findConditions(exact), [exact]);
    assert.deepEqual(findConditions(`${exact}x`), [ASK]);
  });
});

describe('a point of a list', () => {
  for (const mark of ['-', '*', '•', '–', '#', '######', '1.', '12)', '123.'])
    test(`begins a sentence of its own after "${mark}"`, () => {
      assert.deepEqual(findConditions(`The list is\n${mark} ${ASK}`), [ASK]);
    });
});

describe('what is kept of many conditions', () => {
  const at = (text: string): Parameters<typeof mergeConditions>[0][number] =>
    ({ text }) as Parameters<typeof mergeConditions>[0][number];

  test('fits the characters that there are to the last one, and the newest goes first', () => {
    const all = [at('never delete a file'), at('never delete a log')];
    const chars = all.reduce((sum, { text }) => sum + text.length, 0);
    assert.deepEqual(mergeConditions(all, [], chars), all);
    assert.deepEqual(mergeConditions(all, [], chars - 1), [all[1]]);
  });
});
