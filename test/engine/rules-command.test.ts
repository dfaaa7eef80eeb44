import assert from 'node:assert/strict';
import { test } from 'node:test';
import { USAGES } from '../../src/core/inbox/command.ts';
import { runStatus } from '../../src/core/run/status.ts';
import type { TaskState } from '../../src/core/task/moves.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { ADMIN, ANNA, asks, BEN, fails, Installation, OPTIONS, says } from '../support/host.ts';
import {
  eventually,
  everyRow,
  heldCall,
  inTime,
  order,
  pass,
  restOf,
  say,
  talkTo,
  wordsOf,
} from '../support/acts.ts';

async function answerTo(
  engine: Engine,
  conversationId: ConversationId,
  text: string,
): Promise<string> {
  const id = await say(engine, conversationId, text, { principal: ADMIN });
  await eventually(async () => {
    return (await engine.store.query('message.byId', { id }))?.state === 'done';
  });
  const message = await engine.store.query('message.byId', { id });
  assert.ok(message !== undefined && message.answerId !== null);
  const entry = await engine.store.query('outbox.byId', { id: message.answerId });
  assert.equal(entry?.conversationId, conversationId);
  return wordsOf({ ...entry });
}

const READING = ['/tasks', '/tasks held', '/why', '/status', '/help'] as const;

test('W-3 /tasks, /why, /status and /help are answered without a model while it is down, busy or blocked', async () => {
  for (const model of ['down', 'busy', 'blocked'] as const) {
    const place = new Installation();
    const call = heldCall();
    place.model.answer = () => {
      if (model === 'busy') return call.hold();
      return model === 'down' ? fails('transient', 'connect') : says('');
    };
    const engine = await place.host({ options: { ...OPTIONS, concurrentConversations: 1 } });
    const conversationId = await talkTo(engine);
    await say(engine, conversationId, 'Count the files');
    if (model === 'busy') await call.begun;
    else if (model === 'blocked') await restOf(engine);
    else await inTime(place, async () => (await place.rows('task'))[0]?.['state'] === 'waiting');
    const asked = place.model.requests.length;
    const answers: string[] = [];
    for (const text of READING) answers.push(await answerTo(engine, conversationId, text));
    assert.equal(place.model.requests.length, asked, `${model}: no model was asked`);
    const [tasks = '', held = '', why = '', status = '', help = ''] = answers;
    assert.match(tasks, /“Count the files”/);
    assert.match(held, /No task is held/);
    assert.match(why, /“Count the files” \(task_/);
    assert.match(status, /The host is ready/);
    assert.ok(USAGES.every(({ usage }) => help.includes(usage)));
    const kinds = new Set((await place.rows('message')).map((message) => message['task_id']));
    assert.ok(kinds.has(null), 'a command belongs to no task');
  }
});

test('W-3 a command that a crash left unanswered is answered by the next host, once', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await engine.stop(0);
  // A host that accepts and dies: nothing of it goes on.
  const { acceptMessage } = await import('../../src/engine/inbox/accept.ts');
  const intake = { conversationId, text: '/status', principal: ANNA };
  await acceptMessage(place.parts(), intake, 'command');
  for (const pid of [2, 3]) {
    const next = await place.host({ options: { ...OPTIONS, pid } });
    await restOf(next);
    await next.stop(0);
  }
  const said = await place.rows('outbox');
  assert.deepEqual(
    said.map((entry) => entry['kind']),
    ['answer'],
  );
  assert.equal(place.model.requests.length, 0);
});

test('W-5 an unknown command or id gets one line that names the nearest real one', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'hello');
  await restOf(engine);
  const [task] = await place.rows('task');
  const id = String(task?.['id']);
  const typo = `${id.slice(0, -1)}${id.endsWith('Z') ? 'Y' : 'Z'}`;
  for (const [typed, nearest] of [
    ['/stpo', '/stop'],
    ['/taks', '/tasks'],
    ['/halp me', '/help'],
    [`/why ${typo}`, id],
    [`/stop ${typo}`, id],
  ] as const) {
    const answer = await answerTo(engine, conversationId, typed);
    assert.ok(answer.includes(`\`${nearest}\``), `${typed}: ${answer}`);
    assert.ok(!answer.includes('\n'), `${typed}: ${answer}`);
  }
  assert.equal(place.model.requests.length, 1, 'none of them reached the model');
  assert.equal((await place.rows('task')).length, 1);
  await engine.stop(0);
});

test('W-1 a stop is obeyed from the principal of the task and from an admin, and from nobody else', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  const run = await order(engine, 'think', conversationId);
  await call.begun;
  const before = (await everyRow(place))['task'];
  const refused = await engine.stopTask({ taskId: run.taskId, principal: BEN, channel: 'api' });
  assert.deepEqual(refused.kind === 'refused' && refused.code, 'forbidden');
  await say(engine, conversationId, `/stop ${run.taskId}`, { principal: BEN });
  await say(engine, conversationId, '/stop all', { principal: BEN });
  await eventually(async () => {
    return (await engine.store.query('message.openCommands', { limit: 1 })).length === 0;
  });
  assert.deepEqual((await everyRow(place))['task'], before);
  const stopped = await engine.stopTask({ taskId: run.taskId, principal: ADMIN, channel: 'api' });
  assert.deepEqual(stopped.kind === 'stopped' && stopped.running, ['model']);
});

