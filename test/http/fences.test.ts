import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  prepareNotice,
  queueNotice,
  releaseNotice,
  withdrawNotice,
} from '../../src/engine/outbox/queue.ts';
import { failRun } from '../../src/engine/run/end.ts';
import type { ConversationId, OperationId, OutboxId, RunId } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { says, taskIn } from '../support/host.ts';
import { openDoor, type TestDoor } from './door.ts';
import { openPlace } from './history.ts';
import { openLine, types } from './line.ts';
import { EXHAUSTED, inLedger, putOperation, TOO_LARGE, UNCERTAIN, waitingUntil } from './upkeep.ts';

describe('M-9 how a conversation stands behind its fence', () => {
  test('is told with it: state, reason, counts, next try and the way out', async (context) => {
    const door = await openDoor(context);
    const free = await openPlace(door);
    const client = door.client('runner');
    const open = await client.conversation(free);
    assert.deepEqual([open.fence, open.operationId, open.maintenance], ['none', null, null]);
    const blocked = await openPlace(door);
    const id = await putOperation(door, blocked, EXHAUSTED);
    const view = await client.conversation(blocked);
    const { commands = [], ...rest } = view.maintenance ?? {};
    assert.deepEqual([view.fence, view.operationId], ['blocked', id]);
    assert.deepEqual(rest, {
      operationId: id,
      state: 'blocked',
      reason: 'exhausted',
      failures: 7,
      lifetimeFailures: 9,
      nextAttemptAt: null,
      version: 15,
    });
    assert.deepEqual(commands, (await client.operation(id)).commands);
    const waiting = await openPlace(door);
    const at = door.installation.clock.now() + 1_000;
    await putOperation(door, waiting, waitingUntil(at));
    const { fence, maintenance } = await client.conversation(waiting);
    assert.deepEqual(
      [fence, maintenance?.state, maintenance?.nextAttemptAt, maintenance?.commands],
      ['shut', 'waiting', new Date(at).toISOString(), []],
    );
    const { items } = await door.client('reader').conversations();
    assert.deepEqual(
      items.map((one) => one.maintenance?.state ?? one.fence),
      ['waiting', 'blocked', 'none'],
    );
  });
});

describe('what waits for a person', () => {
  test('is each operation that is blocked, then each that waits', async (context) => {
    const door = await openDoor(context);
    const at = door.installation.clock.now() + 1_000;
    const waiting = await putOperation(door, await openPlace(door), waitingUntil(at));
    const ids = [
      await putOperation(door, await openPlace(door), EXHAUSTED),
      await putOperation(door, await openPlace(door), UNCERTAIN),
      await putOperation(door, await openPlace(door), TOO_LARGE),
    ] as const;
    await putOperation(door, await openPlace(door), { attemptAt: at, nextAttemptAt: null });
    const { items } = await door.client('reader').attention();
    assert.deepEqual(
      items.map(({ sentence, ...rest }) => {
        assert.match(sentence, /\S{3}/);
        return rest;
      }),
      [
        item('blocked', 'base_too_large', ids[2], `/admit ${ids[2]}`),
        item('blocked', 'uncertain', ids[1], `/admit ${ids[1]} handover`),
        item('blocked', 'exhausted', ids[0], `/admit ${ids[0]}`),
        item('waiting', 'maintenance_waiting', waiting, null),
      ],
    );
    const status = await door.client('reader').status();
    assert.deepEqual(status.maintenance, { running: 1, waiting: 1, blocked: 3, trying: [] });
    assert.equal(status.attention, 4);
    const { text } = await door.ask('GET', '/metrics', { key: 'reader' });
    for (const line of ['running"} 1', 'waiting"} 1', 'blocked"} 3'])
      assert.ok(text.includes(`sekisho_maintenance_open{state="${line}\n`), line);
  });
});

function item(level: string, code: string, subjectId: string, command: string | null): object {
  return { level, code, subjectId, command, taskId: null };
}

