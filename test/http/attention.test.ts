import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR } from '../../src/kernel/time.ts';
import type { AttentionItem } from '../../src/wire/status.ts';
import { asks, fails, says, taskIn } from '../support/host.ts';
import { openDoor, type TestDoor } from './door.ts';

async function items(door: TestDoor): Promise<readonly AttentionItem[]> {
  const { items: found } = await door.client('reader').attention();
  const { attention } = await door.client('reader').status();
  assert.equal(attention, found.length);
  return found;
}

async function begin(door: TestDoor, input: string): Promise<[string, ConversationId]> {
  const { taskId, conversationId } = await door.client('runner').createRun({ input });
  return [taskId, conversationId as ConversationId];
}

/** What a reader acts on: the sentence is held by the tests of the texts. */
function acts(found: readonly AttentionItem[]): readonly object[] {
  return found.map(({ sentence, ...rest }) => {
    assert.match(sentence, /\S{3}/);
    return rest;
  });
}

describe('what waits for a person', () => {
  test('is a blocked task, with the command that leaves it', async (context) => {
    const door = await openDoor(context);
    assert.deepEqual(await items(door), []);
    door.installation.model.answer = () => says('');
    const [taskId, conversation] = await begin(door, 'count');
    await taskIn(door.engine, conversation, 'blocked');
    const command = `/task-resume ${taskId}`;
    const about = { code: 'no_outcome', subjectId: taskId, command, taskId };
    const waiting = await items(door);
    assert.deepEqual(acts(waiting), [{ level: 'blocked', ...about }]);
    assert.doesNotMatch(waiting[0]?.sentence ?? '', /Left:/);
  });

  test('is a call that needs an approval, once and not also its task', async (context) => {
    const door = await openDoor(context);
    door.installation.tools.asked.add('pay');
    door.installation.model.answer = () => asks(['pay', { to: 'the landlord' }]);
    const [taskId, conversation] = await begin(door, 'pay the rent');
    await taskIn(door.engine, conversation, 'waiting');
    const found = await items(door);
    const [approval] = (await door.client('reader').approvals()).items;
    const id = approval?.id ?? '';
    const about = { level: 'waiting', code: 'awaits_approval', subjectId: id, taskId };
    assert.deepEqual(acts(found), [{ ...about, command: `/approve ${id}` }]);
    assert.match(found[0]?.sentence ?? '', /the landlord/);
    assert.equal((await door.client('reader').status()).approvals, 1);
  });

  test('is a question, which words answer and no command', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () =>
      asks(['task_wait', { for: 'answer', question: 'Which March?' }]);
    const [taskId, conversation] = await begin(door, 'summarise March');
    await taskIn(door.engine, conversation, 'waiting');
    const found = await items(door);
    const about = { code: 'awaits_answer', subjectId: taskId, command: null, taskId };
    assert.deepEqual(acts(found), [{ level: 'waiting', ...about }]);
    assert.match(found[0]?.sentence ?? '', /Which March\?/);
    const { waitsFor } = await door.client('reader').task(taskId);
    assert.deepEqual([waitsFor?.kind, waitsFor?.question], ['answer', 'Which March?']);
  });

  test('is no task that goes on by itself', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 600 }]);
    const [, conversation] = await begin(door, 'later');
    await taskIn(door.engine, conversation, 'waiting');
    assert.deepEqual(await items(door), []);
  });

  test('is an account whose key was refused, as status tells it too', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => fails('refused', 'http_401', { scope: 'account' });
    const [, conversation] = await begin(door, 'x');
    await taskIn(door.engine, conversation, 'failed');
    const [item, ...others] = await items(door);
    assert.equal(others.length, 0);
    assert.deepEqual([item?.level, item?.code], ['blocked', 'provider_refused']);
    const [limiter] = (await door.client('reader').status()).limiters;
    assert.deepEqual(
      [limiter?.account, limiter?.state, limiter?.code],
      [item?.subjectId, 'refused', 'http_401'],
    );
    const { provider, name } = door.installation.model;
    assert.deepEqual(limiter?.models, [`${provider}/${name}`]);
    assert.ok(item?.sentence.includes(`${provider}/${name} refuses the key`), item?.sentence);
    door.installation.clock.advance(HOUR);
    assert.deepEqual((await door.client('reader').status()).limiters, []);
    assert.deepEqual(await items(door), []);
  });
});

