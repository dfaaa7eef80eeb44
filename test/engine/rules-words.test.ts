import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TurnEnd } from '../../src/core/turn/record.ts';
import { ANNA, fails, Installation, OPTIONS, says } from '../support/host.ts';
import { order, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { never, WAYS } from './rules-words-ways.ts';

/** Each end that a turn can have. */
const ENDS = {
  answered: true,
  waited: true,
  continued: true,
  parked: true,
  yielded: true,
  blocked: true,
  failed: true,
  invalid: true,
  stopped: true,
  interrupted: true,
} as const satisfies Record<TurnEnd, true>;
const met = new Set<string>();

for (const row of WAYS) {
  test(`T-16 a turn that ${row.way} leaves exactly one last word in its conversation`, async () => {
    const place = new Installation();
    row.script(place);
    const engine = await place.host({ options: { ...OPTIONS, ...row.options } });
    const conversationId = await talkTo(engine);
    await say(engine, conversationId, 'Pay the bill');
    const next = (await row.meanwhile?.({ place, engine, conversationId })) ?? engine;
    await restOf(next);
    const [task] = await place.rows('task');
    assert.equal(task?.['state'], row.state);
    const said = await place.rows('outbox');
    const codes = [...(row.isAsked === true ? ['uncertain_effect'] : []), row.code];
    assert.deepEqual(
      said.map((entry) => [entry['task_id'], entry['code'], entry['conversation_id']]),
      codes.map((code) => [row.isPaused === true ? null : task?.['id'], code, conversationId]),
    );
    const last = said.at(-1);
    assert.match(wordsOf(last ?? {}), row.says);
    assert.equal(last?.['state'], 'delivered');
    const turns = await place.rows('turn');
    assert.ok(turns.every((turn) => turn['state'] === 'ended'));
    for (const turn of turns) met.add(String(turn['end']));
    const conversation = await next.store.query('conversation.byId', { id: conversationId });
    assert.equal(conversation?.turnId, null, 'the conversation is free for what comes next');
    place.model.answer = () => says('next');
    await say(next, conversationId, 'and now?');
    await restOf(next);
    assert.equal((await place.rows('outbox')).length, codes.length + 1);
    await next.stop(0);
  });
}

test('the ways above meet every end that a turn can have', () => {
  assert.deepEqual([...met].toSorted(), Object.keys(ENDS).toSorted());
});

test('T-16 what is cancelled or stopped before a turn took it up has its last word too', async () => {
  const place = new Installation();
  place.model.answer = () => never;
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Think');
  const cancelled = await order(engine, 'Cancel me', conversationId);
  const stopped = await order(engine, 'Stop me', conversationId);
  await engine.cancelRun({ runId: cancelled.runId, principal: ANNA });
  await engine.stopTask({ taskId: stopped.taskId, principal: ANNA, channel: 'api' });
  for (const [{ taskId, messageId, runId }, code] of [
    [cancelled, 'cancelled'],
    [stopped, 'stopped'],
  ] as const) {
    const said = (await place.rows('outbox')).filter((entry) => entry['task_id'] === taskId);
    assert.deepEqual(
      said.map((entry) => entry['code']),
      [code],
    );
    const message = await engine.store.query('message.byId', { id: messageId });
    const run = await engine.store.query('run.byId', { id: runId });
    assert.deepEqual([message?.answerId, run?.outcomeId], [said[0]?.['id'], said[0]?.['id']]);
    assert.equal(run?.state, 'cancelled');
  }
});

test('T-16 what was read before an answer is closed by it, what joined the task by its last word', async () => {
  for (const ending of [says('All done.'), fails('refused', 'http_401')]) {
    const place = new Installation();
    const asked = Promise.withResolvers<void>();
    const first = Promise.withResolvers<ReturnType<typeof says>>();
    place.model.answer = () => {
      asked.resolve();
      return place.model.requests.length === 1 ? first.promise : ending;
    };
    const engine = await place.host();
    const run = await order(engine, 'One');
    await asked.promise;
    for (const text of ['Two', 'Three'])
      await engine.messageRun({ runId: run.runId, text, principal: ANNA });
    first.resolve(says('so far'));
    await restOf(engine);
    const said = await place.rows('outbox');
    const [soFar, last] = said.map(({ id }) => id);
    assert.equal(said.length, 2);
    assert.equal(said[0]?.['text'], 'so far');
    const answers = (await place.rows('message')).map((message) => message['answer_id']);
    assert.deepEqual(answers, [soFar, last, last]);
    await engine.stop(0);
  }
});
