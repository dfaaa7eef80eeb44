import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { RunReply } from '../../src/wire/run.ts';
import type { ConversationId, RunId } from '../../src/kernel/ids.ts';
import { asks, fails, says, until } from '../support/host.ts';
import { codeOf, openDoor, SECRETS, type TestDoor } from './door.ts';

/** The run once it has ended, waited for by hints. */
async function ended(door: TestDoor, id: string): Promise<RunReply> {
  const run = await door.client().run(id);
  await until(door.engine, run.conversationId as ConversationId, async () => {
    const row = await door.engine.store.query('run.byId', { id: id as RunId });
    return row?.state !== 'open';
  });
  return door.client().run(id);
}

/** A model call that stays open until the test lets it go. */
function heldCall(door: TestDoor): { begun: Promise<void>; release: () => void } {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  door.installation.model.answer = async (_request, signal) => {
    begun.resolve();
    signal.addEventListener('abort', () => held.resolve());
    await held.promise;
    return says('late');
  };
  return { begun: begun.promise, release: () => held.resolve() };
}

describe('a run over HTTP', () => {
  test('A-1: is accepted with 202 and answered by id', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => says('four');
    const answer = await door.ask('POST', '/v1/runs', {
      key: 'runner',
      body: { input: 'two and two?', metadata: { from: 'test' } },
    });
    assert.equal(answer.status, 202);
    const { id, status, conversationId, taskId, ...rest } = answer.json;
    assert.deepEqual(rest, {});
    assert.equal(status, 'queued');
    assert.match(
      `${String(id)} ${String(conversationId)} ${String(taskId)}`,
      /^run_\w{16} conv_\w{16} task_\w{16}$/,
    );
    const run = await ended(door, String(id));
    assert.equal(run.status, 'completed');
    assert.equal(run.output, 'four');
    assert.equal(run.outcome, null);
    assert.deepEqual(run.metadata, { from: 'test' });
    assert.deepEqual(run.usage, { inputTokens: 10, outputTokens: 5, costUsd: 0.000003 });
    assert.match(run.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.notEqual(run.endedAt, null);
  });

  test('`wait` answers 200 once the run has ended', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => says('soon');
    const answer = await door.ask('POST', '/v1/runs', {
      key: 'runner',
      body: { input: 'x', wait: 300 },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.json['status'], 'completed');
    assert.equal(answer.json['output'], 'soon');
  });

  test('`wait` that runs out answers 202 with where the run is', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const waiting = door.ask('POST', '/v1/runs', { key: 'runner', body: { input: 'x', wait: 7 } });
    await call.begun;
    door.installation.clock.advance(7_000);
    const answer = await waiting;
    assert.equal(answer.status, 202);
    assert.equal(answer.json['status'], 'running');
    call.release();
  });

  test('INC-035: the same key and body twenty times at once make one run', async (context) => {
    const door = await openDoor(context);
    const asked = {
      key: 'runner',
      body: { input: 'once', metadata: { b: '1', a: '2' } },
      headers: { 'Idempotency-Key': 'order-7' },
    } as const;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => door.ask('POST', '/v1/runs', asked)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const [first] = answers;
    await ended(door, String(first?.json['id']));
    assert.equal((await door.counts())['run'], 1);
    assert.equal(door.installation.model.requests.length, 1);
    // The order of the keys is not the body, and the end of the run does not change the answer.
    const again = await door.ask('POST', '/v1/runs', {
      ...asked,
      body: { metadata: { a: '2', b: '1' }, input: 'once' },
    });
    assert.equal(again.status, 202);
    assert.equal(again.text, first?.text);
    const other = await door.ask('POST', '/v1/runs', { ...asked, body: { input: 'twice' } });
    assert.equal(other.status, 409);
    assert.equal(codeOf(other), 'idempotency_conflict');
    // Another caller's key of the same name is another key.
    const foreign = await door.ask('POST', '/v1/runs', { ...asked, key: 'other' });
    assert.notEqual(foreign.json['id'], first?.json['id']);
  });

  test('the same key on another route is another body', async (context) => {
    const door = await openDoor(context);
    const headers = { 'Idempotency-Key': 'k' };
    const { conversationId } = (
      await door.ask('POST', '/v1/runs', { key: 'ops', body: { input: 'x' }, headers })
    ).json;
    const path = `/v1/conversations/${String(conversationId)}/messages`;
    const answer = await door.ask('POST', path, { key: 'ops', body: { text: 'x' }, headers });
    assert.equal(codeOf(answer), 'idempotency_conflict');
  });

  test('INC-035: a caller that goes away cancels nothing', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const body = JSON.stringify({ input: 'long', wait: 300 });
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /v1/runs HTTP/1.1\r\nHost: ${door.host}\r\nAuthorization: Bearer ${SECRETS.runner}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await call.begun;
    socket.destroy();
    call.release();
    const { items } = await door.client().runs();
    assert.equal(items.length, 1);
    const run = await ended(door, items[0]?.id ?? '');
    assert.equal(run.status, 'completed');
    assert.equal(run.output, 'late');
  });

  test('INC-035: cancel ends an open run, keeps an end, and knows no unknown id', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const client = door.client('runner');
    const { id } = await client.createRun({ input: 'long' });
    await call.begun;
    const cancelled = await door.ask('POST', `/v1/runs/${id}/cancel`, { key: 'runner' });
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.json['status'], 'cancelled');
    const { code, message } = cancelled.json['outcome'] as { code: string; message: string };
    assert.match(code, /^\w+$/);
    assert.notEqual(message, '');

    door.installation.model.answer = () => says('done');
    const { id: other } = await client.createRun({ input: 'short', wait: 300 });
    const kept = await client.cancelRun(other);
    assert.equal(kept.status, 'completed');
    assert.equal(kept.output, 'done');

    const unknown = await door.ask('POST', '/v1/runs/run_0000000000000000/cancel', {
      key: 'runner',
    });
    assert.equal(unknown.status, 404);
    assert.equal(codeOf(unknown), 'not_found');
  });

  test('A-2: a failed model call fails the run with its code', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => fails('refused', 'http_401');
    const { id } = await door.client('runner').createRun({ input: 'x' });
    const run = await ended(door, id);
    assert.equal(run.status, 'failed');
    assert.equal(run.outcome?.code, 'model_refused');
    assert.match(run.outcome?.message ?? '', /http_401/);
  });

  test('A-2: a blocked task ends its run, and the run tells of the task that stays', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => says('');
    const { id } = await door.client('runner').createRun({ input: 'x' });
    const run = await ended(door, id);
    assert.equal(run.status, 'failed');
    assert.equal(run.outcome?.code, 'no_outcome');
    assert.match(run.outcome?.message ?? '', /\/stop task_/);
    assert.deepEqual(run.later, { taskState: 'blocked' });
    const late = await door.ask('POST', `/v1/runs/${id}/messages`, {
      key: 'runner',
      body: { text: 'and?' },
    });
    assert.equal(late.status, 409);
    assert.equal(codeOf(late), 'run_ended');
    const { items } = await door.client().attention();
    assert.deepEqual(
      items.map(({ level, code, subjectId, command }) => ({ level, code, subjectId, command })),
      [
        {
          level: 'blocked',
          code: 'no_outcome',
          subjectId: run.taskId,
          command: `/task-resume ${run.taskId}`,
        },
      ],
    );
  });

  test('a further message joins its run', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const client = door.client('runner');
    const { id, taskId } = await client.createRun({ input: 'one' });
    await call.begun;
    const { messageId } = await client.messageRun(id, 'two');
    const message = await client.message(messageId);
    assert.equal(message.runId, id);
    assert.equal(message.taskId, taskId);
    call.release();
    await ended(door, id);
  });

  test('a run in an unknown conversation is 404 and stores nothing', async (context) => {
    const door = await openDoor(context);
    const before = await door.counts();
    for (const conversation of ['conv_0000000000000000', 'nonsense', '']) {
      const body = { input: 'x', conversation };
      const answer = await door.ask('POST', '/v1/runs', { key: 'ops', body });
      assert.equal(codeOf(answer), 'not_found');
    }
    assert.deepEqual(await door.counts(), before);
  });
});

