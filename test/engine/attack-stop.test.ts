import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import {
  ADMIN,
  ANNA,
  BEN,
  asks,
  Installation,
  OPTIONS,
  says,
  taskIn,
  until,
} from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

const CUT: ModelOutcome = {
  kind: 'fault',
  class: 'aborted',
  code: 'aborted',
  message: 'ended',
  retryAt: null,
  usage: null,
};

/** A model that thinks until it is interrupted, and says how often it was asked. */
function thinking(place: Installation): { readonly asked: Promise<void> } {
  const asked = Promise.withResolvers<void>();
  place.model.answer = (_request, signal) => {
    asked.resolve();
    if (signal.aborted) return CUT;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(CUT));
    });
  };
  return { asked: asked.promise };
}

async function talk(engine: Engine, address = 'a'): Promise<ConversationId> {
  return engine.openConversation({ channel: 'api', address, principal: ANNA });
}

async function say(
  engine: Engine,
  conversationId: ConversationId,
  text: string,
  principal: Principal = ANNA,
) {
  const verdict = await engine.acceptMessage({ conversationId, text, principal });
  if (verdict.kind !== 'accepted') assert.fail(verdict.code);
  return verdict.messageId;
}

async function answerTo(engine: Engine, conversationId: ConversationId, id: string) {
  const message = await until(engine, conversationId, async () => {
    const found = await engine.store.query('message.byId', { id: id as never });
    return found?.state === 'done' ? found : undefined;
  });
  assert.ok(message.answerId !== null);
  const entry = await engine.store.query('outbox.byId', { id: message.answerId });
  assert.ok(entry !== undefined);
  return entry;
}

const ENDED = async (place: Installation) =>
  (await place.rows('turn')).every((turn) => turn['state'] === 'ended');

test('W-1 a stop whose commit was not seen still interrupts its turn at once', async () => {
  const place = new Installation();
  const clock = new QuickClock();
  const { asked } = thinking(place);
  let isFirst = true;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'task.stop' || !isFirst) return undefined;
    isFirst = false;
    return 'unseen';
  });
  const engine = await place.host({ store, clock });
  const run = await engine.acceptRun({ input: 'think', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await asked;
  const verdict = await engine.stopTask({
    taskId: run.taskId,
    principal: ANNA,
    channel: 'api',
    expectedVersion: 2,
  });
  assert.equal(verdict.kind, 'stopped');
  await until(engine, run.conversationId, () => ENDED(place));
  assert.equal((await place.rows('outbox')).length, 1);
  await engine.stop(0);
});

test('W-1 a stop command whose commit was not seen still interrupts its turn at once', async () => {
  const place = new Installation();
  const clock = new QuickClock();
  const { asked } = thinking(place);
  let isFirst = true;
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (unit !== 'task.stop' || !isFirst) return undefined;
    isFirst = false;
    return 'unseen';
  });
  const engine = await place.host({ store, clock });
  const conversationId = await talk(engine);
  await say(engine, conversationId, 'think');
  await asked;
  await say(engine, conversationId, '/stop');
  await until(engine, conversationId, () => ENDED(place));
  const codes = (await place.rows('outbox')).map((entry) => entry['code']);
  assert.deepEqual(codes, ['stopped']);
  const states = (await place.rows('message')).map((message) => message['state']);
  assert.deepEqual(states, ['done', 'done']);
  await engine.stop(0);
});

test('V14 a stop between the claim and its first model call: the model is never asked', async () => {
  const place = new Installation();
  const clock = new QuickClock();
  let claims = 0;
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit !== 'turn.claim') return undefined;
    claims += 1;
    if (claims === 1) return 'unseen';
    const [task] = await place.rows('task');
    const stopped = await engine.stopTask({
      taskId: task?.['id'] as never,
      principal: ANNA,
      channel: 'api',
    });
    assert.equal(stopped.kind, 'stopped');
    return undefined;
  });
  const engine = await place.host({ store, clock });
  const run = await engine.acceptRun({ input: 'think', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await until(engine, run.conversationId, async () => {
    const turns = await place.rows('turn');
    return turns.length === 1 && ENDED(place);
  });
  assert.equal(place.model.requests.length, 0);
  assert.equal((await place.rows('turn'))[0]?.['end'], 'stopped');
  await engine.stop(0);
});

