import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasEnded } from '../../src/core/task/moves.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import type { Store } from '../../src/ports/store.ts';
import {
  ADMIN,
  ANNA,
  asks,
  BEN,
  fails,
  Installation,
  OPTIONS,
  says,
  taskIn,
} from '../support/host.ts';
import {
  askedIn,
  eventually,
  everyRow,
  heldCall,
  order,
  pass,
  restOf,
  say,
  talkTo,
  watched,
  type CommittedUnit,
} from '../support/acts.ts';
import { ShakyStore } from '../support/store-faults.ts';

/** One conversation with tasks in every state that this version leads to, and what made them so. */
async function everyState(
  place: Installation,
  store: Store = place.store,
): Promise<{
  readonly engine: Engine;
  readonly conversationId: ConversationId;
  readonly tasks: ReadonlyMap<string, TaskId>;
}> {
  const never = new Promise<never>(() => {});
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked.includes('fail')) return fails('refused', 'http_401');
    if (asked.includes('block')) return says(' ');
    return asked.includes('hang') ? never : says('done');
  };
  // What is interrupted is assessed meanwhile, in a call that gives no answer.
  place.assessor.answer = () => never;
  const dead = await place.host({ store });
  const conversationId = await talkTo(dead);
  await order(dead, 'hang and be interrupted', conversationId);
  await eventually(async () => (await place.rows('step')).length === 1);
  const engine = await place.host({ store, options: { ...OPTIONS, pid: 2 } });
  for (const input of ['answer', 'fail', 'block']) await order(engine, input, conversationId);
  await restOf(engine);
  const stopped = await order(engine, 'hang and be stopped', conversationId);
  const cancelled = await order(engine, 'wait and be cancelled', conversationId);
  await engine.cancelRun({ runId: cancelled.runId, principal: ANNA });
  await eventually(async () => engine.health().runningTurns === 1);
  await engine.stopTask({ taskId: stopped.taskId, principal: ANNA, channel: 'api' });
  place.clock.advance(60_000);
  await eventually(async () => {
    return (await place.rows('turn')).every((turn) => turn['state'] === 'ended');
  });
  // The first has run out of time, and the second changes no row before it does too.
  await eventually(() => place.assessor.requests.length === 2);
  const rows = await place.rows('task');
  const tasks = new Map(rows.map((row) => [String(row['state']), row['id'] as TaskId]));
  return { engine, conversationId, tasks };
}

test('T-3 an ended task never leaves its end, whatever is asked of it', async () => {
  const place = new Installation();
  const { engine, conversationId, tasks } = await everyState(place);
  const states = [...tasks.keys()].toSorted();
  assert.deepEqual(states, ['blocked', 'cancelled', 'completed', 'failed', 'stopped', 'waiting']);
  const ended = [...tasks].filter(([state]) => hasEnded(state as TaskRecord['state']));
  const ofEnded = async () => {
    const ids = new Set<unknown>(ended.map(([, id]) => id));
    return (await place.rows('task')).filter((row) => ids.has(row['id']));
  };
  const before = await ofEnded();
  assert.equal(before.length, 4);
  for (const [state, taskId] of ended) {
    const verdict = await engine.stopTask({ taskId, principal: ADMIN, channel: 'api' });
    assert.deepEqual(verdict.kind === 'refused' && verdict.code, 'task_ended', state);
    await say(engine, conversationId, `/stop ${taskId}`);
    const run = await engine.store.query('run.ofTask', { taskId });
    assert.ok(run !== undefined);
    await engine.cancelRun({ runId: run.id, principal: ADMIN });
    await engine.messageRun({ runId: run.id, text: 'answer', principal: ADMIN });
  }
  await say(engine, conversationId, '/stop all');
  await restOf(engine);
  await place.host({ options: { ...OPTIONS, pid: 3 } });
  assert.deepEqual(await ofEnded(), before);
});

