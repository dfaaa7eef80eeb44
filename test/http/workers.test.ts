import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { resume } from '../../src/cli/commands/orders.ts';
import { workers } from '../../src/cli/commands/workers.ts';
import type { ConversationId, ExecutionId, TaskId } from '../../src/kernel/ids.ts';
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import { everyRow } from '../support/acts.ts';
import { taskRow } from '../../src/testing/store-rows.ts';
import { codeOf, openDoor, type KeyName, type TestDoor } from './door.ts';
import { HELD, openPlace, putTask, putWorker } from './history.ts';
import { inShell } from './shell.ts';

interface Ground {
  readonly door: TestDoor;
  readonly here: ConversationId;
  /** Current and open, with the mandate hash of `OF`. */
  readonly task: TaskId;
  readonly put: (over?: Partial<ExecutionRecord>) => Promise<ExecutionId>;
}

const OF = { mandateHash: taskRow().mandateHash };

async function openGround(context: TestContext): Promise<Ground> {
  const door = await openDoor(context);
  const here = await openPlace(door);
  const task = await putTask(door, here, { reason: 'no_outcome' });
  const { engine, installation } = door;
  const put: Ground['put'] = (over = {}) =>
    putWorker(engine, installation, { ...OF, taskId: task, conversationId: here, ...over });
  return { door, here, task, put };
}

describe('the workers', () => {
  test('are listed newest first, by state and by enrollment, and page by page', async (context) => {
    const { door, put } = await openGround(context);
    const ids = [
      await put({ state: 'ready' }),
      await put({ state: 'running', enrollment: 'current' }),
      await put({ state: 'completed', enrollment: 'current', outcome: 'read', endedAt: 5 }),
      await put({ taskId: null, mandateHash: null, conversationId: null }),
    ] as const;
    const listed = async (query?: Parameters<ReturnType<TestDoor['client']>['workers']>[0]) =>
      (await door.client('reader').workers(query)).items.map(({ id }) => id);
    assert.deepEqual(await listed(), [...ids].toReversed());
    assert.deepEqual(await listed({ state: 'running' }), [ids[1]]);
    assert.deepEqual(await listed({ enrollment: 'held-legacy' }), [ids[3], ids[0]]);
    assert.deepEqual(await listed({ enrollment: 'unmarked' }), []);
    const first = await door.client('reader').workers({ limit: 3 });
    assert.equal(first.nextCursor, ids[1]);
    assert.deepEqual(await listed({ limit: 3, cursor: first.nextCursor ?? '' }), [ids[0]]);
    const one = await door.client('reader').worker(ids[2]);
    assert.deepEqual([one.state, one.outcome, one.enrollment], ['completed', 'read', 'current']);
    for (const path of ['?state=lost', '?enrollment=all', '?limit=0', '?cursor=task_1', '?x=1']) {
      const answer = await door.ask('GET', `/v1/workers${path}`, { key: 'reader' });
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'bad_request'], path);
    }
    assert.equal((await door.ask('GET', '/v1/workers', { key: 'runner' })).status, 403);
    const { evidence } = await door.client('reader').task(one.taskId ?? '');
    const told = evidence.filter(({ kind }) => kind === 'worker').map(({ text }) => text);
    assert.deepEqual(told, [
      `${ids[0]} ready: Read the log.`,
      `${ids[1]} running: Read the log.`,
      `${ids[2]} completed: read`,
    ]);
  });

  test('are a table in the shell, with how one that is held is woken', async (context) => {
    const { door, task, put } = await openGround(context);
    const none = await inShell(context, door, 'ops', (options) => workers(options));
    assert.deepEqual(none, { code: 0, text: 'No workers.' });
    const id = await put({ state: 'ready' });
    await put({ enrollment: 'current', state: 'running' });
    const all = await inShell(context, door, 'ops', (options) => workers(options));
    const [heads = '', newest = '', held = ''] = all.text.split('\n');
    assert.match(heads, /^ID +STATE +TASK +SINCE +JOB$/);
    assert.match(newest, /^exec_\w+ +running +task_/);
    assert.match(held, new RegExp(`^${id} +ready, held +${task} .* Read the log\\.$`));
    assert.match(all.text, /\n\nTo wake exactly one that is held: sekisho resume ID$/);
    const woken = await inShell(context, door, 'ops', (options) => resume(id, options));
    assert.equal(woken.text, `${id} is no longer held (ready, of ${task}).`);
    const rest = await inShell(context, door, 'ops', (how) => workers({ ...how, held: true }));
    assert.equal(rest.text, 'No worker is held.');
  });
});

