import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idBody, idInstant } from './ids.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The number that a body writes in base 32. */
function numberOf(body: string): bigint {
  return body.split('').reduce((sum, char) => sum * 32n + BigInt(ALPHABET.indexOf(char)), 0n);
}

test('the body of an id is its millisecond and its counter as one number of 80 bits', () => {
  const milliseconds = [0, 1, 7, 8, 9, 1_900_000_000_000, 2 ** 45, 2 ** 48 - 1];
  const counters = [0, 1, 31, 32, 2 ** 30 - 1, 2 ** 30, 2 ** 31, 2 ** 32 - 1];
  for (const time of milliseconds) {
    for (const counter of counters) {
      const body = idBody(time, counter);
      assert.equal(body.length, 16);
      assert.equal(numberOf(body), BigInt(time) * 2n ** 32n + BigInt(counter), body);
      assert.equal(idInstant('host', `host_${body}`), time);
    }
  }
});

test('what is no id of its kind has no instant', () => {
  for (const text of ['', 'host_', `task_${idBody(1, 1)}`, `host_${idBody(1, 1)}0`])
    assert.equal(idInstant('host', text), undefined, text);
});
