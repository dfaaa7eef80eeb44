import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { admitOperation, fenceOf, openOperation } from './decide.ts';
import { waysOfOperation } from './reasons.ts';
import { BLOCK_REASONS, OPERATION_MOVES, type OperationState } from './record.ts';

const NOW = 1_800_000_000_000;
const STATES = Object.keys(OPERATION_MOVES) as OperationState[];

test('M-8 V7 turns are shut out until an operation is done, and a done one is known until the next turn', () => {
  assert.deepEqual(Object.fromEntries(STATES.map((state) => [state, fenceOf(state)])), {
    running: 'shut',
    waiting: 'shut',
    blocked: 'blocked',
    done: 'passed',
    dropped: 'none',
  });
});

test('M-10 nobody was told of a new operation, nor yet of the next epoch', () => {
  const of = { id: 'mop_1', conversationId: 'conv_1', sessionId: 'sess_1' } as const;
  const opened = openOperation({ ...of, kind: 'compact', window: 8_000 }, NOW);
  assert.deepEqual([opened.isTold, opened.isKeptTold, opened.looksFirst], ['no', 'no', 'no']);
  const blocked = operationRow({ state: 'blocked', reason: 'exhausted', isKeptTold: 'yes' });
  const admitted = admitOperation(blocked, { as: undefined, window: 8_000 }, NOW);
  assert.deepEqual([admitted.isKeptTold, admitted.looksFirst], ['no', 'no']);
});

describe('V8 what leaves a blocked operation', () => {
  const { id } = operationRow();
  const waysOf = (over: Parameters<typeof operationRow>[0]): unknown =>
    waysOfOperation(operationRow(over));
  const fresh = { command: '/new', who: 'admin', effect: 'drop' };

  test('M-7 M-21 is an admin’s admission, or giving it up', () => {
    const admit = { command: `/admit ${id}`, who: 'admin', effect: 'admit' };
    for (const reason of BLOCK_REASONS) {
      const kind = reason === 'uncertain' ? 'handover' : 'compact';
      assert.deepEqual(waysOf({ state: 'blocked', reason, kind }), [admit, fresh], reason);
    }
  });

  test('M-7 is a handover where a compact is uncertain', () => {
    const handover = { command: `/admit ${id} handover`, who: 'admin', effect: 'handover' };
    assert.deepEqual(waysOf({ state: 'blocked', reason: 'uncertain' }), [handover, fresh]);
  });

  test('is nothing for one that goes on by itself or is over', () => {
    for (const state of STATES.filter((one) => one !== 'blocked'))
      assert.deepEqual(waysOf({ state, reason: 'exhausted' }), []);
    assert.deepEqual(waysOf({ state: 'blocked', reason: null }), []);
  });
});
