import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestWord } from './nearest.ts';

test('the nearest word has the fewest slips: left out, added, changed or swapped', () => {
  const words = ['stop', 'tasks', 'why'] as const;
  assert.equal(nearestWord('stp', words), 'stop');
  assert.equal(nearestWord('taasks', words), 'tasks');
  assert.equal(nearestWord('whx', words), 'why');
  assert.equal(nearestWord('sotp', ['shop', 'stop']), 'stop');
  assert.equal(nearestWord('', ['stop', 'why', 'who']), 'why');
});