test('W-1 the next turn of the conversation begins only after the stopped calls have their record', async () => {
  const place = new Installation();
  const begun = Promise.withResolvers<void>();
  const tool = Promise.withResolvers<never>();
  place.model.answer = () => asks(['pay', { sum: 1 }]);
  place.tools.perform = () => {
    begun.resolve();
    return tool.promise;
  };
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'pay');
  await begun.promise;
  place.model.answer = () => says('next');
  await say(engine, conversationId, '/stop');
  await say(engine, conversationId, 'and now?');
  await pass(40);
  assert.equal(place.model.requests.length, 1, 'the call still runs');
  const [stopping] = await place.rows('turn');
  assert.equal(stopping?.['state'], 'stopping');
  place.clock.advance(LIMITS.stopToolsMs);
  await restOf(engine);
  const [first, second] = await place.rows('turn');
  const steps = (await place.rows('step')).filter((step) => step['turn_id'] === first?.['id']);
  assert.deepEqual(
    steps.map((step) => step['state']),
    ['finished', 'uncertain'],
  );
  const recorded = Math.max(...steps.map((step) => Number(step['finished_seq'])));
  assert.ok(recorded < Number(second?.['first_seq']));
  assert.deepEqual([first?.['end'], second?.['end']], ['stopped', 'answered']);
  await engine.stop(0);
});

test('A-2 what a task is to its run: its status while it is open, and the end that it brings', async () => {
  const rows: readonly (readonly [TaskState, number, ReturnType<typeof runStatus>])[] = [
    ['active', 0, 'queued'],
    ['active', 1, 'running'],
    ['waiting', 1, 'waiting'],
    ['paused', 1, 'waiting'],
  ];
  for (const [state, turnsUsed, expected] of rows)
    assert.equal(runStatus({ state: 'open' }, { state, turnsUsed }), expected, state);
  for (const state of ['completed', 'failed', 'cancelled'] as const)
    assert.equal(runStatus({ state }, { state: 'blocked', turnsUsed: 1 }), state);
  for (const [answer, state, code] of [
    [says('done'), 'completed', null],
    [fails('refused', 'http_401'), 'failed', 'model_refused'],
    [says(''), 'failed', 'no_outcome'],
    [asks(['look', {}]), 'failed', 'no_progress'],
  ] as const) {
    const place = new Installation();
    place.model.answer = () => answer;
    const engine = await place.host();
    const { runId } = await order(engine, 'work');
    await restOf(engine);
    const [run] = await place.rows('run');
    const [word] = await place.rows('outbox');
    assert.deepEqual(
      [run?.['state'], run?.['outcome_code'], run?.['outcome_id']],
      [state, code, word?.['id']],
    );
    const late = await engine.messageRun({ runId, text: 'and?', principal: ANNA });
    assert.deepEqual(late.kind === 'refused' && late.code, 'run_ended');
    await engine.stop(0);
  }
});

test('A-2 a run whose provider is away is told so and stays open until it is answered', async () => {
  const place = new Installation();
  place.model.answer = () => fails('transient', 'timeout');
  place.model.alive = false;
  const engine = await place.host();
  const { runId, taskId } = await order(engine, 'work');
  const isIn = async (state: string) =>
    (await engine.store.query('task.byId', { id: taskId }))?.state === state;
  await inTime(place, () => isIn('waiting'));
  const told = (await place.rows('outbox')).map((entry) => [entry['code'], entry['run_id']]);
  assert.deepEqual(told, [['awaits_provider', runId]]);
  const open = await engine.store.query('run.byId', { id: runId });
  assert.deepEqual([open?.state, open?.outcomeId], ['open', null]);
  const more = await engine.messageRun({ runId, text: 'well?', principal: ANNA });
  assert.equal(more.kind, 'accepted', 'an open run takes messages');
  place.model.alive = true;
  place.model.answer = () => says('done');
  await inTime(place, () => isIn('completed'));
  const run = await engine.store.query('run.byId', { id: runId });
  const word = (await place.rows('outbox')).find((entry) => entry['kind'] === 'reply');
  assert.deepEqual([run?.state, run?.outcomeId], ['completed', word?.['id']]);
  await engine.stop(0);
});

test('A-2 a waiting notice is an event of the run and not its end; a stop then cancels it', async () => {
  const place = new Installation();
  place.model.answer = () => fails('transient', 'connect');
  place.model.alive = false;
  const engine = await place.host();
  const { runId, taskId } = await order(engine, 'work');
  await inTime(place, async () => (await place.rows('task'))[0]?.['state'] === 'waiting');
  const told = (await place.rows('event')).filter((event) => event['run_id'] === runId);
  assert.ok(told.some((event) => event['type'] === 'notice.queued'));
  assert.equal((await engine.store.query('run.byId', { id: runId }))?.state, 'open');
  const more = await engine.messageRun({ runId, text: 'well?', principal: ANNA });
  assert.equal(more.kind, 'accepted', 'an open run takes messages');
  await engine.stopTask({ taskId, principal: ANNA, channel: 'api' });
  const run = await engine.store.query('run.byId', { id: runId });
  assert.deepEqual([run?.state, run?.outcomeCode], ['cancelled', 'stopped']);
});
