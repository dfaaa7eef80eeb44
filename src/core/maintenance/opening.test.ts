import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { dropOperation, openOperation, passStep } from './decide.ts';
import { judgeOpening, planKind } from './opening.ts';

const OPEN = openOperation(
  {
    id: 'mop_1',
    conversationId: 'conv_1',
    sessionId: 'sess_1',
    kind: 'compact',
    window: 8_000,
  },
  1,
);
const DONE = passStep(OPEN, 2);
const FULL = { fence: 'passed', cause: 'full', completes: false } as const;

describe('what the end of a turn makes of a full session', () => {
  test('begins an operation where none stands', () => {
    assert.equal(judgeOpening(undefined, { ...FULL, fence: 'none' }), 'begin');
    assert.equal(judgeOpening(DONE, { ...FULL, fence: 'none' }), 'begin');
    assert.equal(judgeOpening(undefined, FULL), 'begin');
    assert.equal(judgeOpening(undefined, { ...FULL, cause: 'usage' }), 'begin');
  });

  test('opens the last one anew until a turn was completed', () => {
    assert.equal(judgeOpening(DONE, FULL), 'reopen');
    assert.equal(judgeOpening(DONE, { ...FULL, cause: 'too_long' }), 'reopen');
    assert.equal(judgeOpening(DONE, { ...FULL, completes: true }), 'begin');
    const dropped = dropOperation(OPEN, 2);
    assert.equal(judgeOpening(dropped, FULL), 'leave', 'what was given up is not opened anew');
  });

  test('leaves what is only filling up until then', () => {
    assert.equal(judgeOpening(DONE, { ...FULL, cause: 'usage' }), 'leave');
    assert.equal(judgeOpening(DONE, { ...FULL, cause: 'steps' }), 'leave');
  });
});

describe('which kind it is', () => {
  const { compactionsPerSession: compactions } = LIMITS;

  test('is compaction until the session was compacted often enough', () => {
    assert.equal(planKind({ compactions: compactions - 1 }, 'usage'), 'compact');
    assert.equal(planKind({ compactions }, 'usage'), 'handover');
    assert.equal(planKind({ compactions }, 'steps'), 'handover');
  });

  test('never hands over work that was cut in the middle', () => {
    assert.equal(planKind({ compactions }, 'full'), 'compact');
    assert.equal(planKind({ compactions }, 'too_long'), 'compact');
  });
});
