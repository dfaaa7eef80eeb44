import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openTask } from '../task/decide.ts';
import type { TaskRecord } from '../task/record.ts';
import { isAbout, judgeJoin, lowest, mayJoin, maySteer, wakes } from './join.ts';
import { HOST_CHANNELS, isReturn } from './record.ts';

const ANNA = { principal: 'key:anna', authority: 'own', text: 'and the old ones too' } as const;
const ADMIN = { ...ANNA, principal: 'key:ops', authority: 'admin' } as const;

function task(change: Partial<TaskRecord> = {}): TaskRecord {
  const opened = openTask(
    { id: 'task_7K2M9QX4R1T8WZ3C', conversationId: 'conv_1', sessionId: 'sess_1', agent: 'main' },
    {
      mandateText: 'count the files',
      mandatePrincipal: 'key:anna',
      mandateAuthority: 'own',
      mandateOrigin: 'api',
      mandateAt: 0,
      mandateHash: 'h',
    },
    { deadlineMs: null, turns: 1, tokens: 1, costMicroUsd: 1, continuations: 1 },
    0,
  );
  return { ...opened, ...change };
}

const OTHER = task({ id: 'task_0000000000000002' });
const asking = (change: Partial<TaskRecord> = {}): TaskRecord =>
  task({ state: 'waiting', reason: 'awaits_answer', waitKind: 'answer', ...change });
const interrupted = task({ state: 'waiting', reason: 'interrupted', waitKind: 'assessment' });
const blocked = task({ state: 'blocked', reason: 'no_outcome' });
const exhausted = task({ state: 'blocked', reason: 'budget_exhausted' });

describe('which task a message joins without a model', () => {
  const join = (open: readonly TaskRecord[], repliedTo: string | null = null, message = ANNA) =>
    judgeJoin({ message, open, repliedTo });

  test('T-2 nothing open, or nothing of this principal: a new task', () => {
    assert.deepEqual(join([]), { kind: 'new' });
    const { text } = ANNA;
    const ben = { principal: 'key:ben', authority: 'own', text } as const;
    assert.deepEqual(judgeJoin({ message: ben, open: [task()], repliedTo: null }), { kind: 'new' });
  });

  test('T-2 a reply, or an id in the text, names the task', () => {
    const { id: taskId } = OTHER;
    assert.deepEqual(join([task(), OTHER], taskId), { kind: 'join', taskId });
    const text = `about ${taskId}: stop counting`;
    const named = judgeJoin({ message: { ...ANNA, text }, open: [task(), OTHER], repliedTo: null });
    assert.deepEqual(named, { kind: 'join', taskId });
    const both = `${taskId} and ${task().id}`;
    const many = { message: { ...ANNA, text: both }, open: [task(), OTHER], repliedTo: null };
    assert.equal(judgeJoin(many).kind, 'ask');
  });

  test('T-2 the one task that asked a question gets its answer; of two the classifier tells', () => {
    assert.deepEqual(join([OTHER, asking()]), { kind: 'join', taskId: asking().id });
    const two = [asking({ id: OTHER.id }), asking()];
    assert.deepEqual(join(two), { kind: 'ask', candidates: two });
    const elsewhere = asking({ state: 'active' });
    assert.equal(join([elsewhere]).kind, 'ask', 'it asks no more');
  });

  test('T-2 blocked, paused, held and interrupted tasks are joined by reply or id alone', () => {
    const held = task({ enrollment: 'held-legacy' });
    const paused = task({ state: 'paused', reason: 'paused' });
    for (const open of [interrupted, blocked, exhausted, held, paused])
      assert.deepEqual(join([open]), { kind: 'new' });
    const taskId = task().id;
    assert.deepEqual(join([blocked], taskId), { kind: 'join', taskId });
    assert.deepEqual(join([paused], taskId), { kind: 'join', taskId });
    assert.deepEqual(join([held], taskId), { kind: 'new' });
  });

  test('R-1 W-7 what words do not wake keeps them: an interrupted task, a used-up budget', () => {
    const taskId = task().id;
    assert.deepEqual(join([interrupted], taskId), { kind: 'keep', taskId });
    assert.deepEqual(join([exhausted], taskId), { kind: 'keep', taskId });
    const parked = task({ state: 'waiting', reason: 'awaits_quota', waitKind: 'quota' });
    assert.deepEqual(join([parked], taskId), { kind: 'keep', taskId });
    assert.equal(wakes(task({ state: 'waiting', waitKind: 'provider' })), false);
    assert.equal(wakes(task({ state: 'waiting', waitKind: 'approval' })), true);
    assert.equal(wakes(task({ state: 'waiting', waitKind: null })), true);
    assert.equal(wakes(task({ state: 'completed' })), false);
    assert.equal(wakes(task({ state: 'blocked', reason: null })), false);
  });
});

