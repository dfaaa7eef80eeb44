// What an admin wakes, reopens or has carried out late: exactly that, once, and told as its reader reads it.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import { budgetReset, resume } from '../../src/cli/commands/orders.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY } from '../../src/kernel/time.ts';
import type { TaskReply } from '../../src/wire/task.ts';
import { eventually, everyRow } from '../support/acts.ts';
import { asks, judges, OPTIONS, says, taskIn, until } from '../support/host.ts';
import { codeOf, openDoor, openDoorOf, type TestDoor } from './door.ts';
import { HELD, INCONCLUSIVE, lateAt, openPlace, putTask, USED_UP } from './history.ts';
import { hangTools } from './reason-stops.ts';
import { inShell } from './shell.ts';

/** A door whose assessments do not come back, so that what waits for one stays there. */
async function openStill(context: TestContext): Promise<TestDoor> {
  const door = await openDoor(context);
  door.installation.assessor.answer = (_request, signal) =>
    new Promise((end) => signal.addEventListener('abort', () => end(says(''))));
  return door;
}

async function answerTo(door: TestDoor, place: ConversationId, messageId: string): Promise<string> {
  return until(door.engine, place, async () => {
    const { state, answer } = await door.client().message(messageId);
    return state === 'done' ? (answer ?? '') : undefined;
  });
}

async function type(door: TestDoor, place: ConversationId, text: string): Promise<string> {
  const { messageId } = await door.client().postMessage(place, { text });
  return answerTo(door, place, messageId);
}

describe('B-8 a held task', () => {
  test('tells how it stood, and is found by its enrollment', async (context) => {
    const door = await openStill(context);
    const here = await openPlace(door);
    const id = await putTask(door, here, HELD);
    await putTask(door, here, { reason: 'no_outcome' });
    const task = await door.client().task(id);
    assert.deepEqual([task.state, task.reason, task.waitsFor], ['blocked', 'held_legacy', null]);
    assert.deepEqual(task.held, {
      state: 'waiting',
      reason: 'awaits_answer',
      waitsFor: {
        kind: 'answer',
        until: new Date(1_700_000_000_000).toISOString(),
        question: 'Which March?',
      },
    });
    const { items } = await door.client().tasks({ enrollment: 'held-legacy' });
    assert.deepEqual(
      items.map((one) => one.id),
      [id],
    );
    assert.deepEqual((await door.client().tasks({ enrollment: 'unmarked' })).items, []);
    const attention = (await door.client().attention()).items.map(({ subjectId }) => subjectId);
    assert.ok(!attention.includes(id), 'one line speaks for all that is held');
  });

  test('is woken alone, is checked first, and goes on', async (context) => {
    const door = await openDoor(context);
    const here = await openPlace(door);
    const deadline = door.installation.clock.now() + DAY;
    const [one, other] = [
      await putTask(door, here, { ...HELD, deadline }),
      await putTask(door, here, HELD),
    ];
    const before = await door.client().task(other);
    door.installation.assessor.answer = () => judges('continue');
    door.installation.model.answer = () => says('summed up');
    const woken = await door.client().resumeTask(one);
    assert.deepEqual(
      [woken.enrollment, woken.state, woken.reason, woken.held, woken.waitsFor?.kind],
      ['current', 'waiting', 'interrupted', null, 'assessment'],
    );
    assert.equal(woken.recovery.state, 'needed');
    const done = await taskIn(door.engine, here, 'completed');
    assert.deepEqual([done.id, done.deadline], [one, deadline]);
    assert.equal(door.installation.assessor.requests.length, 1);
    assert.deepEqual(await door.client().task(other), before);
  });

  test('is woken from its own conversation or the terminal, and from no other', async (context) => {
    const door = await openStill(context);
    const [here, there] = [await openPlace(door), await openPlace(door)];
    const { id: terminal } = await door.client().openConversation({ channel: 'terminal' });
    const ids = [await putTask(door, here, HELD), await putTask(door, here, HELD)] as const;
    const before = await door.client().task(ids[0]);
    const refused = await type(door, there, `/task-resume ${ids[0]}`);
    assert.match(refused, /in its own conversation or at the terminal, so nothing was done/);
    assert.deepEqual(await door.client().task(ids[0]), before);
    const said = /“Sum up the invoices” belongs to ongoing work again\. It is checked first/;
    assert.match(await type(door, here, `/task-resume ${ids[0]}`), said);
    assert.match(await type(door, terminal as ConversationId, `/task-resume ${ids[1]}`), said);
    for (const id of ids) assert.equal((await door.client().task(id)).enrollment, 'current');
  });

  test('without an attempt left says what opens new ones', async (context) => {
    const door = await openStill(context);
    const here = await openPlace(door);
    const spent = { ...HELD, recoveryAttempts: 3, recoveryLifetimeAttempts: 3 };
    const id = await putTask(door, here, { ...spent, recoveryOutcome: 'failed' });
    const ended = await inShell(context, door, 'ops', (options) => resume(id, options));
    assert.equal(ended.code, 0, ended.text);
    assert.match(
      ended.text,
      new RegExp(`all checks .* are used\\. .* sekisho budget-reset ${id}$`),
    );
    assert.equal((await door.client().task(id)).reason, 'recovery_assessment_failed');
  });
});