describe('B-9 a resume of one worker', () => {
  test('enrols exactly that one, once', async (context) => {
    const { door, put } = await openGround(context);
    const [id, other] = [await put({ state: 'ready' }), await put({ state: 'ready' })];
    const before = await door.client().worker(other);
    const woken = await door.client().resumeWorker(id, { receiptId: 'rcpt_w' });
    assert.deepEqual([woken.enrollment, woken.state, woken.version], ['current', 'ready', 2]);
    assert.deepEqual(await door.client().worker(other), before);
    const rows = await everyRow(door.installation);
    const again = await door.ask('POST', `/v1/workers/${id}/resume`, {
      key: 'ops',
      body: { receiptId: 'rcpt_w' },
    });
    const outcome = again.json['outcome'] as { readonly version: number };
    assert.deepEqual([codeOf(again), outcome.version], ['receipt_used', 2]);
    assert.deepEqual(await everyRow(door.installation), rows);
  });

  test('is refused with its code, and nothing is stored', async (context) => {
    const { door, here, put } = await openGround(context);
    const now = door.installation.clock.now();
    const asleep = await putTask(door, here, HELD);
    const over = await putTask(door, here, { state: 'stopped', endedAt: now });
    const past = await putTask(door, here, { reason: 'no_outcome', deadline: now - 1 });
    const spent = await putTask(door, here, { reason: 'no_outcome', turnsUsed: 50 });
    const nobodys = { taskId: null, mandateHash: null, conversationId: null };
    const held = await put();
    const cases: readonly [string, KeyName, object, number, string, RegExp][] = [
      ['exec_7K2M9QX4R1T8WZ3C', 'ops', {}, 404, 'not_found', /Nothing/],
      [held.slice(0, -4), 'ops', {}, 404, 'not_found', /Nothing/],
      [over, 'ops', {}, 404, 'not_found', /Nothing/],
      [held, 'runner', {}, 403, 'forbidden', /scope admin/],
      [held, 'reader', {}, 403, 'forbidden', /scope admin/],
      [held, 'ops', { expectedVersion: 9 }, 409, 'version_conflict', /Read it again/],
      [await put({ enrollment: 'current' }), 'ops', {}, 409, 'not_allowed_now', /nothing was done/],
      [await put(nobodys), 'ops', {}, 409, 'not_allowed_now', /nothing was done/],
      [await put({ mandateHash: 'b' }), 'ops', {}, 409, 'not_allowed_now', /nothing was done/],
      [await put({ taskId: asleep }), 'ops', {}, 409, 'not_allowed_now', /\/task-resume task_/],
      [await put({ taskId: over }), 'ops', {}, 409, 'task_ended', /stopped/],
      [await put({ state: 'failed', endedAt: 5 }), 'ops', {}, 409, 'task_ended', /failed/],
      [await put({ taskId: past }), 'ops', {}, 409, 'deadline_passed', /deadline/],
      [await put({ deadline: now - 1 }), 'ops', {}, 409, 'deadline_passed', /deadline/],
      [await put({ taskId: spent }), 'ops', {}, 409, 'budget_exhausted', /turns/],
    ];
    const before = await everyRow(door.installation);
    for (const [id, key, body, status, code, says] of cases) {
      const answer = await door.ask('POST', `/v1/workers/${id}/resume`, { key, body });
      const where = `${id} ${answer.text}`;
      assert.deepEqual([answer.status, codeOf(answer)], [status, code], where);
      assert.match(String(answer.json['detail']), says, where);
      assert.doesNotMatch(String(answer.json['detail']), /\/why exec_/, where);
      assert.deepEqual(await everyRow(door.installation), before, where);
    }
    // Neither is built yet: no path of them answers.
    for (const order of ['pause', 'cancel'])
      assert.equal(
        (await door.ask('POST', `/v1/workers/${held}/${order}`, { key: 'ops' })).status,
        404,
      );
  });
});