test('W-1 a stop by id is answered in the conversation in which it was asked', async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const engine = await place.host();
  const there = await talk(engine, 'there');
  const here = await talk(engine, 'here');
  await say(engine, there, 'think');
  await asked;
  const [task] = await place.rows('task');
  const id = await say(engine, here, `/stop ${String(task?.['id'])}`);
  const answer = await answerTo(engine, here, id);
  assert.equal(answer.conversationId, here);
  assert.match(answer.text ?? '', /think/u);
  await until(engine, there, () => ENDED(place));
  const told = (await place.rows('outbox')).filter((entry) => entry['conversation_id'] === there);
  assert.deepEqual(
    told.map((entry) => entry['code']),
    ['stopped'],
  );
  await engine.stop(0);
});

test('W-1 /stop all leaves nothing to start that was asked for before it', async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const engine = await place.host();
  const conversationId = await talk(engine);
  await say(engine, conversationId, 'first');
  await asked;
  await say(engine, conversationId, 'second');
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  // The stop of the first frees the conversation before the command itself is answered.
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit === 'command.answer') await gate;
    return undefined;
  });
  await engine.stop(0);
  const next = await place.host({ store });
  await until(next, conversationId, async () => (await place.rows('turn')).length >= 2);
  await say(next, conversationId, 'third');
  const id = await say(next, conversationId, '/stop all');
  await until(next, conversationId, async () => {
    const turns = await place.rows('turn');
    return turns.length >= 3;
  });
  open();
  const { text } = await answerTo(next, conversationId, id);
  // The notices say the rest of each.
  assert.match(text ?? '', /^Stopped: (?:“\w+”(?:, | and )?){3}\.$/);
  await until(next, conversationId, () => ENDED(place));
  const tasks = await place.rows('task');
  assert.deepEqual(
    tasks.map((task) => [task['mandate_text'], task['state']]),
    [
      ['first', 'stopped'],
      ['second', 'stopped'],
      ['third', 'stopped'],
    ],
  );
  await next.stop(0);
});

test("W-1 a member's /stop all drops no message of somebody else", async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const engine = await place.host();
  const conversationId = await talk(engine);
  await say(engine, conversationId, 'first of Anna', ANNA);
  await asked;
  const annas = await say(engine, conversationId, 'second of Anna', ANNA);
  const bens = await say(engine, conversationId, 'first of Ben', BEN);
  const id = await say(engine, conversationId, '/stop all', BEN);
  await answerTo(engine, conversationId, id);
  const states = new Map((await place.rows('message')).map((row) => [row['id'], row['state']]));
  assert.equal(states.get(bens), 'done');
  assert.equal(states.get(annas), 'unclaimed');
  assert.equal((await place.rows('task'))[0]?.['state'], 'active');
  await engine.stop(0);
});

test('W-1 a late /stop never stops what began after it was said', async () => {
  const place = new Installation();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store);
  const { asked } = thinking(place);
  const engine = await place.host({ store });
  const conversationId = await talk(engine);
  store.onQuery = async (read) => {
    if (read === 'message.byId') await gate;
  };
  const id = await say(engine, conversationId, '/stop');
  place.clock.advance(5);
  await say(engine, conversationId, 'later');
  await asked;
  open();
  const answer = await answerTo(engine, conversationId, id);
  assert.equal(answer.kind, 'answer');
  assert.equal((await place.rows('task'))[0]?.['state'], 'active');
  await engine.stop(0);
});

test("W-5 the nearest id never names a stranger's task of another conversation", async () => {
  const place = new Installation();
  const engine = await place.host();
  const secret = await talk(engine, 'secret');
  await say(engine, secret, 'private', ANNA);
  const task = await taskIn(engine, secret, 'completed');
  const other = await talk(engine, 'other');
  const typed = `${task.id.slice(0, -1)}${task.id.endsWith('0') ? '1' : '0'}`;
  const id = await say(engine, other, `/stop ${typed}`, BEN);
  const answer = await answerTo(engine, other, id);
  assert.ok(!(answer.text ?? '').includes(task.id), answer.text ?? '');
  await engine.stop(0);
});

