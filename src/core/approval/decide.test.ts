import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Principal } from '../../kernel/principal.ts';
import { stepRow } from '../../testing/store-rows.ts';
import { openTask } from '../task/decide.ts';
import { TASK_ENDS } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import {
  askedBefore,
  decideApproval,
  goesOnWithAnswer,
  judgeAnswer,
  openApproval,
  waitsForIt,
} from './decide.ts';
import { APPROVAL_MOVES, type ApprovalRecord } from './record.ts';

const NOW = 1_800_000_000_000;
const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };
const BEN: Principal = { kind: 'key', id: 'ben', isAdmin: false };
const ADMIN: Principal = { kind: 'key', id: 'ops', isAdmin: true };

const TASK: TaskRecord = openTask(
  { id: 'task_1', conversationId: 'conv_1', sessionId: 'sess_1', agent: 'main' },
  {
    mandateText: 'pay the bill',
    mandatePrincipal: 'key:anna',
    mandateAuthority: 'own',
    mandateOrigin: 'api',
    mandateAt: NOW,
    mandateHash: 'h',
  },
  { deadlineMs: null, turns: 5, tokens: 100, costMicroUsd: 200, continuations: 3 },
  NOW,
);

const OPEN: ApprovalRecord = {
  id: 'appr_1',
  conversationId: 'conv_1',
  taskId: 'task_1',
  runId: null,
  turnId: 'turn_1',
  stepId: 'evt_1',
  kind: 'call',
  tool: 'pay',
  input: '{}',
  shown: '{}',
  approver: 'any',
  state: 'open',
  requestedBy: 'key:anna',
  decidedBy: null,
  at: NOW,
  expiresAt: NOW + 1_000,
  decidedAt: null,
};

function judged(
  change: Partial<ApprovalRecord>,
  principal: Principal,
  { now = NOW, task = TASK }: { readonly now?: number | null; readonly task?: TaskRecord } = {},
): unknown {
  const refused = judgeAnswer({ ...OPEN, ...change }, task, { principal, now });
  const { state } = refused?.detail ?? {};
  return state === undefined ? refused?.code : [refused?.code, state];
}

test('V18 an approval that was answered or has expired keeps its end', () => {
  assert.deepEqual(APPROVAL_MOVES, {
    open: ['approved', 'denied', 'expired'],
    approved: [],
    denied: [],
    expired: [],
  });
});

test('E-4 a new approval is of exactly the call that was journalled, and open', () => {
  const { id, shown, approver, kind, requestedBy, at, expiresAt } = OPEN;
  const asked = { id, shown, approver, kind, requestedBy, at, expiresAt };
  const { conversationId, taskId, runId, turnId } = OPEN;
  const step = stepRow({ id: 'evt_1', conversationId, taskId, runId, turnId });
  const call = { ...step, tool: 'pay', input: '{"to":"x"}' };
  assert.deepEqual(openApproval(call, asked), { ...OPEN, input: '{"to":"x"}' });
  const nameless = openApproval({ ...step, tool: null, input: null }, asked);
  assert.deepEqual([nameless.tool, nameless.input], ['', '']);
});

test('E-4 the very same bytes are asked about once, anything else anew', () => {
  const { tool, input, shown } = OPEN;
  const asked = (over: Partial<ApprovalRecord>, open = [OPEN]): unknown =>
    askedBefore(open, { tool, input, ...over }, { shown, ...over });
  assert.equal(asked({}), OPEN);
  assert.equal(asked({}, []), undefined);
  assert.equal(asked({ tool: 'refund' }), undefined);
  assert.equal(asked({ input: '{ }' }), undefined);
  assert.equal(asked({ shown: '{ }' }), undefined);
  assert.equal(asked({}, [{ ...OPEN, kind: 'uncertain' }]), undefined);
  assert.equal(asked({}, [{ ...OPEN, input: '[]' }, OPEN]), OPEN, 'whichever of the open it is');
});

test('E-4 the one whose task it is and an admin may answer, nobody else', () => {
  assert.equal(judged({}, ANNA), undefined);
  assert.equal(judged({}, ADMIN), undefined);
  assert.equal(judged({}, BEN), 'forbidden');
});

