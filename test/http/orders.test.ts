import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { TaskReply } from '../../src/wire/task.ts';
import { says, taskIn } from '../support/host.ts';
import { codeOf, openDoor, type KeyName, type TestDoor } from './door.ts';

interface Blocked {
  readonly door: TestDoor;
  /** A task of the key `runner` that is blocked with `no_outcome`. */
  readonly task: TaskReply;
  readonly conversationId: ConversationId;
}

async function openBlocked(context: TestContext): Promise<Blocked> {
  const door = await openDoor(context);
  door.installation.model.answer = () => says('');
  const { taskId, conversationId } = await door.client('runner').createRun({ input: 'count' });
  await taskIn(door.engine, conversationId as ConversationId, 'blocked');
  door.installation.model.answer = () => says('counted');
  const task = await door.client().task(taskId);
  return { door, task, conversationId: conversationId as ConversationId };
}

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ApiProblem && error.code === code;
}

describe('W-7: a task that stands still', () => {
  test('goes on by resume, with one new turn, for whoever asked', async (context) => {
    const { door, task, conversationId } = await openBlocked(context);
    const resumed = await door.client('runner').resumeTask(task.id);
    assert.deepEqual([resumed.state, resumed.reason], ['active', null]);
    await taskIn(door.engine, conversationId, 'completed');
    const done = await door.client('runner').task(task.id);
    assert.deepEqual(done.budgets.turns, { limit: 50, used: task.budgets.turns.used + 1 });
    await assert.rejects(door.client().resumeTask(task.id), refusedWith('task_ended'));
  });

  test('is not resumed late, nor accepted, nor reset: nothing asks for it', async (context) => {
    const { door, task } = await openBlocked(context);
    const before = await door.counts();
    const late = door.client().resumeTask(task.id, { late: true });
    await assert.rejects(late, refusedWith('not_allowed_now'));
    for (const [order, code, way] of [
      ['accept', 'not_allowed_now', 'why'],
      ['budget-reset', 'not_budget_blocked', 'task-resume'],
    ] as const) {
      const path = `/v1/tasks/${task.id}/${order}`;
      const answer = await door.ask('POST', path, { key: 'ops' });
      assert.deepEqual([answer.status, codeOf(answer)], [409, code], order);
      assert.match(String(answer.json['detail']), new RegExp(`/${way} ${task.id}`));
      const stale = await door.ask('POST', path, { key: 'ops', body: { expectedVersion: 99 } });
      assert.equal(codeOf(stale), 'version_conflict', order);
      const nobodys = `/v1/tasks/task_0000000000000000/${order}`;
      assert.equal((await door.ask('POST', nobodys, { key: 'ops' })).status, 404, order);
    }
    assert.deepEqual(await door.counts(), before);
  });

  test('is changed only as the version that was read', async (context) => {
    const { door, task } = await openBlocked(context);
    const expectedVersion = task.version - 1;
    const client = door.client();
    for (const order of [
      () => client.resumeTask(task.id, { expectedVersion }),
      () => client.stopTask(task.id, { expectedVersion }),
      () => client.pauseTask(task.id, { expectedVersion }),
      () => client.extendTask(task.id, { expectedVersion, turns: 1 }),
    ]) {
      await assert.rejects(order(), refusedWith('version_conflict'));
    }
    assert.equal((await client.task(task.id)).version, task.version);
    await client.extendTask(task.id, { expectedVersion: task.version, turns: 1 });
  });
});

test('a paused task says so, and how it goes on', async (context) => {
  const door = await openDoor(context);
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  door.installation.model.answer = async () => {
    begun.resolve();
    await held.promise;
    return says('never said');
  };
  const { id: runId, taskId } = await door.client('runner').createRun({ input: 'sweep' });
  await begun.promise;
  const paused = await door.client('runner').pauseTask(taskId);
  held.resolve();
  assert.deepEqual([paused.state, paused.reason], ['paused', 'paused']);
  assert.equal((await door.client().run(runId)).status, 'waiting');
  const { items } = await door.client().attention();
  assert.deepEqual(
    items.map(({ code, subjectId, command }) => [code, subjectId, command]),
    [['paused', taskId, `/task-resume ${taskId}`]],
  );
});