test('an approval of a held task is neither told as waiting nor answered before it is woken', async (context) => {
  const door = await openStill(context);
  const { model, tools, store } = door.installation;
  tools.asked.add('pay');
  model.answer = () => asks(['pay', {}]);
  const { taskId, conversationId } = await door.client('runner').createRun({ input: 'pay' });
  const task = await taskIn(door.engine, conversationId as ConversationId, 'waiting');
  const [approval] = (await door.client().approvals()).items;
  const id = approval?.id ?? '';
  assert.equal((await door.client().status()).approvals, 1);
  assert.equal(approval?.mayAnswer, true);
  const row = { ...task, ...HELD, state: 'blocked', waitKind: null, waitId: null } as const;
  await store.commit({
    name: 'test.hold',
    reads: {},
    decide: () => ({
      verdict: undefined,
      writes: [{ write: 'task.save', row: { ...row, version: task.version + 1 } }],
    }),
  });
  const { items } = await door.client().attention();
  assert.deepEqual(
    items.map(({ code, command }) => [code, command]),
    [['held_legacy', '/tasks held']],
  );
  assert.equal((await door.client().status()).approvals, 0);
  assert.equal((await door.client().approval(id)).mayAnswer, false);
  assert.equal((await door.client().approvals()).items[0]?.mayAnswer, false);
  const { commands } = await door.client().why(taskId);
  assert.deepEqual(
    commands.map(({ command }) => command),
    [`/task-resume ${taskId}`, `/stop ${taskId}`],
  );
  const before = await everyRow(door.installation);
  await assert.rejects(door.client().answerApproval(id, { decision: 'approve' }), (no) => {
    assert.ok(no instanceof ApiProblem);
    assert.match(no.detail, new RegExp(`/task-resume ${taskId}`));
    return no.code === 'not_allowed_now';
  });
  assert.deepEqual(await everyRow(door.installation), before);
});

