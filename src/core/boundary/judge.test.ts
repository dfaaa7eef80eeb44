import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { idOf, messageRow, taskRow, turnRow } from '../../testing/store-rows.ts';
import { DAY } from '../../kernel/time.ts';
import { EXECUTION_MOVES, type ExecutionRecord, type ExecutionState } from '../dispatch/record.ts';
import type { TaskRecord } from '../task/record.ts';
import { TASK_MOVES, hasEnded, type TaskState } from '../task/moves.ts';
import { enrolWorker, holdTask, keepTask, proofOf, type BoundaryFacts } from './judge.ts';

const NOW = 1_800_000_000_000;
const TASK = idOf('task', 1);
const HASH = 'a'.repeat(64);
const NOTHING: BoundaryFacts = { messages: [], turns: [], workers: [] };
const WORKER_STATES = Object.keys(EXECUTION_MOVES) as ExecutionState[];
const OPEN_STATES = (Object.keys(TASK_MOVES) as TaskState[]).filter((state) => !hasEnded(state));

function task(given: Partial<TaskRecord> = {}): TaskRecord {
  return taskRow({ id: TASK, mandateHash: HASH, enrollment: 'unmarked', ...given });
}

function worker(given: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: idOf('execution', 1),
    taskId: TASK,
    mandateHash: HASH,
    conversationId: idOf('conversation', 1),
    enrollment: 'unmarked',
    state: 'running',
    version: 3,
    hostId: idOf('host', 1),
    job: 'Count them.',
    outcome: null,
    deadline: null,
    createdAt: 1_000,
    changedAt: 1_000,
    endedAt: null,
    ...given,
  };
}

function input(given: Parameters<typeof messageRow>[0] = {}): BoundaryFacts['messages'][number] {
  return messageRow({ taskId: TASK, ...given });
}

const OF_TURN = { state: 'claimed', turnId: idOf('turn', 1) } as const;

describe('what proves ongoing work', () => {
  test("B-3 a person's input that no turn has finished, and nothing else that was said", () => {
    const running = turnRow({ id: idOf('turn', 1), taskId: TASK });
    const cases: readonly (readonly [string, Partial<BoundaryFacts>, string | undefined])[] = [
      ['unclaimed', { messages: [input()] }, 'input'],
      [
        'claimed, its turn without an end',
        { messages: [input(OF_TURN)], turns: [running] },
        'input',
      ],
      [
        'claimed, its turn stopping',
        { messages: [input(OF_TURN)], turns: [{ ...running, state: 'stopping' }] },
        'input',
      ],
      ['claimed, its turn ended', { messages: [input(OF_TURN)] }, undefined],
      [
        'claimed, its turn ended while another runs',
        {
          messages: [input(OF_TURN)],
          turns: [
            { ...running, id: idOf('turn', 2) },
            { ...running, state: 'ended' },
          ],
        },
        undefined,
      ],
      [
        'set aside in a turn',
        { messages: [input({ ...OF_TURN, state: 'held' })], turns: [running] },
        undefined,
      ],
      ['done', { messages: [input({ state: 'done' })] }, undefined],
      ['set aside', { messages: [input({ state: 'held' })] }, undefined],
      ['made by the host', { messages: [input({ kind: 'generated' })] }, undefined],
      ['a command', { messages: [input({ kind: 'command' })] }, undefined],
      ['of another task', { messages: [input({ taskId: idOf('task', 2) })] }, undefined],
      ['a turn alone', { turns: [running] }, undefined],
    ];
    for (const [name, facts, proof] of cases)
      assert.equal(proofOf(task(), { ...NOTHING, ...facts }), proof, name);
  });

  test('B-3 a worker that was accepted or runs, bound to this task and this mandate', () => {
    const proving = WORKER_STATES.filter(
      (state) => proofOf(task(), { ...NOTHING, workers: [worker({ state })] }) === 'worker',
    );
    assert.deepEqual(proving, ['ready', 'running']);
  });

  test('B-6 a worker of unknown ownership proves nothing, nor do equal lists of them', () => {
    const strangers = [
      worker({ taskId: null }),
      worker({ mandateHash: null }),
      worker({ mandateHash: 'b'.repeat(64) }),
      worker({ taskId: idOf('task', 2) }),
      worker({ taskId: null, mandateHash: null }),
    ];
    for (const workers of [...strangers.map((one) => [one]), strangers])
      assert.equal(proofOf(task(), { ...NOTHING, workers }), undefined);
    const lists = { outcomeData: '{"workers":["w1","w2","w3","w4","w5","w6"]}' };
    assert.equal(proofOf(task(lists), { ...NOTHING, workers: strangers }), undefined);
  });

  test('B-7 however old it is, a worker keeps it, and however young, nothing does not', () => {
    const old = { createdAt: NOW - 400 * DAY, mandateAt: NOW - 400 * DAY };
    const young = { createdAt: NOW, mandateAt: NOW, changedAt: NOW };
    assert.equal(proofOf(task(old), { ...NOTHING, workers: [worker()] }), 'worker');
    assert.equal(proofOf(task(young), NOTHING), undefined);
  });

  test('B-3 what it says of itself proves nothing: a permission to continue, a checkpoint, its state', () => {
    for (const state of OPEN_STATES) {
      const said = { state, checkpoint: 'go on', recoveryState: 'granted' } as const;
      assert.equal(proofOf(task(said), NOTHING), undefined);
    }
  });
});

