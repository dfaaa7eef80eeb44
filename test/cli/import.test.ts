// What real work leaves in a store goes out and comes in, and the next start judges it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { arrive } from '../../src/core/archive/arrive.ts';
import type { Archived } from '../../src/core/archive/record.ts';
import { Place } from '../e2e/process.ts';
import { recordsIn } from '../support/archive.ts';

const CONFIG = 'model: { provider: rehearsal }\napi: { port: 0 }\n';

/** Everything that a person and an API caller do in a day. */
async function work(client: Client): Promise<void> {
  const { id } = await client.openConversation();
  const say = async (text: string): Promise<void> => {
    const { messageId } = await client.postMessage(id, { text });
    await until(async () => (await client.message(messageId)).state === 'done');
  };
  await say('write a.txt: hello');
  await say('list');
  await say('/status');
  await say('/help');
  await client.postMessage(id, {
    text: 'call task_wait {"for":"answer","question":"Which of them?"}',
  });
  await taskIn(client, 'waiting');
  await say('/new');
  const run = await client.createRun({ input: 'read a.txt', metadata: { a: 'b' }, wait: 30 });
  assert.equal('status' in run ? run.status : '', 'completed');
  const asks = { input: 'call task_wait {"for":"answer","question":"Really?"}' };
  const { taskId } = await client.createRun(asks);
  await until(async () => (await client.task(taskId)).state === 'waiting');
  await client.extendTask(taskId, { turns: 5 });
  await client.pauseTask(taskId, { receiptId: 'rcpt-1' });
  const other = await client.createRun(asks);
  await until(async () => (await client.task(other.taskId)).state === 'waiting');
  await client.stopTask(other.taskId);
  await client.createRun({ input: 'run sleep 60' });
  await until(async () => {
    const { approvals, runningTurns } = await client.status();
    return approvals > 0 || runningTurns > 0;
  });
}

async function taskIn(client: Client, state: 'waiting'): Promise<void> {
  await until(async () => (await client.tasks({ state })).items.length > 0);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (;;) {
    if (await holds()) return;
    await pause(20);
  }
}

describe('the records of a host that was killed in its work', () => {
  const place = new Place(CONFIG);
  const file = join(place.folder, 'out.jsonl');
  before(async () => {
    const host = await place.start();
    await work(host.client());
    host.signal('SIGKILL');
    await host.child.ended;
  });
  after(() => place.clear());

  test('go out and come in as they are', async () => {
    const out = await place.run(['export', 'out.jsonl']);
    assert.equal(out.code, 0, out.stderr);
    const records = recordsIn(readFileSync(file, 'utf8'));
    const into = await place.run(['import', 'out.jsonl', '--data', 'fresh']);
    assert.equal(into.code, 0, into.stderr);
    const back = await place.run(['export', '--data', 'fresh']);
    assert.deepEqual(
      withoutImport(recordsIn(back.stdout)),
      records.map((one) => arrive(one, Date.now())),
    );
    const kinds = new Set(records.map(({ kind }) => kind));
    for (const kind of ['audit', 'receipt', 'outbox', 'run', 'step'] as const) {
      assert.ok(kinds.has(kind), kind);
    }
  });

  test('are judged by the next start before anything of them runs', async () => {
    const fresh = join(place.folder, 'fresh');
    const host = await place.start({ args: ['--no-terminal', '--data', fresh] });
    const key = readFileSync(join(fresh, 'api-key'), 'utf8').trim();
    const tasks = (await host.client(key).tasks({ limit: 100 })).items;
    assert.ok(tasks.length > 5);
    for (const { id, enrollment, state } of tasks) {
      const isOver = ['completed', 'failed', 'stopped', 'cancelled', 'expired'].includes(state);
      if (!isOver) assert.notEqual(enrollment, 'unmarked', id);
    }
    assert.ok(
      tasks.some(({ enrollment, state }) => enrollment === 'held-legacy' && state === 'blocked'),
    );
    // What it was at when it was killed goes on, and a drain would wait for it.
    host.signal('SIGKILL');
    await host.child.ended;
  });
});

function withoutImport(records: readonly Archived[]): readonly Archived[] {
  return records.filter((one) => one.kind !== 'audit' || one.record.action !== 'import');
}