describe('/tasks held', () => {
  const COUNT = LIMITS.namedMax + 2;

  async function openHeld(context: TestContext) {
    const door = await openStill(context);
    const [here, there] = [await openPlace(door), await openPlace(door)];
    const ids: TaskId[] = [];
    for (let made = 0; made < COUNT; made += 1) {
      const mandateText = `Job ${made + 1}`;
      ids.push(await putTask(door, here, { ...HELD, mandateText }));
    }
    await putTask(door, here, { reason: 'no_outcome' });
    await putTask(door, here, { ...HELD, state: 'stopped', endedAt: 1 });
    return { door, here, there, ids };
  }

  test('lists them by page, with how one is woken, for an admin wherever it is asked', async (context) => {
    const { door, there, ids } = await openHeld(context);
    const first = (await type(door, there, '/tasks held')).split('\n');
    assert.equal(first.length, LIMITS.namedMax + 2);
    const newest = `■ “Job ${COUNT}”: held; before that it was waiting for your answer. ${ids.at(-1)}`;
    assert.equal(first[0], newest);
    assert.equal(first.at(-2), 'and 2 more: `/tasks held 2`');
    assert.match(first.at(-1) ?? '', /`\/task-resume ID`/);
    const second = (await type(door, there, '/tasks held 2')).split('\n');
    assert.deepEqual(
      second.slice(0, -1).map((line) => line.slice(-ids[0]!.length)),
      [ids[1], ids[0]],
    );
    assert.match(
      await type(door, there, '/tasks held 9'),
      /^Held are 14, so there is no such page/,
    );
  });

  test('lists for anyone else what is held here', async (context) => {
    const { door, here, there } = await openHeld(context);
    const { messageId } = await door.client('runner').postMessage(here, { text: '/tasks held' });
    assert.match(await answerTo(door, here, messageId), /\nand 2 more/);
    const other = await door.client('runner').postMessage(there, { text: '/tasks held' });
    assert.match(await answerTo(door, there, other.messageId), /No task of this .* is held/);
  });
});

test('A-2: the run of an interrupted task waits, for its next check', async (context) => {
  const first = await openDoor(context);
  const { installation: place } = first;
  place.assessor.answer = (_request, signal) =>
    new Promise((end) => signal.addEventListener('abort', () => end(says(''))));
  hangTools(place);
  const { id, taskId } = await first.client('runner').createRun({ input: 'sum it up' });
  await eventually(() => place.tools.ran.length === 1);
  await first.engine.stop(0);
  const door = await openDoorOf(context, place);
  await eventually(() => place.assessor.requests.length === 1);
  const { status, waitsFor } = await door.client('runner').run(id);
  const due = new Date(place.clock.now() + OPTIONS.recovery.spacingMs).toISOString();
  assert.deepEqual([status, waitsFor], ['waiting', { kind: 'assessment', until: due }]);
  const { recovery, reason } = await door.client('runner').task(taskId);
  assert.deepEqual(
    [reason, recovery.attempts, recovery.state, recovery.outcome, recovery.nextAttemptAt],
    ['interrupted', 1, 'needed', 'reserved', due],
  );
});

describe('what was interrupted and is blocked', () => {
  test('R-8 is reopened by a reset: a new epoch, and nothing else', async (context) => {
    const door = await openStill(context);
    const here = await openPlace(door);
    const { clock } = door.installation;
    const [deadline, recoveryNextAt] = [clock.now() + DAY + 7, clock.now() + 30_000];
    const id = await putTask(door, here, { ...USED_UP, deadline, recoveryNextAt });
    const before = await door.client().task(id);
    assert.deepEqual(before.recovery, {
      epoch: 1,
      attempts: 3,
      lifetimeAttempts: 3,
      // Nothing is due while nobody has reopened it.
      nextAttemptAt: null,
      state: 'needed',
      outcome: 'failed',
    });
    const [item] = (await door.client().attention()).items;
    assert.deepEqual([item?.level, item?.command], ['blocked', `/budget-reset ${id}`]);
    const reset = await door.client().resetBudget(id);
    const dueAt = new Date(recoveryNextAt).toISOString();
    assert.deepEqual(reset.waitsFor, { kind: 'assessment', until: dueAt });
    assert.deepEqual(reset.recovery, {
      ...before.recovery,
      epoch: 2,
      attempts: 0,
      nextAttemptAt: dueAt,
      outcome: null,
    });
    assert.deepEqual([reset.deadline, reset.budgets], [before.deadline, before.budgets]);
    // It is the check's to say, and nobody's to decide.
    assert.deepEqual((await door.client().attention()).items, []);
  });

  test('is told from the shell what comes next', async (context) => {
    const door = await openStill(context);
    const here = await openPlace(door);
    const { clock } = door.installation;
    const reset = await putTask(door, here, { ...USED_UP, deadline: clock.now() + DAY });
    const said = await inShell(context, door, 'ops', (options) => budgetReset(reset, options));
    assert.equal(said.code, 0, said.text);
    assert.match(
      said.text,
      new RegExp(
        `^Reopened ${reset}: the check begins now; its deadline stays .*sekisho why ${reset}$`,
      ),
    );
    const unclear = await putTask(door, here, INCONCLUSIVE);
    const checked = await inShell(context, door, 'ops', (options) => resume(unclear, options));
    assert.match(checked.text, /is checked first: the check begins now; it has no deadline/);
    const late = await putTask(door, here, lateAt(clock.now() - DAY));
    const options = { late: true };
    const done = await inShell(context, door, 'runner', (how) =>
      resume(late, { ...how, ...options }),
    );
    assert.match(done.text, /goes on from what is saved, with one new turn, late, as you said\.$/);
  });
});