test('T-4 an impossible or outdated order is a refusal that changes no row', async () => {
  const place = new Installation();
  const { engine, tasks } = await everyState(place);
  const before = await everyRow(place);
  const codeOf = async (taskId: TaskId, more: object = {}) => {
    const verdict = await engine.stopTask({ taskId, principal: ANNA, channel: 'api', ...more });
    return verdict.kind === 'refused' ? verdict.code : verdict.kind;
  };
  for (const [state, taskId] of tasks) {
    const { version } = (await engine.store.query('task.byId', { id: taskId })) as TaskRecord;
    for (const expectedVersion of [0, version - 1, version + 1])
      assert.equal(await codeOf(taskId, { expectedVersion }), 'version_conflict', state);
    if (hasEnded(state as TaskRecord['state'])) assert.equal(await codeOf(taskId), 'task_ended');
    assert.equal(await codeOf(taskId, { principal: BEN }), 'forbidden', state);
  }
  assert.equal(await codeOf('task_0000000000000000'), 'not_found');
  assert.deepEqual(await everyRow(place), before);
});

test('T-4 every change of a task raises its version by one and appends an event in its commit', async () => {
  const place = new Installation();
  const known = new Map<unknown, TaskRecord>();
  let changes = 0;
  const check = ({ name, writes }: CommittedUnit): void => {
    for (const { write, row } of writes.filter(isTaskWrite)) {
      const before = known.get(row.id);
      assert.equal(row.version, (before?.version ?? 0) + 1, `${name} ${write}`);
      known.set(row.id, row);
      const told = writes.flatMap((one) =>
        one.write === 'event.insert' && one.row.taskId === row.id ? [one.row] : [],
      );
      assert.ok(told.length > 0, `${name} tells nobody of its change`);
      changes += 1;
      if (before?.state !== row.state) assertMoveTold(before, row, told);
    }
  };
  await everyState(place, watched(place.store, check));
  assert.ok(changes > 12, `${changes} changes were seen`);
});

function assertMoveTold(
  before: TaskRecord | undefined,
  row: TaskRecord,
  told: readonly EventRecord[],
): void {
  const move = told.find(({ type }) => type === 'task.moved' || type === 'task.created');
  assert.deepEqual(
    [move?.fromState, move?.toState, move?.reason],
    [before?.state ?? null, row.state, row.reason],
    `nobody is told that the task is ${row.state}`,
  );
}

function isTaskWrite(
  write: CommittedUnit['writes'][number],
): write is Extract<typeof write, { write: 'task.insert' | 'task.save' }> {
  return write.write === 'task.insert' || write.write === 'task.save';
}

test('T-5 the mandate is written once and no transition or later word changes it', async () => {
  const place = new Installation();
  const mandates = new Map<string, string>();
  const check = ({ name, writes }: CommittedUnit): void => {
    for (const { row } of writes.filter(isTaskWrite)) {
      const mandate = mandateOf(row);
      assert.equal(mandates.get(row.id) ?? mandate, mandate, `${name} would write another mandate`);
      mandates.set(row.id, mandate);
    }
  };
  const { engine, conversationId } = await everyState(place, watched(place.store, check));
  const call = heldCall();
  place.model.answer = () => (place.model.requests.length > 0 ? call.hold() : says(''));
  const run = await order(engine, 'the order', conversationId);
  await call.begun;
  place.model.answer = () => says('done');
  for (const principal of [ANNA, ADMIN])
    await engine.messageRun({ runId: run.runId, text: 'another order', principal });
  call.release(says('so far'));
  await eventually(async () => {
    return (await engine.store.query('task.byId', { id: run.taskId }))?.state === 'completed';
  });
  assert.equal(
    (await engine.store.query('task.byId', { id: run.taskId }))?.mandateText,
    'the order',
  );
  for (const row of await place.rows('task')) {
    const { mandate_text: text, mandate_hash: hash } = row;
    const digest = place.parts().digest(String(text));
    assert.equal(hash, digest, 'the hash is that of the text');
    const task = await engine.store.query('task.byId', { id: row['id'] as TaskId });
    assert.equal(task === undefined ? '' : mandateOf(task), mandates.get(String(row['id'])));
  }
  assert.equal(mandates.size, (await place.rows('task')).length);
});

function mandateOf(task: TaskRecord): string {
  const { mandateText, mandatePrincipal, mandateOrigin, mandateAt, mandateHash } = task;
  return JSON.stringify([mandateText, mandatePrincipal, mandateOrigin, mandateAt, mandateHash]);
}

