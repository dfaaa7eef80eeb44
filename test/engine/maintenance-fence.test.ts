// What a conversation does behind its fence, and what goes on behind it once that has opened (M-8, M-11, M-12).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId, RunId, TaskId } from '../../src/kernel/ids.ts';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { EXHAUSTED, putOperation } from '../http/upkeep.ts';
import { eventually, order, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  asks,
  BEN,
  fails,
  Installation,
  judges,
  OPTIONS,
  says,
  sumsUp,
  taskIn,
} from '../support/host.ts';
import {
  comesTo,
  elapse,
  later,
  messagesOf,
  noticesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
} from './maintenance-support.ts';
import { codesOf, cutWork, eventsOf, taskOf } from './recovery-support.ts';

const MINUTES_MS = 130_000;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** A conversation whose compact fails for as long as the summary model does. */
async function waitingFence(options: EngineOptions = ONE_BY_ONE): Promise<Stand> {
  const place = new Installation();
  place.summariser.answer = () => fails('transient', 'http_500');
  const engine = await place.host({ options });
  const here = await talkTo(engine);
  place.model.answer = () => saysFull('read');
  await say(engine, here, 'the first');
  await comesTo(engine, here, 'waiting');
  place.model.answer = ({ messages }) => says(`to: ${messages.at(-1)?.text}`);
  return { place, engine, here };
}

async function blockedFence(): Promise<Stand & { readonly operation: OperationRecord }> {
  const stand = await waitingFence();
  await elapse(stand.place, MINUTES_MS);
  const operation = await operationOf(stand.place, stand.here);
  assert.equal(operation.state, 'blocked');
  return { ...stand, operation };
}

/** The provider of summaries is back, and an admin admits. */
async function opened({ place, engine, here }: Stand): Promise<void> {
  place.summariser.answer = () => sumsUp('all of it');
  const { id: operationId, version: expectedVersion, state } = await operationOf(place, here);
  if (state === 'blocked') {
    const given = { operationId, expectedVersion, receiptId: 'receipt 1' };
    await engine.admit({ ...given, principal: ADMIN, channel: 'api' });
  }
  await elapse(place, 65 * SECOND);
  await comesTo(engine, here, 'done');
  await restOf(engine);
}

async function runOf({ place }: Stand, id: RunId) {
  const run = await place.store.query('run.byId', { id });
  assert.ok(run);
  return run;
}

async function lastAnswer(place: Installation, here: ConversationId): Promise<string> {
  const rows = (await place.rows('outbox')).filter(
    (row) => row['kind'] === 'answer' && row['conversation_id'] === here,
  );
  return wordsOf(rows.at(-1) ?? {});
}

describe('behind a fence', () => {
  for (const level of ['waiting', 'blocked'] as const)
    test(`M-8 M-12 that is ${level} messages are kept in order, commands are answered, and no turn begins`, async () => {
      const stand = level === 'waiting' ? await waitingFence() : await blockedFence();
      const { place, engine, here } = stand;
      const asked = place.model.requests.length;
      const classified = place.classifier.requests.length;
      const words = ['one', 'two', 'three', 'four'];
      for (const [index, text] of words.entries())
        await say(engine, here, text, { principal: index % 2 === 0 ? ANNA : BEN });
      await later(place, 0);
      for (const command of ['/status', '/tasks', '/help', '/session']) {
        await say(engine, here, command);
        await restOf(engine);
        assert.notEqual(await lastAnswer(place, here), '', command);
      }
      assert.equal(place.model.requests.length, asked, 'no working turn');
      assert.equal(place.classifier.requests.length, classified, 'nothing is assigned to a task');
      const kept = (await messagesOf(place, here)).slice(1);
      assert.deepEqual(
        kept.map(({ text, state, task_id: taskId }) => [text, state, taskId]),
        words.map((text) => [text, 'unclaimed', null]),
      );
      assert.equal((await place.rows('operation')).length, 1, 'no other operation');
      await opened(stand);
      assert.deepEqual(await repliesIn(place, here), [
        'read',
        ...words.map((text) => `to: ${text}`),
      ]);
      const answered = (await messagesOf(place, here)).map(({ state }) => state);
      assert.deepEqual(answered, ['done', 'done', 'done', 'done', 'done']);
    });

  test('M-12 the latest words that were kept are what the next turn answers, together where they steer', async () => {
    const stand = await waitingFence(OPTIONS);
    const { place, engine, here } = stand;
    for (const text of ['one', 'two', 'three']) await say(engine, here, text);
    await opened(stand);
    const replies = await repliesIn(place, here);
    assert.equal(replies.at(-1), 'to: three');
    const rows = await messagesOf(place, here);
    assert.ok(rows.every(({ state }) => state === 'done'));
    const places = rows.map((row) => Number(row['claimed_seq']));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      'in their order',
    );
  });

  test('the other conversations go on', async () => {
    const { place, engine, here } = await blockedFence();
    const elsewhere = await talkTo(engine, 'elsewhere');
    await say(engine, elsewhere, 'and here?');
    await say(engine, here, 'still there?');
    await restOf(engine);
    assert.deepEqual(await repliesIn(place, elsewhere), ['to: and here?']);
    assert.deepEqual(await repliesIn(place, here), ['read']);
    assert.equal((await engine.recoveryStatus(elsewhere)).state, 'none');
  });
});