describe('a key without `read`', () => {
  test('sees, lists and cancels its own, and a foreign id looks unknown', async (context) => {
    const door = await openDoor(context);
    const mine = await door.client('runner').createRun({ input: 'mine', wait: 300 });
    const theirs = await door.client('other').createRun({ input: 'theirs', wait: 300 });
    assert.deepEqual(
      (await door.client('runner').runs()).items.map(({ id }) => id),
      [mine.id],
    );
    assert.deepEqual(
      (await door.client('runner').tasks()).items.map(({ id }) => id),
      [mine.taskId],
    );
    const foreign = [
      ['GET', `/v1/runs/${theirs.id}`],
      ['GET', `/v1/runs/${theirs.id}/events`],
      ['POST', `/v1/runs/${theirs.id}/cancel`],
      ['GET', `/v1/tasks/${theirs.taskId}`],
      ['GET', `/v1/tasks/${theirs.taskId}/events`],
      ['GET', `/v1/tasks/${theirs.taskId}/why`],
      ['POST', `/v1/tasks/${theirs.taskId}/stop`],
      ['GET', `/v1/conversations/${theirs.conversationId}`],
      ['GET', `/v1/conversations/${theirs.conversationId}/transcript`],
      ['GET', `/v1/conversations/${theirs.conversationId}/events`],
    ] as const;
    const before = await door.counts();
    for (const [method, path] of foreign) {
      const answer = await door.ask(method, path, { key: 'runner' });
      const unknown = path.replace(/_[0-9A-Z]{16}/, '_0000000000000000');
      const nothing = await door.ask(method, unknown, { key: 'runner' });
      assert.equal(answer.status, 404, path);
      assert.equal(answer.text, nothing.text, path);
    }
    for (const path of [
      `/v1/runs/${theirs.id}/messages`,
      `/v1/conversations/${theirs.conversationId}/messages`,
    ]) {
      const answer = await door.ask('POST', path, { key: 'runner', body: { text: 'hi' } });
      assert.equal(answer.status, 404, path);
    }
    const body = { input: 'x', conversation: theirs.conversationId };
    assert.equal((await door.ask('POST', '/v1/runs', { key: 'runner', body })).status, 404);
    assert.deepEqual(await door.counts(), before);
  });

  test('a key that only reads sees all and changes nothing', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const { id, taskId } = await door.client('runner').createRun({ input: 'x' });
    await call.begun;
    assert.equal((await door.client('reader').run(id)).id, id);
    for (const path of [`/v1/runs/${id}/cancel`, `/v1/tasks/${taskId}/stop`]) {
      const answer = await door.ask('POST', path, { key: 'reader' });
      assert.equal(answer.status, 403);
      assert.equal(codeOf(answer), 'forbidden');
    }
    assert.notEqual((await door.client().task(taskId)).state, 'cancelled');
    call.release();
    await ended(door, id);
  });
});