/** A run with a corrective turn and a further message that both wait behind another turn. */
async function queuedBehind(place: Installation, engine: Engine) {
  const first = heldCall();
  const second = heldCall();
  place.model.answer = (request) => {
    if (askedIn(request) === 'something else') return second.hold();
    return place.model.requests.length === 1 ? first.hold() : says('the stopped order goes on');
  };
  const conversationId = await talkTo(engine);
  const run = await order(engine, 'the order', conversationId);
  await first.begun;
  // Another's words do not steer the run; they wait for their own turn, before the corrective one.
  await say(engine, conversationId, 'something else', { principal: BEN });
  first.release(says(' '));
  await second.begun;
  await engine.messageRun({ runId: run.runId, text: 'and hurry', principal: ANNA });
  const waiting = (await place.rows('message')).filter((row) => row['state'] === 'unclaimed');
  assert.deepEqual(
    waiting.map((row) => row['kind']),
    ['generated', 'genuine'],
  );
  return { conversationId, run, other: second };
}

test('T-17 what a stopped task would still have done goes in the same commit', async () => {
  const place = new Installation();
  let seen: readonly unknown[] = [];
  let taskId = '';
  const store = watched(place.store, async ({ name }) => {
    if (name !== 'task.stop') return;
    const rows = (await place.rows('message')).filter((row) => row['task_id'] === taskId);
    seen = rows.map((row) => row['state']);
  });
  const engine = await place.host({ store });
  const { conversationId, run, other } = await queuedBehind(place, engine);
  taskId = run.taskId;
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  assert.deepEqual(seen, ['done', 'done', 'done']);
  other.release(says('something'));
  await restOf(engine);
  assert.equal(place.model.requests.length, 2);
  assert.equal((await taskIn(engine, conversationId, 'stopped')).turnsUsed, 1);
  await engine.stop(0);
});

test('T-17 after a crash right behind the stop nothing of the stopped task starts again', async () => {
  const place = new Installation();
  const stop = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'task.stop') return undefined;
    store.mishap = () => 'hangs';
    stop.resolve();
    return 'hangs-after';
  });
  const dead = await place.host({ store });
  const { conversationId, run } = await queuedBehind(place, dead);
  void dead.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  await stop.promise;
  await pass();
  const asked = place.model.requests.length;
  place.model.answer = () => says('hello');
  for (const pid of [2, 3]) {
    const engine = await place.host({ options: { ...OPTIONS, pid } });
    await restOf(engine);
    place.clock.advance(OPTIONS.tickMs);
    await restOf(engine);
    await engine.stop(0);
  }
  assert.equal(place.model.requests.length, asked, 'no host asked a model for it');
  const engine = await place.host({ options: { ...OPTIONS, pid: 4 } });
  await say(engine, conversationId, 'hello?');
  await restOf(engine);
  const mine = (await place.rows('turn')).filter((turn) => turn['task_id'] === run.taskId);
  assert.equal(mine.length, 1);
  assert.equal(place.model.requests.length, asked + 1);
  await engine.stop(0);
});

test('T-17 a stop in the middle of a turn leaves nothing to go on with', async () => {
  const place = new Installation();
  const begun = Promise.withResolvers<void>();
  place.model.answer = () => asks(['look', { n: place.tools.ran.length }]);
  place.tools.perform = async () => {
    if (place.tools.ran.length === 2) begun.resolve();
    return { kind: 'result', text: String(place.tools.ran.length) };
  };
  const engine = await place.host();
  const run = await order(engine, 'look on and on');
  await begun.promise;
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  const ran = place.tools.ran.length;
  await restOf(engine);
  assert.equal(place.tools.ran.length, ran, 'nothing starts behind the stop');
  const before = await everyRow(place);
  await engine.stop(0);
  const next = await place.host({ options: { ...OPTIONS, pid: 2 } });
  place.clock.advance(OPTIONS.tickMs);
  await restOf(next);
  const { host: _former, ...rest } = before;
  const { host: _hosts, ...now } = await everyRow(place);
  assert.deepEqual(now, rest);
  assert.equal(place.tools.ran.length, ran);
  await next.stop(0);
});
