import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasEnded, TASK_MOVES, type TaskReason, type TaskState } from '../task/moves.ts';
import { reasonEntry, REASONS, waysOf, type ReasonEntry, type Way } from './reasons.ts';

const reasons = Object.entries(REASONS) as [TaskReason, ReasonEntry][];
const states = Object.keys(TASK_MOVES) as TaskState[];
const ID = 'task_7K2M9QX4R1T8WZ3C';
const TASK = { id: ID, waitId: 'appr_1', outcomeData: '{"grant":"turns=+50"}' } as const;

/** What each way is typed as, and who may: what grants or begins anew is an admin's (W-1, R-8, B-8). */
const WAYS: Readonly<Record<Way['effect'], readonly [command: string, who: Way['who']]>> = {
  stop: ['/stop {id}', 'task_principal_or_admin'],
  pause: ['/pause {id}', 'task_principal_or_admin'],
  resume: ['/task-resume {id}', 'task_principal_or_admin'],
  late: ['/task-resume {id} late', 'task_principal_or_admin'],
  enrol: ['/task-resume {id}', 'admin'],
  reopen: ['/budget-reset {id}', 'admin'],
  extend: ['/extend {id} {grant}', 'admin'],
  approve: ['/approve {wait}', 'task_principal_or_admin'],
  deny: ['/deny {wait}', 'task_principal_or_admin'],
  fresh: ['/new', 'person'],
};

test('W-1 each way is typed in one way and is for those who may', () => {
  const seen = new Set(reasons.flatMap(([, { ways }]) => ways));
  const resumed = ['/task-resume {id}', 'admin'] as const;
  for (const { command, who, effect } of seen) {
    // After an inconclusive assessment it is a resume that opens the next epoch.
    const isResumed = REASONS.recovery_inconclusive.ways.some(
      (way) => way.effect === effect && way.command === command,
    );
    const known = isResumed && effect === 'reopen' ? resumed : WAYS[effect];
    assert.deepEqual([command, who], [known[0], known[1]], effect);
  }
  const [paused] = waysOf({ ...TASK, state: 'active', reason: null }).toReversed();
  assert.deepEqual(paused, { command: `/pause ${ID}`, who: WAYS.pause[1], effect: 'pause' });
});

test('O-6 the level of a notice is that of the state that it tells of', () => {
  const LEVELS = { active: null, waiting: 'waiting', paused: 'info', blocked: 'blocked' } as const;
  for (const [reason, { state, level, again, reply }] of reasons) {
    const known = state in LEVELS ? LEVELS[state as keyof typeof LEVELS] : 'info';
    if (level !== null) assert.equal(level, known, reason);
    if (!hasEnded(state)) assert.equal(again, false, `${reason} still goes on`);
    else assert.equal(reply, false, `${reason} is over`);
  }
});

test('a way whose parameters are not known is typed without them', () => {
  const typed = (reason: TaskReason): unknown => {
    const task = { id: ID, waitId: null, outcomeData: '{"grant":5}' } as const;
    return waysOf({ ...task, state: REASONS[reason].state, reason })[0]?.command;
  };
  assert.equal(typed('awaits_approval'), '/approve');
  assert.equal(typed('budget_exhausted'), `/extend ${ID}`);
});

describe('a task that only a person can move on has one notice and a command', () => {
  for (const [reason, { state, level, notice, ways }] of reasons) {
    test(`V8 ${reason}: ${state}`, () => {
      assert.equal(hasEnded(state), ways.length === 0);
      assert.equal(level === null, notice === null);
      // One summary speaks for all that the boundary holds (B-10).
      const isHeld = reason === 'held_legacy';
      if (state === 'blocked') assert.equal(level, isHeld ? null : 'blocked');
      const typed = waysOf({ ...TASK, state, reason });
      for (const way of ways) assert.ok(typed.some(({ effect }) => effect === way.effect));
      for (const { command } of typed) assert.doesNotMatch(command, /[{}]|undefined| $/);
    });
  }

  test('W-7 each command is typed with what it needs', () => {
    const commands = (reason: TaskReason): readonly string[] =>
      waysOf({ ...TASK, state: REASONS[reason].state, reason }).map(({ command }) => command);
    assert.deepEqual(commands('budget_exhausted'), [`/extend ${ID} turns=+50`, `/stop ${ID}`]);
    const asked = ['/approve appr_1', '/deny appr_1', `/stop ${ID}`, `/pause ${ID}`];
    assert.deepEqual(commands('awaits_approval'), asked);
    assert.deepEqual(commands('wait_elapsed'), [`/task-resume ${ID}`, `/stop ${ID}`]);
    assert.deepEqual(commands('base_too_large'), ['/new', `/stop ${ID}`]);
    // A pause would be a way around the assessment.
    assert.deepEqual(commands('interrupted'), [`/stop ${ID}`]);
  });
});

describe('a task without a reason can be stopped until it has ended', () => {
  for (const state of states) {
    test(state, () => {
      const ways = waysOf({ ...TASK, state, reason: null }).map(({ command }) => command);
      assert.equal(ways[0], hasEnded(state) ? undefined : `/stop ${ID}`);
    });
  }
});

test('a task that has ended has no command, whatever its reason was', () => {
  assert.deepEqual(waysOf({ ...TASK, state: 'stopped', reason: 'interrupted' }), []);
});

test('a reason of another version is no row, and its task can be stopped', () => {
  assert.equal(reasonEntry('model_unavailable'), undefined);
  assert.equal(reasonEntry(null), undefined);
  const ways = waysOf({ ...TASK, state: 'blocked', reason: 'of_old' as TaskReason });
  assert.deepEqual(ways, [
    { command: `/stop ${ID}`, who: 'task_principal_or_admin', effect: 'stop' },
  ]);
});
