import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskPieces } from './masked.ts';

const SECRET = 'canary-0123456789';

function passed(pieces: readonly string[]): string[] {
  const out: string[] = [];
  const words = maskPieces([SECRET, 'short'])((piece) => out.push(piece));
  for (const piece of pieces) words.push(piece);
  words.end();
  return out;
}

test('INC-067: a secret that lies across live pieces is masked', () => {
  for (let cut = 1; cut < SECRET.length; cut += 1) {
    const out = passed([`it is ${SECRET.slice(0, cut)}`, `${SECRET.slice(cut)}, yes`]).join('');
    assert.equal(out, 'it is [redacted], yes');
  }
  assert.equal(passed(`it is ${SECRET}`.split('')).join(''), 'it is [redacted]');
});

test('a piece that begins no secret is passed on at once', () => {
  assert.deepEqual(passed(['Hello', ' canal', ' boat']), ['Hello', ' canal', ' boat']);
  assert.deepEqual(passed(['a can', 'ary bird']), ['a ', 'canary bird']);
  assert.deepEqual(passed(['it ends with cana']), ['it ends with ', 'cana']);
});