interface Told {
  readonly door: TestDoor;
  readonly here: ConversationId;
  readonly operationId: OperationId;
  readonly runId: RunId;
}

/** A run whose model does not answer, and an operation of its conversation. */
async function openTold(context: TestContext, operation = EXHAUSTED): Promise<Told> {
  const door = await openDoor(context);
  const here = await openPlace(door);
  const begun = Promise.withResolvers<void>();
  door.installation.model.answer = (_request, signal) => {
    begun.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(says(''))));
  };
  const { id } = await door.client('runner').createRun({ input: 'count', conversation: here });
  await begun.promise;
  const operationId = await putOperation(door, here, operation);
  return { door, here, operationId, runId: id as RunId };
}

const WAITING = { level: 'waiting', code: 'maintenance_waiting' } as const;

function about({ here, operationId }: Told, params: JsonObject): Parameters<typeof queueNotice>[1] {
  return {
    ...WAITING,
    conversationId: here,
    key: `test:${operationId}`,
    params: { operationId, version: 3, ...params },
    subjectId: operationId,
    taskId: null,
    runId: null,
  };
}

describe('a notice of a conversation', () => {
  const FAULT = { code: 'eio', said: 'input/output error', nextAt: 1_800_000_009_000 };

  test('M-10 is pending while it is prepared, is told by no stream, and may be withdrawn', async (context) => {
    const told = await openTold(context, waitingUntil(1_800_000_009_000));
    const { door, here } = told;
    let id = '' as OutboxId;
    await inLedger(door, here, (ledger) => {
      id = prepareNotice(ledger, about(told, FAULT));
    });
    const listed = async (state: 'pending' | 'stale'): Promise<readonly string[]> =>
      (await door.client().outbox({ state, conversation: here })).items.map((one) => one.id);
    assert.deepEqual([await listed('pending'), await listed('stale')], [[id], []]);
    const [entry] = (await door.client().outbox({ state: 'pending' })).items;
    assert.deepEqual([entry?.level, entry?.code], ['waiting', 'maintenance_waiting']);
    assert.equal(entry?.subjectId, told.operationId);
    assert.match(entry?.text ?? '', /^… /);
    await inLedger(door, here, (ledger) => withdrawNotice(ledger, id));
    assert.deepEqual([await listed('pending'), await listed('stale')], [[], [id]]);
    await door.client('runner').postMessage(here, { text: '/help' });
    const line = await openLine(door, `/v1/conversations/${here}/events`);
    const frames = await line.upTo('message');
    assert.ok(!types(frames).includes('notice'));
    line.leave();
  });

  test('A-2 of a wait is an event of its runs, not their end', async (context) => {
    const told = await openTold(context, waitingUntil(1_800_000_009_000));
    const { door, here, operationId, runId } = told;
    let id = '' as OutboxId;
    await inLedger(door, here, (ledger) => {
      id = prepareNotice(ledger, about(told, FAULT));
    });
    const run = await door.engine.store.query('run.byId', { id: runId });
    assert.ok(run !== undefined);
    await inLedger(door, here, (ledger) =>
      releaseNotice(ledger, { id, ...WAITING, params: about(told, FAULT).params }, [run]),
    );
    const ofRun = await openLine(door, `/v1/runs/${runId}/events`, { key: 'runner' });
    const shown = (await ofRun.upTo('notice')).at(-1)?.data;
    assert.ok(shown?.type === 'notice');
    const { sentence, command, level, code, subjectId } = shown;
    assert.deepEqual(
      [level, code, subjectId, command, shown.runId],
      ['waiting', 'maintenance_waiting', operationId, null, runId],
    );
    assert.match(sentence, /^… /);
    ofRun.leave();
    assert.equal((await door.client('runner').run(runId)).status, 'running');
    // The conversation has one notice, whoever else is told of it.
    await door.client('runner').postMessage(here, { text: '/help' });
    const ofAll = await openLine(door, `/v1/conversations/${here}/events`);
    const seen: (string | undefined)[] = [];
    while (seen.filter((type) => type === 'message').length < 3) {
      const frame = await ofAll.next();
      seen.push(frame?.event);
    }
    ofAll.leave();
    assert.equal(seen.filter((type) => type === 'notice').length, 1);
  });

  for (const [code, reason, way] of [
    ['maintenance_exhausted', 'exhausted', ''],
    ['maintenance_uncertain', 'uncertain', ' handover'],
    ['maintenance_too_large', 'base_too_large', ''],
  ] as const) {
    test(`A-2 ${code} ends its runs with the reason, and names the way out`, async (context) => {
      const told = await openTold(context);
      const { door, here, operationId, runId } = told;
      const run = await door.engine.store.query('run.byId', { id: runId });
      const sizes = JSON.parse(TOO_LARGE.fault ?? '{}') as JsonObject;
      const params = { ...FAULT, failures: 7, isSame: true, kind: 'compact', step: 'compact' };
      await inLedger(door, here, (ledger) => {
        const { level: _, ...order } = about(told, { ...sizes, ...params });
        const outcomeId = queueNotice(ledger, { ...order, code, level: 'blocked' });
        failRun(ledger, run, reason, outcomeId);
      });
      const command = `/admit ${operationId}${way}`;
      const view = await door.client('runner').run(runId);
      assert.deepEqual([view.status, view.outcome?.code], ['failed', reason]);
      const { message = '' } = view.outcome ?? {};
      assert.ok(message.includes(`\`${command}\``), message);
      assert.deepEqual(view.later, { taskState: 'active' });
      const line = await openLine(door, `/v1/runs/${runId}/events`, { key: 'runner' });
      const last = (await line.rest()).at(-1)?.data;
      assert.ok(last?.type === 'run.failed');
      assert.deepEqual(last.outcome, view.outcome);
      const { items } = await door.client().outbox({ conversation: here });
      assert.deepEqual(
        items.map((entry) => [entry.level, entry.code, entry.state]),
        [['blocked', code, 'delivered']],
      );
      const ofAll = await openLine(door, `/v1/conversations/${here}/events`);
      const notice = (await ofAll.upTo('notice')).at(-1)?.data;
      ofAll.leave();
      assert.ok(notice?.type === 'notice');
      assert.deepEqual([notice.subjectId, notice.command], [operationId, command]);
    });
  }
});