describe('whose words join or steer what', () => {
  test('T-11 its own principal, or an admin; nobody joins what has ended', () => {
    assert.equal(mayJoin(task(), ANNA), true);
    assert.equal(mayJoin(task(), ADMIN), true);
    assert.equal(mayJoin(task({ mandatePrincipal: 'key:ops' }), ANNA), false);
    assert.equal(mayJoin(task({ state: 'completed' }), ADMIN), false);
  });

  test('T-11 words about another task wait for their own turn', () => {
    assert.equal(maySteer(task(), { ...ANNA, replyTo: null }, 'sess_1'), true);
    assert.equal(maySteer(task(), { ...ANNA, replyTo: task().id }, 'sess_1'), true);
    assert.equal(maySteer(task(), { ...ANNA, replyTo: OTHER.id }, 'sess_1'), false);
    assert.equal(
      maySteer(task(), { ...ANNA, text: `see ${OTHER.id}`, replyTo: null }, 'sess_1'),
      false,
    );
    assert.equal(
      maySteer(OTHER, { ...ANNA, text: `see ${OTHER.id}`, replyTo: null }, 'sess_1'),
      true,
    );
  });

  test('T-11 words of somebody else steer nothing', () => {
    const ben = { ...ANNA, principal: 'key:ben', replyTo: task().id } as const;
    assert.equal(maySteer(task(), ben, 'sess_1'), false);
    assert.equal(isAbout(task(), ben), false);
  });

  test('T-2 words are about a task by their reply or its id alone', () => {
    const about = (text: string, replyTo: string | null): boolean =>
      isAbout(task(), { ...ANNA, text, replyTo });
    assert.equal(about('and the old ones too', null), false);
    assert.equal(about('and the old ones too', task().id), true);
    assert.equal(about('and the old ones too', OTHER.id), false);
    assert.equal(about(`see ${task().id}`, null), true);
    assert.equal(about(`see ${OTHER.id} and ${task().id}`, OTHER.id), true);
    assert.equal(about(`see ${OTHER.id}`, null), false);
    assert.equal(about(`see ${task().id}X`, null), false, 'a longer word is no id');
  });

  test('W-2 after /new only words about it steer a turn of the session before', () => {
    assert.equal(maySteer(task(), { ...ANNA, replyTo: null }, 'sess_2'), false);
    assert.equal(maySteer(task(), { ...ANNA, replyTo: task().id }, 'sess_2'), true);
    assert.equal(
      maySteer(task(), { ...ANNA, text: `see ${task().id}`, replyTo: null }, 'sess_2'),
      true,
    );
  });

  test('T-11 a turn acts with the lowest authority among its inputs', () => {
    assert.equal(lowest('admin', 'admin'), 'admin');
    assert.equal(lowest('admin', 'own'), 'own');
  });
});

test('T-12 M-8 only what the host made to go on with a parked turn says nothing', () => {
  const returns = Object.values(HOST_CHANNELS).filter((channel) =>
    isReturn({ channel, kind: 'generated' }),
  );
  const { return: back, scout, maintenance } = HOST_CHANNELS;
  assert.deepEqual(returns.toSorted(), [back, scout, maintenance].toSorted());
  for (const channel of returns) assert.equal(isReturn({ channel, kind: 'genuine' }), false);
});
