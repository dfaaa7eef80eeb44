import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import {
  approvalRow,
  auditRow,
  conversationRow,
  eventRow,
  executionRow,
  idOf,
  messageRow,
  outboxRow,
  receiptRow,
  runRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { EXECUTION_MOVES } from '../dispatch/record.ts';
import { HOST_CHANNELS } from '../inbox/record.ts';
import { WAIT_KINDS, TASK_ENDS } from '../task/moves.ts';
import type { Archived, ArchiveKind } from './record.ts';
import { standingProblem } from './standing.ts';

/** A record of each kind with nothing wrong in it. */
const SOUND = {
  conversation: conversationRow(),
  session: sessionRow(),
  operation: operationRow(),
  task: taskRow(),
  run: runRow(),
  turn: turnRow(),
  message: messageRow(),
  step: stepRow(),
  event: eventRow(),
  approval: approvalRow(),
  outbox: outboxRow(),
  execution: executionRow({ endedAt: null }),
  receipt: receiptRow(),
  audit: auditRow(),
} satisfies Record<ArchiveKind, object>;

function problemOf(kind: ArchiveKind, over: object): string | undefined {
  return standingProblem({ kind, record: { ...SOUND[kind], ...over } } as Archived);
}

type Case = readonly [kind: ArchiveKind, over: object, says?: string];

/** What may be so, and, with a sentence, what may not; each differs from a sound record in what it says. */
function holds(cases: readonly Case[]): void {
  for (const [kind, over, says] of cases)
    assert.equal(problemOf(kind, over), says, `${kind} ${JSON.stringify(over)}`);
}

describe('a record of a file is taken', () => {
  test('when it is sound, whatever its kind', () => {
    for (const kind of Object.keys(SOUND) as ArchiveKind[])
      assert.equal(problemOf(kind, {}), undefined, kind);
  });

  test('V18 with an end exactly when it has ended', () => {
    const cases = (
      [
        ['task', 'completed', {}],
        ['turn', 'ended', { end: 'answered' }],
        ['run', 'failed', {}],
        ['execution', 'completed', {}],
      ] as const
    ).flatMap(([kind, state, more]): readonly Case[] => [
      [kind, { ...more, state, endedAt: 5 }],
      [kind, { ...more, state }, `The ${kind} has ended and its endedAt says when not.`],
      [kind, { endedAt: 5 }, `The ${kind} has an endedAt and has not ended.`],
    ]);
    holds(cases);
    for (const state of TASK_ENDS) holds([['task', { state, endedAt: 5 }]]);
    for (const [state, to] of Object.entries(EXECUTION_MOVES))
      holds([['execution', { state, endedAt: to.length === 0 ? 5 : null }]]);
  });
});

describe('a task of a file', () => {
  const waits = { state: 'waiting', reason: 'awaits_answer', waitKind: 'answer', waitUntil: 9 };

  test('T-6 has a wait exactly while it waits, with a window where it is looked at after one', () => {
    const none = 'The task does not wait and has a wait.';
    holds([
      ['task', waits],
      ['task', { waitKind: 'answer', waitUntil: 9 }, none],
      ['task', { waitId: 'x' }, none],
      ['task', { waitUntil: 9 }, none],
      ['task', { waitQuestion: 'Which?' }, none],
    ]);
    const without = WAIT_KINDS.filter(
      (waitKind) =>
        problemOf('task', { ...waits, waitKind, waitUntil: null })?.includes('waitUntil') === true,
    );
    assert.deepEqual(without.toSorted(), ['answer', 'approval', 'instant', 'quota', 'worker']);
    const silent = { state: 'waiting', waitKind: null, waitUntil: null };
    holds([
      ['task', { ...silent, reason: null }],
      ['task', { ...silent, reason: 'awaits_answer', waitUntil: 9 }],
      [
        'task',
        { ...silent, reason: 'awaits_answer' },
        'The task waits for nothing and has a reason for it.',
      ],
    ]);
  });

  test('R-1 waits for its assessment when it needs one', () => {
    const assessed = { state: 'waiting', waitKind: 'assessment' };
    const needs = 'The task waits for its assessment and needs none.';
    holds([
      ['task', { ...assessed, recoveryState: 'needed', reason: 'interrupted' }],
      ['task', { ...assessed, recoveryState: 'none', reason: 'interrupted' }, needs],
      ['task', { ...assessed, recoveryState: 'needed', reason: 'awaits_answer' }, needs],
    ]);
  });

  test('V21 comes due only when it stands still', () => {
    const due = 'The task has a dueAt and does not stand still.';
    holds([
      ['task', { ...waits, dueAt: 9 }],
      ['task', { state: 'blocked', dueAt: 9 }],
      ['task', { dueAt: 9 }, due],
      ['task', { state: 'failed', endedAt: 5, dueAt: 9 }, due],
    ]);
  });

  test('R-3 has counted what it tried, and goes on only by what allowed it', () => {
    const tried = { recoveryAttempts: 1, recoveryLifetimeAttempts: 1, recoveryOutcome: 'continue' };
    const granted = { ...tried, recoveryState: 'granted', recoveryGrantedAt: 5 };
    const most = LIMITS.recoveryAttempts;
    const needed = { ...tried, recoveryState: 'needed', recoveryOutcome: 'failed' };
    const noGrant = 'The recoveryGrantedAt of the task does not fit its recoveryState.';
    const noOutcome = 'The recoveryOutcome of the task does not fit its recoveryAttempts.';
    const notOn = 'The task goes on by an assessment whose recoveryOutcome is not continue.';
    holds([
      ['task', granted],
      ['task', { ...tried, recoveryState: 'followed' }],
      ['task', { ...granted, recoveryGrantedAt: null }, noGrant],
      ['task', { ...needed, recoveryGrantedAt: 5 }, noGrant],
      ['task', { ...needed, recoveryAttempts: most, recoveryLifetimeAttempts: most }],
      [
        'task',
        { ...needed, recoveryAttempts: most + 1, recoveryLifetimeAttempts: most + 1 },
        `The recoveryAttempts of the task are more than ${most}.`,
      ],
      [
        'task',
        { ...needed, recoveryAttempts: 2 },
        'The recoveryAttempts of the task are more than its recoveryLifetimeAttempts.',
      ],
      ['task', { ...needed, recoveryOutcome: null }, noOutcome],
      ['task', { ...needed, recoveryAttempts: 0 }, noOutcome],
      ['task', { ...granted, recoveryOutcome: 'failed' }, notOn],
      ['task', { ...tried, recoveryState: 'followed', recoveryOutcome: 'failed' }, notOn],
      ['task', tried, 'The task has recoveryAttempts and needed none.'],
      ['task', { recoveryLifetimeAttempts: 1, recoveryNextAt: 9 }],
      [
        'task',
        { recoveryNextAt: 9 },
        'The task has a recoveryNextAt and no attempt that it follows.',
      ],
    ]);
  });
});

describe('of a file', () => {
  test('X-4 a message is of the host exactly on a channel of the host', () => {
    const own =
      'The channel of the message does not fit its kind: the host has channels of its own.';
    const ofTask = { taskId: idOf('task', 1) };
    for (const channel of Object.values(HOST_CHANNELS))
      holds([
        ['message', { ...ofTask, kind: 'generated', channel }],
        ['message', { channel }, own],
        ['message', { kind: 'command', channel }, own],
        ['message', { kind: 'generated', channel }, 'The message is generated and of no task.'],
      ]);
    holds([['message', { ...ofTask, kind: 'generated' }, own]]);
  });

  test('V2 a message is where its turn, its task and its answer say', () => {
    const taken = { state: 'claimed', turnId: idOf('turn', 1), claimedSeq: 2 };
    const task = { taskId: idOf('task', 1) };
    const command = 'The message is a command and was claimed by a turn.';
    const seq = 'The claimedSeq of the message does not fit its turnId.';
    const where = 'The message is claimed and does not say by which turn of which task.';
    const untouched = 'The message was not taken up and has a turn or an answer.';
    holds([
      ['message', { ...taken, ...task }],
      ['message', { kind: 'command', state: 'done' }],
      ['message', { kind: 'command', state: 'claimed' }, command],
      ['message', { ...taken, kind: 'command', state: 'done' }, command],
      ['message', { ...taken, ...task, claimedSeq: null }, seq],
      ['message', { claimedSeq: 2 }, seq],
      ['message', taken, where],
      ['message', { ...task, state: 'claimed' }, where],
      ['message', { ...taken, state: 'unclaimed' }, untouched],
      ['message', { ...taken, state: 'held' }, untouched],
      ['message', { state: 'held', answerId: idOf('outbox', 5) }, untouched],
      ['message', { ...taken, state: 'done', answerId: idOf('outbox', 5) }],
      ['message', { ...task, runId: idOf('run', 1) }],
      ['message', { runId: idOf('run', 1) }, 'The message is of a run and of no task.'],
    ]);
  });

  test('V3 a step is finished or not, at a place behind its own', () => {
    const done = { state: 'finished', finishedId: 'evt_9', finishedSeq: 4, finishedAt: 9 };
    const fits = 'The state of the step does not fit its finishedId, finishedSeq and finishedAt.';
    const behind = 'The finishedSeq of the step is not behind its seq.';
    holds([
      ['step', done],
      ...['finishedId', 'finishedSeq', 'finishedAt'].flatMap((name): readonly Case[] => [
        ['step', { ...done, [name]: null }, fits],
        ['step', { [name]: 4 }, fits],
      ]),
      ['step', { ...done, finishedSeq: 3 }, behind],
      ['step', { ...done, finishedSeq: 2 }, behind],
    ]);
  });

  test('INC-006 a finished model call left what a transcript can be built of', () => {
    const done = { state: 'finished', finishedId: 'evt_9', finishedSeq: 4, finishedAt: 9 };
    const call = { id: 'c', name: 'look', args: '{}' };
    const left = (output: unknown): object => {
      const text = typeof output === 'string' ? output : JSON.stringify(output);
      return { ...done, kind: 'model', output: text };
    };
    const wrong = 'The output of the step is not what a model call gives.';
    holds([
      ['step', left({ text: '', calls: [] })],
      ['step', left({ text: 'x', calls: [call, call] })],
      ['step', { ...done, kind: 'model', output: null }],
      ['step', { ...left('prose'), kind: 'tool' }],
      ['step', { kind: 'model', output: 'half of' }],
      ...['prose', [], null, 7, { calls: [] }, { text: 'x' }, { text: 7, calls: [] }].map(
        (output): Case => ['step', left(output ?? 'null'), wrong],
      ),
      ['step', left({ text: 'x', calls: {} }), wrong],
      ...[null, 'c', { ...call, id: 7 }, { ...call, name: null }, { id: 'c', name: 'look' }].map(
        (odd): Case => ['step', left({ text: 'x', calls: [call, odd] }), wrong],
      ),
    ]);
  });

  test('A-2 a run has an outcome only once it is over, and a turn an end', () => {
    const open = 'The run is open and has an outcome.';
    const end = 'The end of the turn does not fit its state.';
    holds([
      ['run', { state: 'failed', endedAt: 5, outcomeCode: 'x', outcomeId: idOf('outbox', 5) }],
      ['run', { outcomeCode: 'x' }, open],
      ['run', { outcomeId: idOf('outbox', 5) }, open],
      ['turn', { end: 'answered' }, end],
      ['turn', { state: 'ended', endedAt: 5 }, end],
    ]);
  });

  test('E-4 an approval is decided or open, and expires after it was asked for', () => {
    const fits = 'The state of the approval does not fit its decidedBy and decidedAt.';
    const decided = { state: 'denied', decidedBy: 'key:ops', decidedAt: 9 };
    holds([
      ['approval', decided],
      ['approval', { ...decided, decidedBy: null }, fits],
      ['approval', { ...decided, decidedAt: null }, fits],
      ['approval', { decidedBy: 'key:ops' }, fits],
      ['approval', { decidedAt: 9 }, fits],
      ['approval', { expiresAt: 3_000 }],
      ['approval', { expiresAt: 2_999 }, 'The approval expires before it was asked for.'],
    ]);
  });

  test('O-6 an entry of the outbox is words or a notice, delivered when it was', () => {
    const notice = { kind: 'notice', level: 'info', code: 'paused', text: null };
    const fits = 'The level and the code of the outbox do not fit its kind.';
    const both = 'The outbox has to have a code or a text, and not both.';
    const when = 'The deliveredAt of the outbox does not fit its state.';
    holds([
      ['outbox', notice],
      ['outbox', { ...notice, kind: 'answer', level: null }],
      ['outbox', { ...notice, level: null }, fits],
      ['outbox', { level: 'info' }, fits],
      ['outbox', { ...notice, code: null, text: 'x' }, fits],
      ['outbox', { text: null }, both],
      ['outbox', { ...notice, text: 'x' }, both],
      ['outbox', { state: 'delivered', deliveredAt: 9 }],
      ['outbox', { state: 'delivered' }, when],
      ['outbox', { deliveredAt: 9 }, when],
    ]);
  });

  test('B-6 a worker of a task is in a conversation, and one of none in none', () => {
    const fits = 'The conversationId of the execution does not fit its taskId.';
    holds([
      ['execution', { taskId: null, conversationId: null }],
      ['execution', { taskId: null }, fits],
      ['execution', { conversationId: null }, fits],
    ]);
  });
});