test('E-4 neither a model nor a host answers, whatever it may else', () => {
  for (const kind of ['model', 'host'] as const)
    assert.equal(judged({}, { kind, id: 'anna', isAdmin: true }), 'forbidden');
});

test('E-6 with a second person demanded the one who asked is refused, an admin too', () => {
  assert.equal(judged({ approver: 'other' }, ANNA), 'approver_other');
  assert.equal(judged({ approver: 'other' }, ADMIN), undefined);
  assert.equal(judged({ approver: 'other', requestedBy: 'key:ops' }, ADMIN), 'approver_other');
  assert.equal(judged({ approver: 'other' }, BEN), 'forbidden');
});

test('E-4 an approval is answered once', () => {
  for (const state of ['approved', 'denied', 'expired'] as const)
    assert.deepEqual(judged({ state }, ANNA), ['approval_closed', state]);
});

test('E-4 at its expiry it is closed, before anything has recorded that', () => {
  assert.equal(judged({}, ANNA, { now: NOW + 999 }), undefined);
  assert.deepEqual(judged({}, ANNA, { now: NOW + 1_000 }), ['approval_closed', 'expired']);
});

test('while the clock is not believed nothing has expired', () => {
  assert.equal(judged({}, ANNA, { now: null }), undefined);
});

test('one of a task that has ended is closed', () => {
  for (const state of TASK_ENDS)
    assert.deepEqual(judged({}, ANNA, { task: { ...TASK, state } }), ['approval_closed', 'denied']);
});

test('B-5 of a held task nothing is answered, and the way out is named', () => {
  const task: TaskRecord = { ...TASK, enrollment: 'held-legacy', state: 'paused' };
  assert.deepEqual(judgeAnswer(OPEN, task, { principal: ANNA, now: NOW }), {
    kind: 'refused',
    code: 'not_allowed_now',
    detail: { id: 'task_1', state: 'paused', way: '/task-resume task_1' },
  });
});

test('a refusal names the approval and its task', () => {
  const detail = { id: 'appr_1', taskId: 'task_1' };
  const refused = (over: Partial<ApprovalRecord>, principal: Principal): unknown =>
    judgeAnswer({ ...OPEN, ...over }, TASK, { principal, now: NOW })?.detail;
  assert.deepEqual(refused({}, BEN), detail);
  assert.deepEqual(refused({ approver: 'other' }, ANNA), detail);
  assert.deepEqual(refused({ state: 'denied' }, ANNA), { ...detail, tool: 'pay', state: 'denied' });
});

test('who may not is not told whether it is open', () => {
  assert.equal(judged({ state: 'approved' }, BEN), 'forbidden');
  assert.equal(judged({ state: 'approved', approver: 'other' }, ANNA), 'approver_other');
});

test('its end says who gave it and when', () => {
  const ended = decideApproval(OPEN, 'denied', { name: 'key:ops', now: NOW + 5 });
  assert.deepEqual(ended, {
    ...OPEN,
    state: 'denied',
    decidedBy: 'key:ops',
    decidedAt: NOW + 5,
  });
});

test('a wait is over with exactly the approval that it is for', () => {
  const waiting = { state: 'waiting', waitKind: 'approval', waitId: 'appr_1' } as const;
  assert.equal(waitsForIt(waiting, OPEN), true);
  assert.equal(waitsForIt({ ...waiting, waitId: 'appr_2' }, OPEN), false);
  assert.equal(waitsForIt({ ...waiting, waitKind: 'assessment' }, OPEN), false);
  assert.equal(waitsForIt({ ...waiting, state: 'paused' }, OPEN), false);
});

test('E-4 an answer lets a task go on that waits for an approval, whichever it is', () => {
  const waiting = { state: 'waiting', waitKind: 'approval' } as const;
  assert.equal(goesOnWithAnswer(waiting), true);
  assert.equal(goesOnWithAnswer({ ...waiting, waitKind: 'assessment' }), false);
  assert.equal(goesOnWithAnswer({ ...waiting, state: 'paused' }), false);
});
