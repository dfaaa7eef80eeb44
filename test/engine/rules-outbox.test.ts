import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { ADMIN, ANNA, asks, fails, Installation, OPTIONS, says } from '../support/host.ts';
import {
  askedIn,
  eventually,
  heldCall,
  order,
  pass,
  restOf,
  say,
  talkTo,
  watched,
  wordsOf,
  type CommittedUnit,
} from '../support/acts.ts';
import { QuickClock, ShakyStore, type Mishap } from '../support/store-faults.ts';

const ENDINGS = {
  reply: () => says('the answer'),
  notice: () => fails('refused', 'http_401'),
} as const;

/** A host that dies, or is left in the dark, at the commit that ends its first turn. */
async function endingWith(kind: keyof typeof ENDINGS, mishap: Mishap) {
  const place = new Installation();
  place.model.answer = ENDINGS[kind];
  const met = Promise.withResolvers<void>();
  let isFirst = true;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'turn.end' || !isFirst) return undefined;
    isFirst = false;
    met.resolve();
    return mishap;
  });
  const engine = await place.host({ store, clock: new QuickClock() });
  const run = await order(engine, 'the order');
  await met.promise;
  await pass();
  return { place, engine, run };
}

async function standing(place: Installation) {
  const [task] = await place.rows('task');
  const [turn] = await place.rows('turn');
  const [run] = await place.rows('run');
  const outbox = await place.rows('outbox');
  return { task: task?.['state'], turn: turn?.['state'], run: run?.['state'], outbox };
}

for (const kind of ['reply', 'notice'] as const) {
  const end = kind === 'reply' ? 'completed' : 'failed';
  test(`O-1 the ${kind} and the end that caused it are one commit: both are there after a crash, or neither`, async () => {
    const before = await endingWith(kind, 'hangs');
    assert.deepEqual(await standing(before.place), {
      task: 'active',
      turn: 'running',
      run: 'open',
      outbox: [],
    });
    const after = await endingWith(kind, 'hangs-after');
    const { outbox, ...states } = await standing(after.place);
    assert.deepEqual(states, { task: end, turn: 'ended', run: end });
    assert.deepEqual(
      outbox.map((entry) => [entry['kind'], entry['state']]),
      [[kind, 'delivered']],
    );
    const [message] = await after.place.rows('message');
    assert.deepEqual([message?.['state'], message?.['answer_id']], ['done', outbox[0]?.['id']]);
    const next = await after.place.host({ options: { ...OPTIONS, pid: 2 } });
    await restOf(next);
    assert.equal((await after.place.rows('outbox')).length, 1);
    await next.stop(0);
  });

  test(`O-1 a ${kind} whose commit was not seen is one entry, with the key of its cause`, async () => {
    for (const mishap of ['unknown', 'unseen', 'busy'] as const) {
      const { place, engine, run } = await endingWith(kind, mishap);
      await restOf(engine);
      const { outbox, ...states } = await standing(place);
      assert.deepEqual(states, { task: end, turn: 'ended', run: end }, mishap);
      assert.equal(outbox.length, 1, mishap);
      const [turn] = await place.rows('turn');
      const cause = kind === 'reply' ? `reply:${String(turn?.['id'])}` : `notice:${run.taskId}:3`;
      assert.equal(outbox[0]?.['key'], cause, mishap);
      await engine.stop(0);
    }
  });
}

test('O-1 nothing enters the outbox but in the commit of what caused it', async () => {
  const place = new Installation();
  const seen: string[] = [];
  const check = ({ name, writes }: CommittedUnit): void => {
    const entries = writes.filter(({ write }) => write === 'outbox.insert').length;
    if (entries === 0) return;
    seen.push(name);
    const isCaused = writes.some(({ write }) => ['task.save', 'message.done'].includes(write));
    assert.ok(isCaused && entries === 1, `${name} makes ${entries} entries`);
  };
  const engine = await place.host({ store: watched(place.store, check) });
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'hello');
  await restOf(engine);
  place.model.answer = () => new Promise<never>(() => {});
  await say(engine, conversationId, 'hang');
  await eventually(() => place.model.requests.length === 2);
  for (const text of ['/status', '/stop']) {
    await say(engine, conversationId, text);
    await restOfCommands(engine);
  }
  assert.deepEqual(seen, ['turn.end', 'command.answer', 'task.stop']);
});

