import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { dump } from '../../src/testing/store-dump.ts';
import { eventually, restOf, say, talkTo } from '../support/acts.ts';
import { Installation, judges, OPTIONS, says } from '../support/host.ts';

const CHILD = join(import.meta.dirname, 'killed-child.ts');
const AT_ONCE = 4;

/** A store has its lock beside it, so each has a folder of its own. */
function placeIn(folder: string, name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name, 'sekisho.db');
}

async function runChild(file: string, index: number) {
  const argv = [CHILD, file, String(index)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { said, signal };
}

/** Every call has exactly one result behind it, and every result its call. */
function assertPaired(request: ModelRequest | undefined, where: string): void {
  const owed: string[] = [];
  for (const message of request?.messages ?? []) {
    if (message.role === 'tool') assert.equal(owed.shift(), message.callId, where);
    else assert.deepEqual(owed, [], where);
    if (message.role === 'assistant') owed.push(...message.calls.map(({ id }) => id));
  }
  assert.deepEqual(owed, [], where);
}

/** Starts on what a kill left, redelivers the order and says hello. */
async function goOn(file: string, where: string): Promise<void> {
  const place = new Installation();
  const { clock, ids } = place;
  const store = openSqlite({ path: file, clock, ids });
  place.model.answer = () => says('hello yourself');
  // What was cut has its last word by its assessment.
  place.assessor.answer = () => judges('inconclusive');
  const options = { ...OPTIONS, pid: 2 };
  const engine = createEngine(place.parts({ store, options }));
  await engine.start();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'pay twice', { externalId: 'order-1' });
  await restOf(engine);
  const hello = await say(engine, conversationId, 'hello');
  await restOf(engine);
  await eventually(async () =>
    ((await dump(store))['task'] ?? []).every((row) => row['wait_kind'] !== 'assessment'),
  );
  const { message: messages = [], outbox = [], task: tasks = [], step = [] } = await dump(store);
  const answer = messages.find((row) => row['id'] === hello)?.['answer_id'];
  assert.equal(outbox.find((row) => row['id'] === answer)?.['text'], 'hello yourself', where);
  assert.equal(messages.length, 2, where);
  assert.equal(tasks.length, 2, where);
  const asked = outbox.filter((row) => row['code'] === 'uncertain_effect').length;
  const uncertain = step.filter((row) => row['state'] === 'uncertain').length;
  assert.equal(asked, uncertain, `${where}: a call of unknown outcome is asked about, once`);
  assert.equal(outbox.length - asked, 2, `${where}: one last word for the order, one answer`);
  assertPaired(place.model.requests.at(-1), where);
  assert.ok(place.tools.ran.length === 0, `${where}: no call is made again`);
  await engine.stop(0);
  await store.close();
}

test('INC-006 after a kill at any commit of a turn with tools a plain message is answered, and calls and results pair', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-inc-006-'));
  try {
    const whole = await runChild(placeIn(folder, 'whole'), -1);
    const commits = Number(/COMMITS (\d+)/.exec(whole.said)?.[1]);
    assert.ok(commits >= 9, `${commits} commits`);
    const cuts = Array.from({ length: commits }, (_, index) => index);
    const work = async (): Promise<void> => {
      for (let index = cuts.shift(); index !== undefined; index = cuts.shift()) {
        const file = placeIn(folder, String(index));
        const { signal } = await runChild(file, index);
        assert.equal(signal, 'SIGKILL', `it was not killed after commit ${index}`);
        await goOn(file, `after commit ${index} of ${commits}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