describe('a task that is held', () => {
  test('B-4 it is blocked, and all but how it stands is as it was', () => {
    for (const state of OPEN_STATES) {
      const before = task({
        state,
        deadline: NOW - DAY,
        checkpoint: 'half of it',
        turnsUsed: 50,
        recoveryState: 'granted',
        recoveryAttempts: 2,
        recoveryGrantedAt: NOW - DAY,
        orderAt: NOW - DAY,
        dueAt: NOW - DAY,
      });
      const held = holdTask(before, NOW);
      const { state: now, reason, enrollment, dueAt } = held;
      assert.deepEqual(
        { now, reason, enrollment, dueAt },
        { now: 'blocked', reason: 'held_legacy', enrollment: 'held-legacy', dueAt: null },
      );
      const { outcomeData, version, changedAt, ...rest } = held;
      assert.deepEqual([version, changedAt], [before.version + 1, NOW]);
      const moved = ['state', 'reason', 'enrollment', 'dueAt', 'waitKind', 'waitId', 'waitUntil'];
      for (const [field, value] of Object.entries(rest))
        if (!moved.includes(field))
          assert.deepEqual(value, before[field as keyof TaskRecord], `${state}: ${field}`);
      assert.ok(outcomeData !== null);
    }
  });

  test('B-4 how it stood is readable', () => {
    const before = task({
      state: 'waiting',
      reason: 'awaits_answer',
      waitKind: 'answer',
      waitId: 'out_1',
      waitUntil: NOW - DAY,
      waitQuestion: 'Which one?',
      changedAt: NOW - 8 * DAY,
      outcomeData: '{"tools":["pay"]}',
    });
    const held = holdTask(before, NOW);
    assert.deepEqual(
      [held.waitKind, held.waitId, held.waitUntil, held.waitQuestion],
      [null, null, null, null],
    );
    assert.deepEqual(JSON.parse(held.outcomeData ?? ''), {
      was: {
        state: 'waiting',
        reason: 'awaits_answer',
        waitKind: 'answer',
        waitId: 'out_1',
        waitUntil: NOW - DAY,
        waitQuestion: 'Which one?',
        since: NOW - 8 * DAY,
        outcomeData: { tools: ['pay'] },
      },
    });
  });

  test('B-4 how it stood before the first boundary stays readable after every other', () => {
    const stands = (given: Partial<TaskRecord>): unknown => {
      const { outcomeData } = holdTask(task(given), NOW);
      return (JSON.parse(outcomeData ?? '') as { readonly was: unknown }).was;
    };
    const outcomeData = '{"was":{"state":"active"}}';
    assert.deepEqual(stands({ reason: 'held_legacy', outcomeData }), { state: 'active' });
    const blocked = { state: 'blocked', reason: 'held_legacy', outcomeData: '{}' } as const;
    assert.partialDeepStrictEqual(stands(blocked), { state: 'blocked', outcomeData: {} });
    const other = { state: 'blocked', reason: 'no_outcome', outcomeData } as const;
    assert.partialDeepStrictEqual(stands(other), { reason: 'no_outcome' });
    assert.partialDeepStrictEqual(stands({ outcomeData: null }), { outcomeData: null });
  });

  test('is never one that is marked or has ended', () => {
    const old = /only an old, open task/;
    assert.throws(() => holdTask(task({ enrollment: 'current' }), NOW), old);
    assert.throws(() => holdTask(task({ state: 'completed' }), NOW), old);
    assert.throws(() => keepTask(task({ enrollment: 'held-legacy' }), NOTHING, NOW), old);
  });
});