describe('runs behind a fence', () => {
  test('M-11 V10 stay open on the waiting notice and end on the blocked one; what is kept is answered after an admission', async () => {
    const stand = await waitingFence();
    const { place, engine, here } = stand;
    const early = await order(engine, 'the early run', here);
    await elapse(place, 6 * SECOND);
    const late = await order(engine, 'the late run', here);
    const [waiting] = await noticesOf(place, here);
    assert.equal(waiting?.['code'], 'maintenance_waiting');
    for (const { runId, taskId } of [early, late]) {
      const { state, outcomeCode } = await runOf(stand, runId);
      assert.deepEqual([state, outcomeCode], ['open', null]);
      assert.equal((await taskOf(place, taskId)).state, 'active');
      const told = await eventsOf(place, taskId, 'run.told');
      assert.deepEqual(
        told.map((event) => event['outboxId']),
        [waiting['id']],
      );
    }
    await elapse(place, MINUTES_MS);
    const [, blocked] = await noticesOf(place, here);
    for (const { runId, taskId } of [early, late]) {
      const { state, outcomeCode, outcomeId, endedAt } = await runOf(stand, runId);
      assert.deepEqual([state, outcomeCode, outcomeId], ['failed', 'exhausted', blocked?.['id']]);
      assert.notEqual(endedAt, null);
      assert.equal((await taskOf(place, taskId)).state, 'active', 'its message is kept');
    }
    const behind = await order(engine, 'the run behind the block', here);
    const { state, outcomeCode, outcomeId } = await runOf(stand, behind.runId);
    assert.deepEqual([state, outcomeCode, outcomeId], ['failed', 'exhausted', blocked?.['id']]);
    await opened(stand);
    const texts = ['the early run', 'the late run', 'the run behind the block'];
    assert.deepEqual(await repliesIn(place, here), ['read', ...texts.map((text) => `to: ${text}`)]);
    for (const { runId, taskId } of [early, late, behind]) {
      assert.equal((await taskOf(place, taskId)).state, 'completed');
      const end = await runOf(stand, runId);
      assert.deepEqual([end.state, end.outcomeCode], ['failed', 'exhausted'], 'its end stands');
    }
  });

  test('go on where the operation is done before it is blocked', async () => {
    const stand = await waitingFence();
    const { place, engine, here } = stand;
    const { runId } = await order(engine, 'the run', here);
    await elapse(place, 6 * SECOND);
    await opened(stand);
    const { state, outcomeCode } = await runOf(stand, runId);
    assert.deepEqual([state, outcomeCode], ['completed', null]);
    assert.deepEqual(await toldOf(place, here), ['maintenance_waiting', 'maintenance_over']);
  });

  test('end with the reason of a block that an import brought', async () => {
    const place = new Installation();
    const engine = await place.host();
    const here = await talkTo(engine);
    await putOperation({ engine, installation: place }, here, EXHAUSTED);
    const { runId } = await order(engine, 'the run', here);
    const run = await runOf({ place, engine, here }, runId);
    assert.deepEqual([run.state, run.outcomeCode], ['failed', 'exhausted']);
    const notice = (await place.rows('outbox')).find(({ id }) => id === run.outcomeId);
    assert.equal(notice?.['code'], 'maintenance_exhausted');
  });
});

