import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { strictTokens, unpairedIn, type PairPiece } from './model-strict.ts';

const words: PairPiece = { kind: 'words' };
const calls = (...ids: readonly string[]): PairPiece => ({ kind: 'calls', ids });
const result = (id: string): PairPiece => ({ kind: 'result', id });

describe('a strict look at a conversation', () => {
  const paired: readonly (readonly [what: string, pieces: readonly PairPiece[]])[] = [
    ['nothing', []],
    ['words alone', [words, words]],
    ['a call and its result', [words, calls('a'), result('a'), words]],
    ['results in another order', [calls('a', 'b'), result('b'), result('a')]],
    ['an id that comes again later', [calls('a'), result('a'), calls('a'), result('a')]],
  ];
  for (const [what, pieces] of paired) {
    test(`takes ${what}`, () => assert.equal(unpairedIn(pieces), undefined));
  }

  const alone: readonly (readonly [
    what: string,
    pieces: readonly PairPiece[],
    found: ReturnType<typeof unpairedIn>,
  ])[] = [
    ['a call at the end', [words, calls('a')], { what: 'call', ids: ['a'], at: 1 }],
    [
      'a call with half of its results',
      [calls('a', 'b'), result('a'), words],
      { what: 'call', ids: ['b'], at: 0 },
    ],
    ['words between', [calls('a'), words, result('a')], { what: 'call', ids: ['a'], at: 0 }],
    ['a result first', [result('a'), words], { what: 'result', ids: ['a'], at: 0 }],
    ['a result of another call', [calls('a'), result('b')], { what: 'result', ids: ['b'], at: 1 }],
    [
      'a result twice',
      [calls('a'), result('a'), result('a')],
      { what: 'result', ids: ['a'], at: 2 },
    ],
    [
      'a result that was made up',
      [calls('a'), { kind: 'result', id: 'a', isMade: true }],
      { what: 'call', ids: ['a'], at: 0 },
    ],
  ];
  for (const [what, pieces, found] of alone) {
    test(`refuses ${what}`, () => assert.deepEqual(unpairedIn(pieces), found));
  }

  test('counts four characters as a token', () => {
    assert.deepEqual(['', 'a', 'abcd', 'abcde'].map(strictTokens), [0, 1, 1, 2]);
  });
});