describe('design principle 8: a clock that is not believed', () => {
  test('waits for a person, who says that it is right', async (context) => {
    const door = await openDoor(context);
    const untouched = await door.client('reader').status();
    assert.deepEqual(untouched.clock, { trusted: true, driftMs: 0, until: null });
    await assert.rejects(door.client().confirmClock(), { status: 409, code: 'clock_trusted' });
    door.installation.clock.jump(3 * HOUR);
    door.installation.clock.advance(30_000);
    await poll(async () => !(await door.client('reader').status()).clock.trusted);
    const [item] = await items(door);
    assert.deepEqual(
      [item?.level, item?.code, item?.command],
      ['escalation', 'clock_distrusted', '/clock confirm'],
    );
    await assert.rejects(door.client('runner').confirmClock(), { status: 403 });
    const wrong = await door.ask('POST', '/v1/admin/clock', { key: 'ops', body: { confirm: 1 } });
    assert.equal(wrong.status, 422);
    assert.equal((await door.client().confirmClock()).trusted, true);
    assert.deepEqual(await items(door), []);
  });
});

/** The look of the host at its clock gives no hint that could be awaited; requests let it happen. */
async function poll(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) if (await holds()) return;
  assert.fail('it never held');
}

describe('a run that asks', () => {
  test('tells its question on its stream, and goes on with the answer', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = ({ messages }) =>
      messages.some((message) => message.role === 'user' && message.text.includes('2026'))
        ? says('Here it is.')
        : asks(['task_wait', { for: 'answer', question: 'Which March?' }]);
    const client = door.client('runner');
    const { id } = await client.createRun({ input: 'summarise March' });
    const told: string[] = [];
    for await (const event of client.runEvents(id)) {
      if (event.type === 'message') {
        told.push(`${event.role}: ${event.text}`);
        await client.messageRun(id, 'That of 2026.');
      }
      if (event.type === 'run.completed') told.push(event.output);
    }
    assert.deepEqual(told, ['assistant: Which March?', 'Here it is.']);
  });
});

test('T-20: usage is summed by day, model and task, for an admin', async (context) => {
  const door = await openDoor(context);
  const none = await door.client().usage({ days: 2 });
  assert.deepEqual(none.total, {
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    calls: 0,
    unpricedCalls: 0,
  });
  const { model, clock } = door.installation;
  const [, first] = await begin(door, 'first');
  await taskIn(door.engine, first, 'completed');
  clock.advance(24 * HOUR);
  model.answer = () => {
    const outcome = says('dear');
    return outcome.kind === 'reply'
      ? { ...outcome, model: 'unpriced', usage: { inputTokens: 7, outputTokens: 1, cost: null } }
      : outcome;
  };
  const [second, conversation] = await begin(door, 'second');
  await taskIn(door.engine, conversation, 'completed');
  const usage = await door.client().usage({ days: 2 });
  assert.deepEqual(
    usage.days.map(({ inputTokens, outputTokens, costUsd, calls, unpricedCalls, models }) => [
      inputTokens,
      outputTokens,
      costUsd,
      calls,
      unpricedCalls,
      models.map((one) => one.model),
    ]),
    [
      [7, 1, null, 1, 1, ['unpriced']],
      [10, 5, 0.000_003, 1, 0, ['reported-model']],
    ],
  );
  assert.deepEqual([usage.total.costUsd, usage.total.unpricedCalls], [0.000_003, 1]);
  assert.deepEqual(
    usage.tasks.map(({ request }) => request),
    ['first', 'second'],
  );
  assert.equal(usage.tasks[1]?.taskId, second);
  for (const key of ['runner', 'reader'] as const) {
    await assert.rejects(
      door.client(key).usage(),
      (no) => no instanceof ApiProblem && no.status === 403,
    );
  }
  for (const days of ['0', '93', '-1', 'x', '1.5']) {
    const answer = await door.ask('GET', `/v1/usage?days=${days}`, { key: 'ops' });
    assert.equal(answer.status, 400, days);
  }
});
