// Records that could not be as they say, or do not fit one another: the file is refused, nothing of it is stored.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { INSTANT_MAX, WHOLE_MAX } from '../../src/core/archive/field.ts';
import type { Archived, ArchiveKind } from '../../src/core/archive/record.ts';
import { idOf } from '../../src/testing/store-rows.ts';
import { bring, fileOf, recordsIn, sqlitePlace, take } from '../support/archive.ts';
import {
  changed,
  closeTarget,
  nothingStored,
  openTarget,
  RECORDS,
  refuses,
  target,
} from '../support/import-target.ts';

before(openTarget);
after(closeTarget);

const [T1, T2] = [idOf('task', 1), idOf('task', 2)];
const TURN2 = idOf('turn', 2);
const GENERATED = { kind: 'generated', channel: 'recovery', externalId: `${T2}:1`, taskId: T2 };
const WAITS = { waitKind: null, reason: null, recoveryState: 'none' };
const NONE = { recoveryAttempts: 0, recoveryOutcome: null };

/** The second record of a kind, or the first, with these fields, and what is said of it. */
type Case = readonly [kind: ArchiveKind, over: object, problem: RegExp, which?: 'first'];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  'numbers and names leave what a store can hold': [
    ['conversation', { seq: WHOLE_MAX + 1 }, /seq of the conversation has to be .* to 10{15}/],
    ['conversation', { token: 2 ** 53 - 1 }, /token of the conversation has to be/],
    ['task', { version: 2 ** 53 - 1 }, /version of the task has to be/],
    ['conversation', { address: 'x'.repeat(401) }, /address .* at most 400 characters/],
    ['task', { version: 0 }, /version of the task has to be a whole number from 1/],
    ['task', { tokensUsed: WHOLE_MAX + 1 }, /tokensUsed of the task has to be/],
    ['task', { deadline: INSTANT_MAX + 1 }, /deadline of the task has to be/],
    ['task', { orderAt: 9e15 }, /orderAt of the task has to be/],
    ['turn', { token: 0 }, /token of the turn has to be a whole number from 1/],
    ['event', { seq: 0 }, /seq of the event has to be a whole number from 1/],
    ['step', { inputTokens: WHOLE_MAX, outputTokens: 1 }, /more tokens and money than can be/],
  ],
  'turns and conversations do not hold one another': [
    [
      'conversation',
      { turnId: idOf('turn', 1) },
      /turn has ended and its conversation still/,
      'first',
    ],
    ['conversation', { turnId: null }, /turn is open and its conversation has it not/],
    ['conversation', { token: 2 }, /token of the turn is above the 2/],
    ['session', { endedAt: 5 }, /session has ended and its conversation is in it/],
    ['turn', { end: 'answered' }, /end of the turn does not fit/],
    ['turn', { taskId: T2 }, /task .*, which is of another conversation/, 'first'],
  ],
  'waits and recoveries contradict themselves': [
    ['task', { waitKind: null, waitUntil: 5 }, /does not wait and has a wait/, 'first'],
    ['task', { dueAt: 5 }, /dueAt and does not stand still/, 'first'],
    ['task', { ...WAITS, ...NONE, waitKind: 'instant' }, /waitUntil says how long not/],
    ['task', { ...WAITS, ...NONE, reason: 'awaits_instant' }, /waits for nothing/],
    ['task', { recoveryState: 'none', ...NONE }, /waits for its assessment and needs none/],
    ['task', { recoveryGrantedAt: 5 }, /recoveryGrantedAt of the task does not fit/],
    ['task', { recoveryAttempts: 4 }, /recoveryAttempts of the task are more than 3/],
    ['task', { recoveryLifetimeAttempts: 1 }, /more than its recoveryLifetimeAttempts/],
    ['task', { recoveryOutcome: null }, /recoveryOutcome of the task does not fit/],
    ['task', { recoveryState: 'granted', recoveryGrantedAt: 5, ...WAITS_NOT() }, /is not continue/],
    ['task', { ...NONE, recoveryLifetimeAttempts: 0 }, /no attempt that it follows/],
  ],
  'messages were not made or claimed like that': [
    ['message', { ...GENERATED, taskId: null }, /generated and of no task/],
    ['message', { channel: 'wake' }, /host has channels of its own/],
    ['message', { ...GENERATED, channel: 'api' }, /host has channels of its own/],
    ['message', { kind: 'command', state: 'claimed' }, /command and was claimed/],
    ['message', { state: 'claimed', taskId: T2 }, /does not say by which turn/],
    ['message', { turnId: TURN2, claimedSeq: 12 }, /not taken up and has a turn/],
    ['message', { state: 'done', turnId: TURN2, claimedSeq: 12 }, /by a turn of another task/],
    ['message', { runId: idOf('run', 1) }, /of a run and of no task/],
    ['message', { ...GENERATED, externalId: `${T2}:2` }, /version above the 1 of its task/],
    ['message', { ...GENERATED, externalId: `${T1}:1` }, /names another task/],
  ],
  'names of the host claim a cause that there was not': [
    ['outbox', { key: `notice:${T2}:2` }, /key of the outbox names a version above the 1/],
    ['outbox', { key: `notice:${T2}:x` }, /key of the outbox names a version above the 1/],
    ['outbox', { key: `notice:${idOf('task', 9)}:1` }, /task .*, which is not in the file/],
    ['outbox', { key: `uncertain:${idOf('event', 12)}` }, /outcome is not uncertain/],
    ['outbox', { key: `answer:${idOf('message', 10)}` }, /no command that was answered/],
    ['outbox', { key: `kept:${idOf('message', 10)}` }, /no message that was kept/],
    ['outbox', { key: `reply:${idOf('turn', 9)}` }, /turn .*, which is not in the file/],
  ],
  'steps, runs, approvals and receipts are not of what they are about': [
    ['step', { state: 'finished' }, /state of the step does not fit/],
    ['step', { output: '7', ...FINISHED() }, /not what a model call gives/],
    ['step', { output: '{"text":"x","calls":[{}]}', ...FINISHED() }, /not what a model call gives/],
    ['step', { seq: 11 }, /seq of the step is not behind its turn/],
    ['run', { outcomeCode: 'x' }, /run is open and has an outcome/],
    ['approval', { state: 'open' }, /state of the approval does not fit/],
    ['approval', { state: 'open', decidedBy: null, decidedAt: null }, /its task has ended/],
    ['approval', { expiresAt: 1 }, /expires before it was asked/],
    ['outbox', { state: 'delivered' }, /deliveredAt of the outbox does not fit/],
    ['outbox', { level: null }, /level and the code/],
    ['execution', { taskId: null }, /conversationId of the execution does not fit/, 'first'],
    ['receipt', { subjectId: idOf('task', 9) }, /about the task .*, which is not in the file/],
    ['receipt', { outcome: '{"outcome":{"version":-1}}' }, /version in the outcome of the receipt/],
  ],
};