test('W-1 only its own principal or an admin stops a task or cancels a run', async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'think', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await asked;
  const { taskId, runId } = run;
  for (const verdict of [
    await engine.stopTask({ taskId, principal: BEN, channel: 'api' }),
    await engine.cancelRun({ runId, principal: BEN }),
  ])
    assert.deepEqual([verdict.kind, 'code' in verdict && verdict.code], ['refused', 'forbidden']);
  assert.equal((await engine.cancelRun({ runId, principal: ADMIN })).kind, 'stopped');
  const again = await engine.cancelRun({ runId, principal: ANNA });
  assert.equal(again.kind === 'stopped' && again.task.state, 'cancelled');
  const bens = await engine.cancelRun({ runId, principal: BEN });
  assert.equal(bens.kind, 'refused');
  await until(engine, run.conversationId, () => ENDED(place));
  await engine.stop(0);
});

test('W-1 /stop all that a crash repeats stops everything once and is answered once', async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const store = new ShakyStore(place.store, ({ unit }) =>
    unit === 'command.answer' ? 'hangs' : undefined,
  );
  const first = await place.host({ store });
  const conversationId = await talk(first);
  await say(first, conversationId, 'one');
  await asked;
  const id = await say(first, conversationId, '/stop all');
  await until(first, conversationId, () => ENDED(place));
  store.mishap = () => 'hangs';
  place.model.answer = () => says('ok');
  const next = await place.host({ options: { ...OPTIONS, pid: 2 } });
  const answer = await answerTo(next, conversationId, id);
  assert.equal(answer.kind, 'answer');
  const outbox = await place.rows('outbox');
  assert.deepEqual(
    outbox.map((entry) => entry['kind']),
    ['notice', 'answer'],
  );
  await next.stop(0);
});

test('W-1 a stop before the claim closes a run that no turn has taken up', async () => {
  const place = new Installation();
  const { asked } = thinking(place);
  const engine = await place.host();
  const conversationId = await talk(engine);
  await say(engine, conversationId, 'busy');
  await asked;
  const run = await engine.acceptRun({ input: 'queued', conversationId, principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  const verdict = await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  assert.equal(verdict.kind, 'stopped');
  assert.equal((await place.rows('run'))[0]?.['state'], 'cancelled');
  const row = (await place.rows('message')).find((message) => message['id'] === run.messageId);
  assert.equal(row?.['state'], 'done');
  assert.equal((await place.rows('turn')).length, 1);
  await engine.stop(0);
});

test('W-1 a stop while the answer is being saved wins or loses whole', async () => {
  for (const order of ['stop first', 'answer first']) {
    const place = new Installation();
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const store = new ShakyStore(place.store, async ({ unit }) => {
      if (unit !== 'turn.end') return undefined;
      reached.resolve();
      if (order === 'stop first') await gate.promise;
      return undefined;
    });
    place.model.answer = () => says('the answer');
    const engine = await place.host({ store });
    const run = await engine.acceptRun({ input: 'answer', principal: ANNA });
    if (run.kind !== 'accepted') assert.fail();
    await reached.promise;
    if (order === 'answer first') await taskIn(engine, run.conversationId, 'completed');
    const verdict = await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
    gate.resolve();
    await until(engine, run.conversationId, () => ENDED(place));
    const kinds = (await place.rows('outbox')).map((entry) => entry['kind']);
    assert.deepEqual(kinds, [order === 'stop first' ? 'notice' : 'reply'], order);
    assert.equal(verdict.kind, order === 'stop first' ? 'stopped' : 'refused');
    await engine.stop(0);
  }
});

test('INC-097 a repeated call under a stop starts nothing new', async () => {
  const place = new Installation();
  place.model.answer = () => asks(['look', { n: place.tools.ran.length }]);
  const engine = await place.host();
  const run = await engine.acceptRun({ input: 'look on', principal: ANNA });
  if (run.kind !== 'accepted') assert.fail();
  await until(engine, run.conversationId, async () => place.tools.ran.length > 3);
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  const ran = place.tools.ran.length;
  await until(engine, run.conversationId, () => ENDED(place));
  assert.ok(place.tools.ran.length <= ran, `${place.tools.ran.length} after ${ran}`);
  await engine.stop(0);
});
