import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStatus } from './status.ts';

test('A-2 a run that has ended keeps its end, whatever its task does later', () => {
  for (const state of ['completed', 'failed', 'cancelled'] as const)
    assert.equal(runStatus({ state }, { state: 'active', turnsUsed: 3 }), state);
});

test('A-2 an open run stands as its task does', () => {
  const open = { state: 'open' } as const;
  assert.equal(runStatus(open, { state: 'active', turnsUsed: 0 }), 'queued');
  assert.equal(runStatus(open, { state: 'active', turnsUsed: 1 }), 'running');
  assert.equal(runStatus(open, { state: 'waiting', turnsUsed: 1 }), 'waiting');
  assert.equal(runStatus(open, { state: 'paused', turnsUsed: 0 }), 'waiting');
});