function WAITS_NOT(): object {
  return { state: 'active', reason: null, waitKind: null };
}

function FINISHED(): object {
  return { state: 'finished', finishedId: idOf('event', 13), finishedSeq: 13, finishedAt: 3_000 };
}

describe('a file is refused whole in which', () => {
  for (const [title, cases] of Object.entries(CASES)) {
    test(title, async () => {
      for (const [kind, over, problem, which] of cases) {
        const places = RECORDS.flatMap((one, at) => (one.kind === kind ? [at] : []));
        const at = places[which === 'first' ? 0 : Math.min(1, places.length - 1)] ?? -1;
        const file = fileOf(changed(at, over));
        const where = `${kind} ${JSON.stringify(over)}`;
        // What stands further down may be what no longer fits.
        const outcome = await bring(file, target().filling);
        const line = outcome.kind === 'refused' ? outcome.line : 0;
        assert.ok(line === at + 2 || kind === 'conversation', `${where}: line ${line}`);
        await refuses(file, { line, problem }, where);
      }
      await nothingStored();
    });
  }
});

test('what was permitted or ordered elsewhere does not count here', async (t) => {
  const place = sqlitePlace(t);
  const task = RECORDS.findLastIndex(({ kind }) => kind === 'task');
  const message = RECORDS.findLastIndex(({ kind }) => kind === 'message');
  const granted = {
    ...WAITS_NOT(),
    recoveryState: 'granted',
    recoveryOutcome: 'continue',
    recoveryGrantedAt: 5_000,
    recoveryNextAt: INSTANT_MAX,
  };
  const file = changed(task, granted).with(message, {
    ...RECORDS[message],
    record: { ...RECORDS[message]?.record, kind: 'command', text: '/stop all' },
  } as Archived);
  const outcome = await bring(fileOf(file), place.filling);
  assert.ok(outcome.kind === 'imported', JSON.stringify(outcome));
  assert.equal(outcome.unanswered, 1);
  const there = recordsIn(await take(place));
  const arrived = there[task]?.record as Extract<Archived, { kind: 'task' }>['record'];
  assert.equal(arrived.recoveryState, 'needed');
  assert.equal(arrived.recoveryGrantedAt, null);
  assert.equal(arrived.recoveryNextAt, 1_900_000_000_000 + 86_400_000);
  const command = there[message]?.record as Extract<Archived, { kind: 'message' }>['record'];
  assert.deepEqual([command.state, command.answerId], ['done', null]);
});