describe('a task over HTTP', () => {
  test('is shown with its budgets, its evidence, its timeline and its why', async (context) => {
    const door = await openDoor(context);
    const calls = asks(['look', { at: 1 }], ['pay', { sum: 2 }], ['note', { text: 'x' }]);
    const answers = [calls, says('paid')];
    door.installation.model.answer = () => answers.shift() ?? says('?');
    const run = await door.client('runner').createRun({ input: 'pay it', wait: 300 });
    const client = door.client('runner');
    const task = await client.task(run.taskId);
    assert.equal(task.state, 'completed');
    assert.equal(task.mandate.text, 'pay it');
    assert.equal(task.mandate.principal, 'key:runner');
    assert.deepEqual(task.budgets.turns, { limit: 50, used: 1 });
    assert.deepEqual(
      task.evidence.map(({ kind, tool, text }) => ({ kind, tool, text })),
      [
        { kind: 'effect', tool: 'pay', text: 'done' },
        { kind: 'effect', tool: 'note', text: 'done' },
      ],
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await client.taskEvents(
        task.id,
        cursor === null ? { limit: 3 } : { limit: 3, cursor },
      );
      assert.ok(page.items.length <= 3);
      seen.push(...page.items.map(({ type }) => type));
      cursor = page.nextCursor;
    } while (cursor !== null);
    const whole = await client.taskEvents(task.id, { limit: 200 });
    assert.deepEqual(
      seen,
      whole.items.map(({ type }) => type),
    );
    assert.deepEqual(
      seen.filter((type) => type.startsWith('tool.')),
      [
        'tool.finished',
        'tool.started',
        'tool.finished',
        'tool.started',
        'tool.finished',
        'tool.started',
      ],
    );
    assert.notEqual((await client.why(task.id)).sentence, '');
  });

  test('T-4: a stop with an outdated version is refused and changes nothing', async (context) => {
    const door = await openDoor(context);
    const call = heldCall(door);
    const { taskId } = await door.client('runner').createRun({ input: 'x' });
    await call.begun;
    const { version } = await door.client().task(taskId);
    const path = `/v1/tasks/${taskId}/stop`;
    const late = await door.ask('POST', path, {
      key: 'ops',
      body: { expectedVersion: version + 1 },
    });
    assert.equal(late.status, 409);
    assert.equal(codeOf(late), 'version_conflict');
    const stopped = await door.ask('POST', path, {
      key: 'ops',
      body: { expectedVersion: version },
    });
    assert.equal(stopped.status, 200);
    assert.equal(stopped.json['state'], 'stopped');
    assert.deepEqual(stopped.json['running'], ['model']);
  });
});

describe('lists', () => {
  test('go newest first by cursor, each item once', async (context) => {
    const door = await openDoor(context);
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      made.push((await door.client('runner').createRun({ input: `${index}`, wait: 300 })).id);
    }
    for (const key of ['ops', 'runner'] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await door
          .client(key)
          .runs(cursor === undefined ? { limit: 3 } : { limit: 3, cursor });
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      assert.deepEqual(seen, made.toReversed());
    }
    const tasks = await door.client().tasks({ state: 'completed', limit: 200 });
    assert.equal(tasks.items.length, 7);
    assert.equal((await door.client().tasks({ state: 'blocked' })).items.length, 0);
    const one = tasks.items[0]?.conversationId ?? '';
    assert.equal((await door.client().tasks({ conversation: one })).items.length, 1);
    assert.equal((await door.client().outbox({ limit: 3 })).items.length, 3);
    assert.equal((await door.client().outbox({ conversation: one })).items[0]?.text, 'ok');
  });
});