/** A conversation with work of Anna's that stands still for what this call asks for, behind a fence. */
async function openWork(
  call: readonly [name: string, args: unknown],
  text: string,
): Promise<Stand & { readonly taskId: TaskId }> {
  const place = new Installation();
  place.summariser.answer = () => fails('transient', 'http_500');
  place.tools.asked.add('pay');
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  place.model.answer = () => asks(call);
  await say(engine, here, text);
  const { id: taskId } = await taskIn(engine, here, 'waiting');
  place.model.answer = () => saysFull('read');
  await say(engine, here, 'something else', { principal: BEN });
  await comesTo(engine, here, 'waiting');
  place.model.answer = ({ messages }) => says(`to: ${messages.at(-1)?.text.slice(0, 20)}`);
  return { place, engine, here, taskId };
}

describe('open work behind a fence', () => {
  test('M-8 an approval is answered, and its call runs once the fence has opened', async () => {
    const stand = await openWork(['pay', { amount: 1 }], 'pay it');
    const { place, engine, here, taskId } = stand;
    const [approval] = await place.rows('approval');
    const verdict = await engine.answerApproval({
      approvalId: approval?.['id'] as never,
      decision: 'approve',
      principal: ANNA,
      channel: 'api',
    });
    assert.equal(verdict.kind, 'answered');
    await later(place, 0);
    assert.deepEqual(place.tools.ran, []);
    await opened(stand);
    assert.equal(place.tools.ran.length, 1);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
    assert.equal((await repliesIn(place, here)).length, 2);
  });

  test('M-8 an instant that comes wakes its task once the fence has opened', async () => {
    const stand = await openWork(['task_wait', { for: 'instant', seconds: 20 }], 'remind me');
    const { place, taskId } = stand;
    const asked = place.model.requests.length;
    await elapse(place, 40 * SECOND);
    assert.equal(place.model.requests.length, asked);
    await opened(stand);
    assert.equal((await taskOf(place, taskId)).state, 'completed');
  });

  test('a stop ends a task and what was kept for it, at once', async () => {
    const stand = await openWork(['task_wait', { for: 'answer', question: 'Which?' }], 'ask me');
    const { place, engine, here, taskId } = stand;
    await say(engine, here, `/stop ${taskId}`);
    await restOf(engine);
    assert.equal((await taskOf(place, taskId)).state, 'stopped');
    const { runId, taskId: parked } = await order(engine, 'a run', here);
    await engine.cancelRun({ runId, principal: ANNA });
    assert.equal((await runOf(stand, runId)).state, 'cancelled');
    assert.equal((await taskOf(place, parked)).state, 'cancelled');
    const asked = place.model.requests.length;
    await opened(stand);
    assert.equal(place.model.requests.length, asked, 'nothing is left to answer');
    assert.equal((await engine.recoveryStatus(here)).state, 'none');
  });

  test('a stop of everything leaves nothing kept', async () => {
    const stand = await blockedFence();
    const { place, engine, here } = stand;
    for (const text of ['one', 'two']) await say(engine, here, text);
    await say(engine, here, '/stop all', { principal: ADMIN });
    await restOf(engine);
    const asked = place.model.requests.length;
    await opened(stand);
    assert.equal(place.model.requests.length, asked);
    assert.deepEqual(await repliesIn(place, here), ['read']);
  });

  test('interrupted work is assessed once the fence has opened', async () => {
    const place = new Installation();
    place.assessor.answer = () => judges('continue');
    const { taskId, conversationId: here } = await cutWork(place);
    const { store } = place;
    await putOperation({ engine: { store } as Engine, installation: place }, here, EXHAUSTED);
    const engine = await place.host();
    await elapse(place, 3 * 60 * SECOND);
    assert.equal(place.assessor.requests.length, 0);
    assert.equal((await taskOf(place, taskId)).recoveryAttempts, 0);
    await opened({ place, engine, here });
    await eventually(async () => (await taskOf(place, taskId)).state === 'completed');
    assert.equal(place.assessor.requests.length, 1);
    assert.deepEqual((await codesOf(place, taskId)).includes('recovery_assessment_failed'), false);
  });

  test('a deadline that has passed ends its task as soon as the fence has opened', async () => {
    const stand = await waitingFence({ ...ONE_BY_ONE, deadlineMs: HOUR });
    const { place, engine, here } = stand;
    const { taskId } = await order(engine, 'a run', here);
    const asked = place.model.requests.length;
    await later(place, HOUR);
    await elapse(place, MINUTES_MS);
    await opened(stand);
    assert.equal((await taskOf(place, taskId)).state, 'expired');
    assert.equal(place.model.requests.length, asked);
  });
});
