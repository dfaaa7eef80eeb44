import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId, MessageId } from '../../src/kernel/ids.ts';
import {
  judges,
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
  everyRow,
  heldCall,
  inTime,
  order,
  pass,
  eventually,
  restOf,
  say,
  talkTo,
} from '../support/acts.ts';
import { ShakyStore, type Mishap } from '../support/store-faults.ts';

/** A host that dies at the first commit of this unit, before it or right after it. */
function dyingAt(place: Installation, unit: string, mishap: Mishap) {
  const died = Promise.withResolvers<void>();
  const store = new ShakyStore(place.store, (seen) => {
    if (seen.unit !== unit) return undefined;
    store.mishap = () => 'hangs';
    died.resolve();
    return mishap;
  });
  return { store, died: died.promise };
}

for (const [unit, mishap, bound] of [
  ['turn.claim', 'hangs', false],
  ['turn.claim', 'hangs-after', true],
  ['turn.step', 'hangs', true],
  ['turn.end', 'hangs', true],
  ['turn.end', 'hangs-after', true],
] as const) {
  test(`T-1 I-1 a crash ${mishap === 'hangs' ? 'before' : 'after'} the commit of ${unit} leaves a message ${bound ? 'of one task' : 'unclaimed'}, and a redelivery changes nothing`, async () => {
    const place = new Installation();
    let calls = 0;
    place.model.answer = () => {
      calls += 1;
      return calls === 1 && unit === 'turn.step' ? asks(['look', {}]) : says('ok');
    };
    place.assessor.answer = () => judges('inconclusive');
    const { store, died } = dyingAt(place, unit, mishap);
    const dead = await place.host({ store });
    const conversationId = await talkTo(dead);
    const messageId = await say(dead, conversationId, 'hello', { externalId: 'x1' });
    await died;
    await pass();
    const [message, ...others] = await place.rows('message');
    assert.deepEqual(others, []);
    const tasks = await place.rows('task');
    assert.deepEqual(
      [message?.['task_id'], tasks.length],
      bound ? [tasks[0]?.['id'], 1] : [null, 0],
    );
    if (!bound) assert.equal(message?.['state'], 'unclaimed');
    const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
    await restOf(engine);
    await eventually(async () =>
      (await place.rows('task')).every((task) => task['wait_kind'] !== 'assessment'),
    );
    const before = await everyRow(place);
    const again = await engine.acceptMessage({
      conversationId,
      text: 'hello',
      principal: ANNA,
      externalId: 'x1',
    });
    await restOf(engine);
    assert.deepEqual(
      [again.kind, 'messageId' in again && again.messageId],
      ['accepted', messageId],
    );
    assert.deepEqual(await everyRow(place), before);
    assert.equal((await place.rows('task')).length, 1);
    assert.equal((await place.rows('outbox')).length, 1, 'one last word');
    await engine.stop(0);
  });
}

test("T-1 a run's task, message and run stand in the one commit that accepts it", async () => {
  for (const mishap of ['hangs', 'hangs-after'] as const) {
    const place = new Installation();
    const { store, died } = dyingAt(place, 'run.accept', mishap);
    const dead = await place.host({ store });
    void dead.acceptRun({ input: 'hello', principal: ANNA });
    await died;
    await pass();
    const counts = await Promise.all(
      ['message', 'task', 'run'].map(async (table) => (await place.rows(table)).length),
    );
    assert.deepEqual(counts, mishap === 'hangs' ? [0, 0, 0] : [1, 1, 1]);
    const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
    await restOf(engine);
    const [task] = await place.rows('task');
    const [message] = await place.rows('message');
    assert.equal(message?.['task_id'], task?.['id']);
    assert.equal(task?.['state'], mishap === 'hangs' ? undefined : 'completed');
    await engine.stop(0);
  }
});

async function redeliver(
  engine: Engine,
  conversationId: ConversationId,
  messageId: MessageId,
): Promise<void> {
  for (const principal of [ANNA, BEN, ADMIN]) {
    for (const text of ['hello', 'another body', '/stop all']) {
      const asked = { conversationId, text, principal, externalId: 'x1' };
      const verdict = await engine.acceptMessage(asked);
      if (verdict.kind !== 'accepted') assert.fail(verdict.code);
      assert.equal(verdict.messageId, messageId);
      assert.equal(verdict.repeated, true);
    }
  }
}

