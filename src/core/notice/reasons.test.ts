import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasEnded, TASK_MOVES, type TaskReason, type TaskState } from '../task/moves.ts';
import { REASONS, typeCommand, waysOf, type ReasonEntry } from './reasons.ts';

const reasons = Object.entries(REASONS) as [TaskReason, ReasonEntry][];
const states = Object.keys(TASK_MOVES) as TaskState[];

describe('a task that only a person can move on has one notice and a command', () => {
  for (const [reason, { state, level, notice, ways }] of reasons) {
    test(`${reason}: ${state}`, () => {
      assert.equal(hasEnded(state), ways.length === 0);
      assert.deepEqual(waysOf(state, reason), ways);
      assert.equal(level === null, notice === null);
      if (state === 'blocked' || state === 'waiting') assert.equal(level, state);
    });
  }
});

describe('a task without a reason can be stopped until it has ended', () => {
  for (const state of states) {
    test(state, () => {
      const commands = waysOf(state, null).map((way) => typeCommand(way, 'task_7K2M9QX4R1T8WZ3C'));
      assert.deepEqual(commands, hasEnded(state) ? [] : ['/stop task_7K2M9QX4R1T8WZ3C']);
    });
  }
});

test('a task that has ended has no command, whatever its reason was', () => {
  assert.deepEqual(waysOf('stopped', 'interrupted'), []);
});