test('A-2 what becomes of the task of a run that a fence ended is shown as its later', async (context) => {
  const door = await openDoor(context);
  const here = await openPlace(door);
  const operationId = await putOperation(door, here, EXHAUSTED);
  const client = door.client('runner');
  const body = { input: 'count', conversation: here };
  const answer = await door.ask('POST', '/v1/runs', { key: 'runner', body });
  assert.equal(answer.status, 202);
  const runId = String(answer.json['id']);
  const ended = await client.run(runId);
  assert.deepEqual([ended.status, ended.outcome?.code], ['failed', 'exhausted']);
  assert.ok(ended.outcome?.message.includes(`/admit ${operationId}`), ended.outcome?.message);
  assert.deepEqual(ended.later, { taskState: 'active' });
  const within = await client.createRun({ ...body, wait: 5 });
  assert.equal(within.status, 'failed');
  const further = client.messageRun(runId, 'and go on');
  await assert.rejects(further, { status: 409, code: 'run_ended' });
  await door.client().admit(operationId, {
    contractVersion: 1,
    expectedVersion: 15,
    receiptId: 'rcpt_later',
  });
  await taskIn(door.engine, here, 'completed');
  const later = await client.run(runId);
  assert.deepEqual([later.status, later.later], ['failed', { taskState: 'completed' }]);
  assert.deepEqual(later.outcome, ended.outcome);
});