describe('an extension', () => {
  test('adds to the budgets and the deadline', async (context) => {
    const { door, task } = await openBlocked(context);
    const { budgets } = task;
    const grant = { turns: 5, tokens: 1_000, costUsd: 0.25, continuations: 2 };
    const now = door.installation.clock.now();
    const extended = await door.client().extendTask(task.id, { ...grant, deadline: '+2d' });
    assert.equal(extended.budgets.turns.limit, budgets.turns.limit + 5);
    assert.equal(extended.budgets.tokens.limit, budgets.tokens.limit + 1_000);
    assert.equal(extended.budgets.costUsd.limit, budgets.costUsd.limit + 0.25);
    assert.equal(extended.budgets.continuations.limit, budgets.continuations.limit + 2);
    assert.equal(extended.deadline, new Date(now + 2 * 86_400_000).toISOString());
    const deadline = '2030-01-02T03:04:05+01:00';
    const moved = await door.client().extendTask(task.id, { deadline });
    assert.equal(moved.budgets.deadline, '2030-01-02T02:04:05.000Z');
    assert.equal(moved.version, task.version + 2);
  });

  test('A-5: takes amounts alone, each within its bounds', async (context) => {
    const { door, task } = await openBlocked(context);
    const before = await door.counts();
    const wrong: readonly [body: object | string, path: string][] = [
      [{}, ''],
      [{ expectedVersion: 1 }, ''],
      [{ turns: 0 }, 'turns'],
      [{ turns: -5 }, 'turns'],
      [{ turns: 1.5 }, 'turns'],
      [{ turns: '5' }, 'turns'],
      [{ turns: null }, 'turns'],
      [{ tokens: 1e12 }, 'tokens'],
      [{ costUsd: -1 }, 'costUsd'],
      [{ costUsd: 0 }, 'costUsd'],
      ['{"costUsd": 1e999}', 'costUsd'],
      [{ continuations: -1 }, 'continuations'],
      [{ deadline: 'tomorrow' }, 'deadline'],
      [{ deadline: '2030-01-02T03:04:05' }, 'deadline'],
      [{ deadline: '2030-02-30T00:00:00Z' }, 'deadline'],
      [{ deadline: '+0d' }, 'deadline'],
      [{ deadline: '-2d' }, 'deadline'],
      [{ deadline: '+99999999d' }, 'deadline'],
      [{ deadline: 5 }, 'deadline'],
      [{ turns: 1, money: 5 }, 'money'],
      [{ turns: 1, expectedVersion: 0 }, 'expectedVersion'],
      [{ turns: 1, receiptId: '' }, 'receiptId'],
    ];
    for (const [body, path] of wrong) {
      const raw = typeof body === 'string' ? { raw: body } : { body };
      const answer = await door.ask('POST', `/v1/tasks/${task.id}/extend`, { key: 'ops', ...raw });
      const errors = answer.json['errors'] as { path: string; message: string }[];
      assert.deepEqual([answer.status, codeOf(answer)], [422, 'invalid'], JSON.stringify(body));
      assert.deepEqual(
        errors.map((error) => error.path),
        [path],
        JSON.stringify(body),
      );
      assert.notEqual(errors[0]?.message, '');
    }
    assert.deepEqual(await door.counts(), before);
  });
});

test('X-1: each order is for the keys that its scope names', async (context) => {
  const { door, task } = await openBlocked(context);
  const before = await door.counts();
  const own = ['stop', 'resume', 'pause', 'accept'];
  const admins = ['extend', 'budget-reset'];
  const statuses: readonly [KeyName, readonly string[], number, string][] = [
    ['reader', [...own, ...admins], 403, 'forbidden'],
    ['other', own, 404, 'not_found'],
    ['other', admins, 403, 'forbidden'],
    ['runner', admins, 403, 'forbidden'],
  ];
  for (const [key, orders, status, code] of statuses) {
    for (const order of orders) {
      const body = order === 'extend' ? { turns: 1 } : {};
      const answer = await door.ask('POST', `/v1/tasks/${task.id}/${order}`, { key, body });
      assert.deepEqual([answer.status, codeOf(answer)], [status, code], `${order} for ${key}`);
    }
  }
  assert.deepEqual(await door.counts(), before);
});

describe('an order that is given again', () => {
  test('with its receipt is refused with the first outcome, whatever became of it', async (context) => {
    const { door, task, conversationId } = await openBlocked(context);
    const client = door.client();
    const order = { receiptId: 'rcpt_extend', expectedVersion: task.version };
    const first = await client.extendTask(task.id, { ...order, turns: 5 });
    await client.resumeTask(task.id);
    await taskIn(door.engine, conversationId, 'completed');
    const again = await client
      .extendTask(task.id, { ...order, turns: 5 })
      .catch((no: unknown) => no);
    assert.ok(again instanceof ApiProblem);
    assert.deepEqual([again.status, again.code], [409, 'receipt_used']);
    const { state, version, budgets } = again.outcome as unknown as TaskReply;
    assert.deepEqual(
      { state, version, turns: budgets.turns.limit },
      { state: first.state, version: first.version, turns: first.budgets.turns.limit },
    );
    assert.equal((await client.task(task.id)).budgets.turns.limit, first.budgets.turns.limit);
  });

  test('with a receipt of another order is refused without an outcome', async (context) => {
    const { door, task } = await openBlocked(context);
    const receiptId = 'rcpt_1';
    await door.client().extendTask(task.id, { receiptId, turns: 5 });
    const other = await door
      .client()
      .resumeTask(task.id, { receiptId })
      .catch((no: unknown) => no);
    assert.ok(other instanceof ApiProblem);
    assert.deepEqual([other.code, other.outcome], ['receipt_used', undefined]);
    // A receipt is one of its key.
    const theirs = await door.client('runner').resumeTask(task.id, { receiptId });
    assert.equal(theirs.state, 'active');
  });

  test('with its Idempotency-Key is answered as at first, and with another body is a conflict', async (context) => {
    const { door, task } = await openBlocked(context);
    const once = { idempotencyKey: 'extend-1' };
    const first = await door.client().extendTask(task.id, { turns: 5 }, once);
    const again = await door.client().extendTask(task.id, { turns: 5 }, once);
    assert.deepEqual(again, first);
    const more = door.client().extendTask(task.id, { turns: 6 }, once);
    await assert.rejects(more, refusedWith('idempotency_conflict'));
    await assert.rejects(
      door.client().pauseTask(task.id, {}, once),
      refusedWith('idempotency_conflict'),
    );
    const { turns } = (await door.client().task(task.id)).budgets;
    assert.equal(turns.limit, task.budgets.turns.limit + 5);
  });

  test('as a stop is told from the first one by its receipt alone', async (context) => {
    const { door, task } = await openBlocked(context);
    const first = await door.client().stopTask(task.id, {}, { idempotencyKey: 'stop-1' });
    const again = await door.client().stopTask(task.id, {}, { idempotencyKey: 'stop-1' });
    assert.deepEqual([again.state, again.version], [first.state, first.version]);
    await assert.rejects(door.client().stopTask(task.id), refusedWith('task_ended'));
  });
});
