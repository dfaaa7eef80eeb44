import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawMoves } from '../../kernel/moves.ts';
import { hasEnded, mayMove, TASK_ENDS, TASK_MOVES, type TaskState } from './moves.ts';

const STATES = Object.keys(TASK_MOVES) as TaskState[];

test('T-3 V18 the ends are exactly the states that nothing leaves', () => {
  assert.deepEqual(
    STATES.filter((state) => hasEnded(state)),
    [...TASK_ENDS],
  );
});

test('T-3 a move leads to a state that exists', () => {
  for (const state of STATES)
    for (const to of TASK_MOVES[state]) {
      assert.ok(STATES.includes(to));
      assert.ok(mayMove(state, to));
    }
});

test('T-3 every state that has not ended reaches an end by a stop', () => {
  for (const state of STATES) assert.equal(mayMove(state, 'stopped'), !hasEnded(state));
});

test('the diagram shows every move from one state to another once', () => {
  const lines = drawMoves(TASK_MOVES, 'active').split('\n');
  assert.equal(new Set(lines).size, lines.length);
  for (const state of STATES)
    for (const to of TASK_MOVES[state].filter((one) => one !== state))
      assert.ok(lines.includes(`  ${state} --> ${to}`));
});
