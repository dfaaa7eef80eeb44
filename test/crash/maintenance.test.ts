import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import type { Client } from '../../src/client/client.ts';
import { isObject } from '../../src/kernel/json.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { OperationReply } from '../../src/wire/maintenance.ts';
import { Place, type RunningHost } from '../e2e/process.ts';

const LIMIT_MS = 60 * SECOND;
const WINDOW = 8_000;
const LONG = 'and so on '.repeat(500);

interface Stage {
  readonly place: Place;
  readonly server: ModelServer;
  host: RunningHost;
}

/** A host whose model has a small window, and whose summaries come to what the test says. */
async function onStage(t: TestContext, summary: () => ModelAnswer): Promise<Stage> {
  const server = await startModelServer((request) => says(`heard ${numberIn(request)}`), {
    strict: { window: WINDOW, summary },
  });
  const place = new Place(
    [
      'api: { port: 0 }',
      'tick: { seconds: 1 }',
      'recovery: { safeMode: false }',
      'maintenance: { startAt: 0.5, firstDelaySeconds: 0.1, maxDelaySeconds: 0.2 }',
      `model: { provider: openai-compatible, baseURL: '${server.url}', name: scripted, contextWindow: ${WINDOW} }`,
    ].join('\n'),
  );
  t.after(async () => {
    await place.clear();
    await server.close();
  });
  return { place, server, host: await place.start() };
}

/** The number of the newest message of a person. */
function numberIn({ body }: RecordedRequest): string {
  const text = JSON.stringify(body['messages']);
  return [...text.matchAll(/"message (\d+):/g)].at(-1)?.[1] ?? '';
}

function isSummary({ body }: RecordedRequest): boolean {
  const { response_format: format } = body;
  const schema = isObject(format) ? format['json_schema'] : undefined;
  return isObject(schema) && schema['name'] === 'summary';
}

function summariesIn({ server }: Stage): number {
  return server.requests.filter(isSummary).length;
}

/**
 * The summaries that were asked for before a turn first answered this message: what is long enough to be kept
 * behind a fence may fill the session anew, and then its own turn is followed by the next operation (M-19).
 */
function summariesBefore({ server }: Stage, number: number): number {
  const isAsked = (request: RecordedRequest): boolean =>
    !isSummary(request) && JSON.stringify(request.body).includes(`"message ${number}:`);
  const at = server.requests.findIndex(isAsked);
  assert.ok(at >= 0, `message ${number} was never asked about`);
  return server.requests.slice(0, at).filter(isSummary).length;
}

/** Asks again until this holds; fails when it never does. */
async function reached<T>(ask: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  const last = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await ask();
    if (holds(found)) return found;
    assert.ok(Date.now() < last, `it never holds: ${JSON.stringify(found).slice(0, 500)}`);
  }
}

async function killed(stage: Stage): Promise<Client> {
  stage.host.signal('SIGKILL');
  await stage.host.child.ended;
  stage.host = await stage.place.start();
  return stage.host.client();
}

async function say(client: Client, id: string, number: number): Promise<string> {
  const sent = await client.postMessage(
    id,
    { text: `message ${number}: ${LONG}` },
    { idempotencyKey: `message-${number}` },
  );
  return sent.messageId;
}

/** Says long words until the conversation is maintained; gives the operation, and what was said. */
async function outgrow(
  client: Client,
  id: string,
): Promise<{ readonly operation: OperationReply; readonly said: string[] }> {
  const said: string[] = [];
  for (let number = 1; number < 20; number += 1) {
    const messageId = await say(client, id, number);
    said.push(messageId);
    await reached(
      () => client.message(messageId),
      ({ state }) => state === 'done',
    );
    const [operation] = (await client.operations({ state: 'open' })).items;
    if (operation !== undefined) return { operation, said };
  }
  return assert.fail('the window was never outgrown');
}

async function openRoom(client: Client): Promise<string> {
  return (await client.openConversation({ channel: 'terminal', address: 'kept' })).id;
}

async function transcriptOf(client: Client, id: string): Promise<readonly string[]> {
  const { items } = await client.transcript(id, { limit: 200 });
  return items
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ role, content, seq }) => `${seq} ${role} ${content}`);
}