async function restOfCommands(engine: Engine): Promise<void> {
  await eventually(async () => {
    return (await engine.store.query('message.openCommands', { limit: 1 })).length === 0;
  });
}

test("O-2 a conversation's entries stand in the order of their causes, and each is told once in it", async () => {
  const place = new Installation();
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked.startsWith('fail')) return fails('refused', 'http_401');
    return says(asked.startsWith('empty') ? '' : `answer to ${asked}`);
  };
  // A message that steers another shares its answer; here each has its own.
  const engine = await place.host({ options: { ...OPTIONS, whileBusy: 'wait' } });
  const here = await talkTo(engine, 'here');
  const there = await talkTo(engine, 'there');
  for (let round = 0; round < 6; round += 1) {
    for (const text of [`m${round}`, 'fail', '/status', 'empty'])
      await Promise.all([here, there].map((conversationId) => say(engine, conversationId, text)));
  }
  await restOf(engine);
  for (const conversationId of [here, there]) {
    const entries = await engine.store.query('outbox.after', {
      conversationId,
      after: 0,
      limit: 99,
    });
    assert.equal(entries.length, 24);
    const causes = await causesIn(engine, conversationId);
    assert.deepEqual(
      entries.map(({ id, seq }) => [id, seq]),
      causes,
    );
    const replies = entries.flatMap(({ text }) =>
      /^answer to m\d$/.test(text ?? '') ? [text] : [],
    );
    assert.deepEqual(
      replies,
      Array.from({ length: 6 }, (_, round) => `answer to m${round}`),
    );
    const half = causes[11]?.[1] as number;
    const rest = await engine.store.query('outbox.after', {
      conversationId,
      after: half,
      limit: 99,
    });
    assert.deepEqual(
      rest.map(({ id }) => id),
      entries.slice(12).map(({ id }) => id),
    );
  }
  await engine.stop(0);
});

/** Id and place of each entry, as the events that queued them tell it. */
async function causesIn(engine: Engine, conversationId: ConversationId) {
  const events = await engine.store.query('event.after', { conversationId, after: 0, limit: 999 });
  return events
    .filter(({ type }) => ['reply.queued', 'notice.queued', 'command.answered'].includes(type))
    .map(({ data, seq }) => [(JSON.parse(data ?? '') as { outboxId: string }).outboxId, seq]);
}

test('O-6 each transition into a hold or an end is told once, across any number of restarts', async () => {
  const place = new Installation();
  place.model.answer = (request) => {
    const asked = askedIn(request);
    if (asked.startsWith('hang')) return new Promise<never>(() => {});
    if (asked.startsWith('wait')) return asks(['task_wait', { for: 'instant', seconds: 86_400 }]);
    if (asked.startsWith('pay')) return asks(['pay', { sum: 1 }]);
    return asked.startsWith('fail') ? fails('refused', 'http_401') : says('');
  };
  place.tools.asked.add('pay');
  const dead = await place.host();
  const conversationId = await talkTo(dead);
  for (const text of ['empty', 'fail', 'wait', 'pay']) {
    await say(dead, conversationId, text);
    await restOf(dead);
  }
  await say(dead, conversationId, 'hang');
  await eventually(() => place.model.requests.length === 6);
  // One of them begins each attempt of its assessment, and the third has failed.
  for (let pid = 2; pid < 12; pid += 1) {
    const engine = await place.host({ options: { ...OPTIONS, pid } });
    place.clock.advance(OPTIONS.tickMs);
    await restOf(engine);
    // A clean end, or one like the first.
    if (pid % 2 === 0) await engine.stop(0);
  }
  const told = (await place.rows('outbox')).map((entry) => [entry['code'], entry['level']]);
  assert.deepEqual(told, [
    ['no_outcome', 'blocked'],
    ['model_refused', 'info'],
    ['awaits_instant', 'waiting'],
    ['awaits_approval', 'waiting'],
    ['recovery_assessment_failed', 'blocked'],
  ]);
  const events = await place.rows('event');
  // Entering the assessment is told by nothing of its own.
  const moves = events.filter(
    ({ type, reason }) => type === 'task.moved' && reason !== 'interrupted',
  );
  const keys = moves.map((event) => {
    const task = String(event['task_id']);
    return [task, event['reason']];
  });
  assert.deepEqual(
    (await place.rows('outbox')).map((entry) => [entry['task_id'], entry['code']]),
    keys,
  );
  const unique = new Set((await place.rows('outbox')).map((entry) => entry['key']));
  assert.equal(unique.size, 5);
});