describe('an order under a used receipt does nothing more and gives its first outcome:', () => {
  const ORDERS = {
    'budget-reset': USED_UP,
    resume: HELD,
    'resume of what could not be told': INCONCLUSIVE,
  } as const;
  for (const [name, standing] of Object.entries(ORDERS)) {
    test(name, async (context) => {
      const door = await openStill(context);
      const here = await openPlace(door);
      const id = await putTask(door, here, standing);
      const { recovery } = await door.client().task(id);
      const path = `/v1/tasks/${id}/${name.split(' ')[0]}`;
      const body = { receiptId: 'rcpt_once' };
      const first = await door.ask('POST', path, { key: 'ops', body });
      assert.equal(first.status, 200, first.text);
      const { installation } = door;
      await eventually(() => installation.assessor.requests.length === 1);
      const before = await everyRow(installation);
      const again = await door.ask('POST', path, { key: 'ops', body });
      assert.deepEqual([again.status, codeOf(again)], [409, 'receipt_used']);
      const { state, version, recovery: was } = again.json['outcome'] as TaskReply;
      const told = first.json as unknown as TaskReply;
      assert.deepEqual([state, version, was], [told.state, told.version, told.recovery]);
      assert.deepEqual(await everyRow(installation), before);
      const { lifetimeAttempts } = (await door.client().task(id)).recovery;
      assert.equal(lifetimeAttempts, recovery.lifetimeAttempts + 1);
    });
  }

  test('a message that comes again', async (context) => {
    const door = await openStill(context);
    const here = await openPlace(door);
    const id = await putTask(door, here, USED_UP);
    const post = () =>
      door
        .client()
        .postMessage(here, { text: `/budget-reset ${id}` }, { idempotencyKey: 'one-press' });
    const first = await post();
    const said = await answerTo(door, here, first.messageId);
    assert.match(said, /^“Sum up the invoices” may be checked three times more/);
    await eventually(() => door.installation.assessor.requests.length === 1);
    const before = await everyRow(door.installation);
    assert.equal((await post()).messageId, first.messageId);
    assert.deepEqual(await everyRow(door.installation), before);
  });
});

test('a resume late is refused of what is not late, and is its own person’s', async (context) => {
  const door = await openStill(context);
  const here = await openPlace(door);
  const at = door.installation.clock.now() - DAY;
  const id = await putTask(door, here, lateAt(at));
  door.installation.model.answer = () => says('sent');
  await assert.rejects(door.client('runner').resumeTask(id), (error) => {
    return error instanceof ApiProblem && error.code === 'not_allowed_now';
  });
  await door.client('runner').resumeTask(id, { late: true });
  assert.equal((await taskIn(door.engine, here, 'completed')).orderAt, null);
});
