import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Principal } from '../../kernel/principal.ts';
import { admitOperation, openOperation } from './decide.ts';
import { judgeAdmit, type AdmitOrderFacts } from './orders.ts';
import { waysOfOperation } from './reasons.ts';
import {
  BLOCK_REASONS,
  OPERATION_MOVES,
  type OperationRecord,
  type OperationState,
} from './record.ts';

const NOW = 1_800_000_000_000;
const ADMIN: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };
const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };

function blocked(change: Partial<OperationRecord> = {}): OperationRecord {
  const of = { id: 'mop_7K2M9QX4R1T8WZ3C', conversationId: 'conv_1', sessionId: 'sess_1' } as const;
  const opened = openOperation({ ...of, kind: 'compact', window: 8_000 }, NOW);
  return { ...opened, state: 'blocked', reason: 'exhausted', version: 9, ...change };
}

function judged(operation: OperationRecord, over: Partial<AdmitOrderFacts> = {}): string {
  const order = { principal: ADMIN, expectedVersion: 9, ...over };
  return judgeAdmit(operation, order)?.code ?? 'admitted';
}

describe('an admission', () => {
  test('is an admin’s, whatever is admitted', () => {
    assert.equal(judged(blocked()), 'admitted');
    for (const one of [blocked(), blocked({ state: 'done' }), blocked({ version: 3 })]) {
      assert.equal(judged(one, { principal: ANNA }), 'forbidden');
    }
  });

  test('is of the version that was seen', () => {
    for (const expectedVersion of [0, 8, 10]) {
      assert.equal(judged(blocked(), { expectedVersion }), 'version_conflict');
    }
    assert.equal(
      judgeAdmit(blocked(), { principal: ADMIN, expectedVersion: 8 })?.detail['version'],
      '9',
    );
  });

  test('opens only what is blocked', () => {
    for (const state of Object.keys(OPERATION_MOVES) as OperationState[]) {
      assert.equal(judged(blocked({ state })), state === 'blocked' ? 'admitted' : 'not_blocked');
    }
  });

  test('reopens an uncertain compact as a handover alone, and nothing else as one', () => {
    const uncertain = blocked({ reason: 'uncertain' });
    assert.equal(judged(uncertain), 'handover_only');
    assert.equal(judged(uncertain, { as: 'handover' }), 'admitted');
    for (const one of [
      blocked(),
      blocked({ reason: 'base_too_large' }),
      blocked({ reason: 'uncertain', kind: 'handover', step: 'rotate' }),
    ]) {
      assert.equal(judged(one), 'admitted');
      assert.equal(judged(one, { as: 'handover' }), 'no_handover');
    }
  });
});

describe('the ways out of a blocked operation', () => {
  for (const reason of BLOCK_REASONS) {
    for (const kind of ['compact', 'handover'] as const) {
      test(`V8 ${reason} ${kind}: the command that is told leaves it`, () => {
        const one = blocked({ reason, kind });
        const [way, drop, ...others] = waysOfOperation(one);
        assert.deepEqual(others, []);
        const as = way?.effect === 'handover' ? 'handover' : undefined;
        assert.equal(way?.command, `/admit ${one.id}${as === undefined ? '' : ' handover'}`);
        assert.equal(judged(one, { as }), 'admitted');
        assert.equal(admitOperation(one, { as, window: 8_000 }, NOW).state, 'running');
        assert.deepEqual(drop, { command: '/new', who: 'admin', effect: 'drop' });
      });
    }
  }

  test('are none while it goes on by itself or is over', () => {
    for (const state of ['running', 'waiting', 'done', 'dropped'] as const) {
      assert.deepEqual(waysOfOperation(blocked({ state })), []);
    }
    assert.deepEqual(waysOfOperation(blocked({ reason: null })), []);
  });
});

test('W-7 the refusal of an admission says which operation, and how it stands', () => {
  const { id } = blocked();
  const told = (operation: OperationRecord, over: Partial<AdmitOrderFacts> = {}): unknown =>
    judgeAdmit(operation, { principal: ADMIN, expectedVersion: 9, ...over })?.detail;
  assert.deepEqual(told(blocked(), { principal: ANNA }), { id, who: 'admin' });
  const conflict = { id, state: 'blocked', version: '9' };
  assert.deepEqual(told(blocked(), { expectedVersion: 8 }), conflict);
  assert.deepEqual(told(blocked({ state: 'done' })), { id, state: 'done' });
  assert.deepEqual(told(blocked({ reason: 'uncertain' })), { id });
  assert.deepEqual(told(blocked(), { as: 'handover' }), { id });
});