test('I-1 a redelivered external id changes nothing, whatever its body, state or host', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host({ options: { ...OPTIONS, concurrentConversations: 1 } });
  const busy = await talkTo(engine, 'busy');
  await say(engine, busy, 'think');
  await call.begun;
  const conversationId = await talkTo(engine);
  const messageId = await say(engine, conversationId, 'hello', { externalId: 'x1' });
  const again = async (host: Engine): Promise<void> => {
    const before = await everyRow(place);
    await redeliver(host, conversationId, messageId);
    await pass();
    assert.deepEqual(await everyRow(place), before);
  };
  const stateOf = async () => (await engine.store.query('message.byId', { id: messageId }))?.state;
  assert.equal(await stateOf(), 'unclaimed');
  await again(engine);
  const second = heldCall();
  place.model.answer = () => second.hold();
  call.release(says('thought'));
  await second.begun;
  assert.equal(await stateOf(), 'claimed');
  await again(engine);
  second.release(says('hello'));
  await taskIn(engine, conversationId, 'completed');
  await restOf(engine);
  await again(engine);
  await engine.stop(0);
  const next = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await again(next);
  await next.stop(0);
});

test('I-1 the pair of channel and external id is unique, in parallel too, and another channel is another message', async () => {
  const place = new Installation();
  const engine = await place.host();
  const one = await talkTo(engine);
  const verdicts = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      engine.acceptMessage({
        conversationId: one,
        text: `try ${index}`,
        principal: ANNA,
        externalId: 'x1',
      }),
    ),
  );
  const ids = new Set(verdicts.map((verdict) => 'messageId' in verdict && verdict.messageId));
  assert.equal(ids.size, 1);
  assert.equal(verdicts.filter((verdict) => 'repeated' in verdict && !verdict.repeated).length, 1);
  const terminal = await engine.openConversation({ channel: 'terminal', principal: ADMIN });
  await say(engine, terminal, 'hello', { externalId: 'x1', principal: ADMIN });
  await restOf(engine);
  assert.equal((await place.rows('message')).length, 2);
  assert.equal((await place.rows('outbox')).length, 2);
  await engine.stop(0);
});

test('I-2 the inbox accepts while the model is down, busy or refused, and behind a blocked task', async () => {
  const place = new Installation();
  const call = heldCall();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  place.model.answer = () => says('');
  await say(engine, conversationId, 'blocked');
  await taskIn(engine, conversationId, 'blocked');
  for (const kind of ['refused', 'nonsense'] as const) {
    place.model.answer = () => fails(kind, 'down');
    await say(engine, conversationId, `while it is ${kind}`);
    await restOf(engine);
  }
  place.model.answer = () => fails('transient', 'down');
  const isWaiting = async (count: number) => {
    const tasks = await place.rows('task');
    return tasks.filter((task) => task['reason'] === 'awaits_provider').length === count;
  };
  await say(engine, conversationId, 'while it is away');
  await inTime(place, () => isWaiting(1));
  const asked = place.model.requests.length;
  await say(engine, conversationId, 'while it is known to be away');
  await restOf(engine);
  assert.ok(await isWaiting(2));
  assert.equal(place.model.requests.length, asked);
  place.model.answer = (request) =>
    askedIn(request) === 'while it hangs' ? call.hold() : says(`answer to ${askedIn(request)}`);
  await inTime(place, () => isWaiting(0));
  await restOf(engine);
  await say(engine, conversationId, 'while it hangs');
  await call.begun;
  const kept = await say(engine, conversationId, 'kept meanwhile');
  assert.equal((await engine.store.query('message.byId', { id: kept }))?.state, 'unclaimed');
  call.release(says('answer to the one that hung'));
  await restOf(engine);
  const messages = await place.rows('message');
  assert.ok(messages.every((message) => message['state'] === 'done'));
  const answered = messages.filter((message) => message['kind'] === 'genuine');
  assert.equal(answered.length, 7);
  // The last was said before the one that hung was answered, and has its own answer all the same.
  assert.equal(new Set(answered.map((message) => message['answer_id'])).size, 7);
  await engine.stop(0);
});

test('I-2 the inbox accepts while the host drains and after, and the next host answers it', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'before');
  await call.begun;
  const stopping = engine.stop(60_000);
  assert.equal(engine.health().state, 'draining');
  const ids = [await say(engine, conversationId, 'while it drains')];
  const run = await order(engine, 'a run while it drains');
  call.release(says('done before the end'));
  await stopping;
  assert.equal(engine.health().state, 'stopped');
  ids.push(await say(engine, conversationId, 'after it'), run.messageId);
  for (const id of ids)
    assert.equal((await place.store.query('message.byId', { id }))?.state, 'unclaimed');
  assert.equal(place.model.requests.length, 1, 'a host that drains takes up nothing');
  place.model.answer = () => says('here');
  const next = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await restOf(next);
  for (const id of ids)
    assert.equal((await place.store.query('message.byId', { id }))?.state, 'done');
  await next.stop(0);
});
