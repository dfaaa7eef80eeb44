import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OUTBOX_MOVES } from './record.ts';

const LEFT = ['delivered', 'undeliverable', 'stale'] as const;

test('V12 O-8 what was delivered, given up or overtaken never leaves again', () => {
  for (const state of LEFT) assert.deepEqual(OUTBOX_MOVES[state], []);
  assert.deepEqual(
    Object.keys(OUTBOX_MOVES).toSorted(),
    [...LEFT, 'pending', 'uncertain'].toSorted(),
  );
});

test('O-3 only one whose delivery is unknown waits for another', () => {
  assert.deepEqual(OUTBOX_MOVES.pending, ['delivered', 'uncertain', 'undeliverable', 'stale']);
  assert.deepEqual(OUTBOX_MOVES.uncertain, ['delivered', 'pending', 'undeliverable', 'stale']);
});