describe('a task that is kept', () => {
  const running = turnRow({ id: idOf('turn', 1), taskId: TASK });

  test('work that nothing carries on was interrupted, whatever its record says', () => {
    const kept = keepTask(task({ state: 'active' }), { ...NOTHING, workers: [worker()] }, NOW);
    const { enrollment, state, reason, waitKind, recoveryState } = kept;
    assert.deepEqual([enrollment, state, reason], ['current', 'waiting', 'interrupted']);
    assert.deepEqual([waitKind, recoveryState], ['assessment', 'needed']);
    assert.equal(kept.outcomeData, '{"tools":[]}');
  });

  test('R-14 it was interrupted though another task has words or a turn, or its own has ended', () => {
    const other = idOf('task', 2);
    const not: readonly Partial<BoundaryFacts>[] = [
      { messages: [input({ taskId: other })] },
      { messages: [input({ state: 'done' })] },
      { turns: [{ ...running, taskId: other }] },
      { turns: [{ ...running, state: 'ended' }] },
    ];
    for (const facts of not)
      assert.equal(keepTask(task(), { ...NOTHING, ...facts }, NOW).reason, 'interrupted');
  });

  test('of what was history before, nobody knows how it went on', () => {
    const held = task({ state: 'blocked', reason: 'held_legacy' });
    assert.equal(keepTask(held, { ...NOTHING, workers: [worker()] }, NOW).reason, 'interrupted');
  });

  test('R-1 one that waited for its assessment still needs it, and no other', () => {
    const needed = (waitKind: NonNullable<TaskRecord['waitKind']>): string => {
      const waits = task({ state: 'waiting', waitKind, recoveryState: 'followed' });
      return keepTask(waits, { ...NOTHING, workers: [worker()] }, NOW).recoveryState;
    };
    assert.deepEqual([needed('assessment'), needed('answer')], ['needed', 'followed']);
  });

  test('what no turn has claimed yet is simply next, and a turn has its own close', () => {
    for (const facts of [{ messages: [input()] }, { turns: [running] }]) {
      const kept = keepTask(task(), { ...NOTHING, ...facts }, NOW);
      assert.deepEqual([kept.enrollment, kept.state], ['current', 'active']);
      assert.equal(kept.version, 2);
    }
  });

  test('a wait that would end by itself is a polling window', () => {
    const facts = { ...NOTHING, workers: [worker()] };
    const waits = { state: 'waiting', waitUntil: NOW - DAY, deadline: null } as const;
    const kinds = ['instant', 'quota', 'answer', 'approval', 'worker', 'assessment', 'provider'];
    const after = (kinds as NonNullable<TaskRecord['waitKind']>[]).map((waitKind) => {
      const kept = keepTask(task({ ...waits, waitKind }), facts, NOW);
      assert.equal(kept.state, 'waiting');
      return [waitKind, kept.waitKind, kept.dueAt];
    });
    assert.deepEqual(after, [
      ['instant', null, NOW - DAY],
      ['quota', null, NOW - DAY],
      ['answer', 'answer', NOW - DAY],
      ['approval', 'approval', NOW - DAY],
      ['worker', 'worker', NOW - DAY],
      ['assessment', 'assessment', NOW - DAY],
      ['provider', 'assessment', null],
    ]);
  });

  test('what is paused or blocked stays so', () => {
    for (const state of ['paused', 'blocked'] as const) {
      const before = task({ state, reason: state === 'paused' ? 'paused' : 'no_outcome' });
      const kept = keepTask(before, { ...NOTHING, messages: [input()] }, NOW);
      assert.deepEqual([kept.state, kept.reason], [before.state, before.reason]);
      assert.equal(kept.dueAt, before.deadline);
      assert.equal(keepTask(before, NOTHING, NOW).state, state, 'whether or not it has words');
    }
  });
});

describe('a worker after the boundary', () => {
  const owner = task({ enrollment: 'current' });

  test('B-9 one that was accepted or runs for a task that goes on stays current', () => {
    const after = WORKER_STATES.map((state) => enrolWorker(worker({ state }), owner, NOW));
    const current = after.filter(({ enrollment }) => enrollment === 'current');
    assert.deepEqual(
      current.map(({ state }) => state),
      ['ready', 'running'],
    );
  });

  test('B-9 every other is kept as it is and fenced', () => {
    const others: readonly (readonly [ExecutionRecord, TaskRecord | undefined])[] = [
      [worker(), undefined],
      [worker({ taskId: null }), owner],
      [worker({ mandateHash: 'b'.repeat(64) }), owner],
      [worker(), holdTask(task(), NOW)],
      [worker(), { ...owner, state: 'completed' }],
      [worker(), task()],
    ];
    for (const [before, of] of others) {
      const after = enrolWorker(before, of, NOW);
      assert.deepEqual(after, {
        ...before,
        enrollment: 'held-legacy',
        version: before.version + 1,
        changedAt: NOW,
      });
    }
  });
});