test('O-9 what leaves goes where its cause was said, whoever asks elsewhere and whatever restarts', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = (request) =>
    askedIn(request).startsWith('think') ? call.hold() : says(`answer to ${askedIn(request)}`);
  const dead = await place.host();
  const here = await talkTo(dead, 'here');
  const there = await talkTo(dead, 'there');
  const terminal = await dead.openConversation({
    channel: 'terminal',
    address: 'terminal',
    principal: ADMIN,
  });
  await say(dead, there, 'think');
  await call.begun;
  await say(dead, here, 'hello');
  const waiting = await order(dead, 'think of a run', there);
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await eventually(() => place.model.requests.length === 3);
  assert.equal(await talkTo(engine, 'there'), there, 'an address stays its conversation');
  await engine.stopTask({ taskId: waiting.taskId, principal: ADMIN, channel: 'api' });
  const [interrupted] = (await place.rows('task')).filter((task) => task['state'] === 'waiting');
  await say(engine, terminal, `/stop ${String(interrupted?.['id'])}`, { principal: ADMIN });
  await say(engine, terminal, '/why', { principal: ADMIN });
  await restOfCommands(engine);
  await assertAtHome(place);
  const outbox = await place.rows('outbox');
  const inTerminal = outbox.filter((entry) => entry['conversation_id'] === terminal);
  assert.deepEqual(
    inTerminal.map((entry) => entry['kind']),
    ['answer', 'answer'],
  );
  assert.equal(outbox.filter((entry) => entry['conversation_id'] === there).length, 2);
});

/** Each entry stands in the conversation of its task, or of the command that it answers. */
async function assertAtHome(place: Installation): Promise<void> {
  const homes = new Map<unknown, unknown>();
  for (const table of ['task', 'message'])
    for (const row of await place.rows(table)) homes.set(row['id'], row['conversation_id']);
  for (const entry of await place.rows('outbox')) {
    const cause = entry['task_id'] ?? entry['subject_id'];
    assert.equal(entry['conversation_id'], homes.get(cause), wordsOf(entry));
  }
  for (const message of await place.rows('message')) {
    const answer = (await place.rows('outbox')).find(
      (entry) => entry['id'] === message['answer_id'],
    );
    if (answer !== undefined)
      assert.equal(answer['conversation_id'], message['conversation_id'], String(message['text']));
  }
}

test('O-9 a stop by id said elsewhere ends the task with a word of its own in its conversation', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host();
  const there = await talkTo(engine, 'there');
  const here = await talkTo(engine, 'here');
  const run = await order(engine, 'think', there);
  await call.begun;
  const command = await say(engine, here, `/stop ${run.taskId}`);
  await restOfCommands(engine);
  const answer = await engine.store.query('message.byId', { id: command });
  const said = await place.rows('outbox');
  assert.deepEqual(
    said.map((entry) => [entry['conversation_id'], entry['kind'], entry['task_id'] as TaskId]),
    [
      [there, 'notice', run.taskId],
      [here, 'answer', null],
    ],
  );
  assert.equal(answer?.answerId, said[1]?.['id']);
});

test('O-6 a call that is repeated inside one turn is no notice of its own', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', {}]);
  const engine = await place.host();
  const run = await order(engine, 'look');
  await restOf(engine);
  const outbox = await place.rows('outbox');
  assert.deepEqual(
    outbox.map((entry) => [entry['code'], entry['task_id']]),
    [['no_progress', run.taskId]],
  );
  const events = await engine.store.query('event.ofTask', {
    conversationId: run.conversationId,
    taskId: run.taskId,
    limit: 99,
  });
  assert.equal(events.filter(({ type }) => type === 'notice.queued').length, 1);
  assert.equal(
    (await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' })).kind,
    'stopped',
  );
  assert.equal((await place.rows('outbox')).length, 2);
  await engine.stop(0);
});
