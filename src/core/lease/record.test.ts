import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHold, type HostRecord } from './record.ts';

const HOST: HostRecord = {
  id: 'host_1',
  pid: 1,
  startedAt: 0,
  aliveUntil: 100,
  stoppedAt: null,
  end: null,
};

test('R-14 a claim holds while its host has a row that is alive and not stopped', () => {
  assert.equal(mayHold(HOST, 99), true);
  assert.equal(mayHold(HOST, 100), false);
  assert.equal(mayHold({ ...HOST, stoppedAt: 50 }, 60), false);
  assert.equal(mayHold(undefined, 0), false);
});