test('M-6 M-16 Y25 a kill during a summary call is one failure, and the session stays whole until it is replaced', async (t) => {
  let isStalled = true;
  const stage = await onStage(t, () =>
    isStalled ? { kind: 'stall' } : says('{"summary":"it was long"}'),
  );
  let client = stage.host.client();
  const id = await openRoom(client);
  const { operation, said } = await outgrow(client, id);
  await reached(
    () => client.operation(operation.id),
    () => summariesIn(stage) === 1,
  );
  const kept = await say(client, id, 90);
  const before = await transcriptOf(client, id);

  isStalled = false;
  client = await killed(stage);
  const answered = await reached(
    () => client.message(kept),
    ({ state }) => state === 'done',
  );
  assert.equal(answered.answer, 'heard 90');
  const done = await client.operation(operation.id);
  assert.deepEqual([done.state, done.lifetimeFailures, done.epoch], ['done', 1, 1]);
  assert.equal(summariesBefore(stage, 90), 2);
  const after = await transcriptOf(client, id);
  assert.deepEqual(after.slice(0, before.length), before, 'nothing of the transcript is changed');
  const answers = await Promise.all([...said, kept].map((one) => client.message(one)));
  assert.deepEqual(
    answers.map(({ answer }) => answer),
    [...said.map((_, index) => `heard ${index + 1}`), 'heard 90'],
  );
  assert.equal((await stage.host.stop()).code, 0);
});

test('M-4 M-8 Y24 behind a blocked fence kills change nothing, and what was kept is answered in order once it is admitted', async (t) => {
  let isBroken = true;
  const stage = await onStage(t, () => (isBroken ? fails(503) : says('{"summary":"it was long"}')));
  let client = stage.host.client();
  const id = await openRoom(client);
  const { operation } = await outgrow(client, id);
  const isBlocked = ({ state }: OperationReply): boolean => state === 'blocked';
  await reached(() => client.operation(operation.id), isBlocked);
  const kept = [await say(client, id, 91)];
  client = await killed(stage);
  kept.push(await say(client, id, 92));
  client = await killed(stage);
  const run = await client.createRun({ input: 'message 93:', conversation: id });

  const blocked = await client.operation(operation.id);
  assert.deepEqual([blocked.reason, blocked.failures], ['exhausted', 7]);
  assert.equal(summariesIn(stage), 7);
  for (const one of kept) assert.equal((await client.message(one)).state, 'unclaimed');
  const ended = await client.run(run.id);
  assert.deepEqual([ended.status, ended.outcome?.code], ['failed', 'exhausted']);
  const told = async (code: string): Promise<number> =>
    (await client.outbox({ limit: 200 })).items.filter((one) => one.code === code).length;
  assert.equal(await told('maintenance_exhausted'), 1);
  assert.equal(await told('maintenance_kept'), 1);

  isBroken = false;
  const order = {
    contractVersion: 1,
    expectedVersion: blocked.version,
    receiptId: 'mended',
  } as const;
  await client.admit(operation.id, order);
  const answers = await Promise.all(
    kept.map((one) =>
      reached(
        () => client.message(one),
        ({ state }) => state === 'done',
      ),
    ),
  );
  assert.deepEqual(
    answers.map(({ answer }) => answer),
    ['heard 91', 'heard 92'],
  );
  assert.equal((await client.operation(operation.id)).state, 'done');
  assert.equal(summariesBefore(stage, 91), 8);
  await assert.rejects(client.admit(operation.id, { ...order, expectedVersion: 1 }), {
    code: 'receipt_used',
  });
  assert.equal((await stage.host.stop()).code, 0);
});

const CHILD = join(import.meta.dirname, 'maintenance-child.ts');
const MESSAGES = 10;
const STEPS = ['summarise', 'archive-link', 'rotate', 'seed'] as const;

describe('a handover whose host kills itself', () => {
  test('M-16 V2 at each of its commits ends with one session after another, and everything answered once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sekisho-maintenance-'));
    try {
      const file = join(folder, 'store.db');
      const start = (...kill: readonly string[]): ReturnType<typeof spawnSync> =>
        spawnSync(process.execPath, [CHILD, file, String(MESSAGES), ...kill], {
          encoding: 'utf8',
          timeout: LIMIT_MS,
        });
      for (const step of STEPS)
        for (const when of ['before', 'after'])
          assert.equal(start(`maintenance.${step}`, when).signal, 'SIGKILL', `${step} ${when}`);
      const last = start();
      assert.equal(last.status, 0, String(last.stderr));
      assert.match(String(last.stdout), /ANSWERED/);
      judgeHandover(file);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function judgeHandover(file: string): void {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const all = (sql: string): Record<string, unknown>[] => db.prepare(sql).all();
    const sessions = all('select * from session order by id');
    const [old, next] = sessions;
    assert.equal(sessions.length, 2);
    assert.deepEqual([old?.['next_id'], next?.['previous_id']], [next?.['id'], old?.['id']]);
    assert.ok(String(next?.['seed']).includes('what was said so far'));
    const [handover, ...more] = all("select * from operation where kind = 'handover'");
    assert.deepEqual([handover?.['state'], more.length], ['done', 0]);
    // Each try that was cut before its commit is a failure; what was committed is not made again.
    assert.deepEqual([handover?.['failures'], handover?.['attempts']], [4, 8]);
    const replies = all("select * from outbox where kind = 'reply'");
    assert.equal(replies.length, MESSAGES);
    const open = all("select * from message where kind = 'genuine' and state <> 'done'");
    assert.deepEqual(open, []);
  } finally {
    db.close();
  }
}
