import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { HOUR } from '../../src/kernel/time.ts';
import type { Committed, ReadName, Reads, Store, Unit, UnitReads } from '../../src/ports/store.ts';
import { says } from '../../src/testing/model-answer.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import { Place } from '../e2e/process.ts';
import { CountingStore, type Counts } from '../growth/counting-store.ts';
import { openDoor, type TestDoor } from '../http/door.ts';
import { eventually, pass } from '../support/acts.ts';
import { growStore } from './grown-store.ts';

/** Enough for a full page of every list. */
const FEW = 60;
const MANY = 10_000;
const CHARS = 500;
/** Of the processor, for one call of the store: what is found by an index takes far less than one. */
const CALL_MS_MAX = 25;
/** The longest that a host may stand still. */
const BLOCK_MS_MAX = 200;

const folder = mkdtempSync(join(tmpdir(), 'sekisho-many-'));
const fileOf = (conversations: number): string =>
  join(folder, String(conversations), 'data', 'sekisho.db');

before(async () => {
  for (const conversations of [FEW, MANY]) {
    mkdirSync(join(folder, String(conversations), 'data'), { recursive: true });
    await growStore(fileOf(conversations), conversations, CHARS);
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A store that knows what its slowest call took of the processor, whatever else the machine does. */
class TimedStore implements Store {
  readonly traits = { exclusive: true, description: 'the only one' };
  readonly #real: Store;
  slowest = { name: '', ms: 0 };

  constructor(real: Store) {
    this.#real = real;
  }

  commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    return this.#real.commit(unit);
  }

  query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    const began = process.threadCpuUsage();
    const found = this.#real.query(read, args);
    const { user, system } = process.threadCpuUsage(began);
    const ms = (user + system) / 1_000;
    if (ms > this.slowest.ms) this.slowest = { name: read, ms };
    return found;
  }

  close(): Promise<void> {
    return this.#real.close();
  }
}

interface Opened {
  readonly door: TestDoor;
  readonly counting: CountingStore;
  readonly timed: TimedStore;
}

/** How often a store was opened: ids are made of the time, and no two hosts may stand at the same one. */
let opened = 0;

/** A host that starts on a grown store, hours after what lies in it. */
async function open(t: TestContext, conversations: number): Promise<Opened> {
  let stores: Omit<Opened, 'door'> | undefined;
  const door = await openDoor(t, {}, {}, (installation) => {
    installation.clock.advance((opened += 1) * HOUR);
    const { clock, ids } = installation;
    const store = openSqlite({ path: fileOf(conversations), clock, ids });
    const timed = new TimedStore(store);
    const counting = new CountingStore(timed);
    t.after(() => store.close());
    stores = { timed, counting };
    return { store: counting };
  });
  assert.ok(stores !== undefined);
  return { door, ...stores };
}

/** What a host asks of its store at the start, for one message, and for the first pages of its lists. */
async function countAll(t: TestContext, conversations: number): Promise<Record<string, Counts>> {
  const { door, counting, timed } = await open(t, conversations);
  const { clock } = door.installation;
  const counts: Record<string, Counts> = { start: counting.take() };
  const client = door.client('ops');
  const { id } = await client.openConversation({ channel: 'terminal', address: 'here' });
  counting.take();
  const run = await client.createRun({ input: 'hello', conversation: id, wait: 5 });
  assert.equal(run.status, 'completed');
  await pass(2);
  counts['message'] = counting.take();
  for (const path of await listsOf(door, id)) {
    const answer = await door.ask('GET', path.replace('HERE', id), { key: 'ops' });
    assert.equal(answer.status, 200, path);
    counts[path] = counting.take();
  }
  for (const text of ['/tasks', '/status', '/why', '/usage', '/help']) {
    await client.postMessage(id, { text });
    await eventually(
      async () => (await timed.query('message.openCommands', { limit: 1 })).length === 0,
    );
    await pass(2);
    counts[text] = counting.take();
  }
  clock.advance(30_000);
  await pass();
  counts['tick'] = counting.take();
  t.diagnostic(
    `${conversations}: the slowest read is ${timed.slowest.name}, ${timed.slowest.ms.toFixed(1)} ms of the processor`,
  );
  assert.ok(timed.slowest.ms < CALL_MS_MAX, JSON.stringify(timed.slowest));
  return counts;
}

async function listsOf(door: TestDoor, here: string): Promise<readonly string[]> {
  const { items } = await door.client('ops').conversations();
  const grown = items.find(({ id }) => id !== here)?.id ?? assert.fail();
  return [
    '/v1/conversations?limit=50',
    '/v1/tasks?limit=50',
    ...['active', 'waiting', 'paused', 'blocked', 'completed', 'failed', 'stopped', 'expired'].map(
      (state) => `/v1/tasks?state=${state}`,
    ),
    `/v1/tasks?conversation=${grown}`,
    '/v1/runs',
    '/v1/outbox',
    `/v1/outbox?conversation=${grown}`,
    '/v1/approvals',
    '/v1/approvals?state=open',
    `/v1/conversations/${grown}`,
    `/v1/conversations/${grown}/transcript`,
    '/v1/status',
    '/v1/attention',
    '/v1/usage?days=7',
  ];
}

test('INC-089 what a start, a message and each first page ask of the store is the same for 60 conversations and for 10,000 with 100,000 ended tasks', async (t) => {
  const few = await countAll(t, FEW);
  const many = await countAll(t, MANY);
  const named = (counts: Record<string, Counts>): readonly unknown[] =>
    Object.entries(counts).map(([what, count]) => [what.replace(/conv_\w+/, 'ONE'), count]);
  assert.deepEqual(named(many), named(few));
  t.diagnostic(
    `the start: ${JSON.stringify(many['start'])}, a message: ${JSON.stringify(many['message'])}`,
  );
});

test('INC-089 a filter of a list that nothing fits blocks the host for less than 200 ms over 100,000 tasks', async (t) => {
  const { door, timed } = await open(t, MANY);
  const rare = [
    '/v1/tasks?enrollment=held-legacy',
    '/v1/tasks?state=completed&enrollment=held-legacy',
    '/v1/tasks?state=cancelled',
    '/v1/outbox?state=undeliverable',
    '/v1/approvals?state=denied',
  ];
  for (const path of rare) {
    const answer = await door.ask('GET', path, { key: 'ops' });
    assert.deepEqual(answer.json, { items: [], nextCursor: null });
  }
  const { id } = await door
    .client('ops')
    .openConversation({ channel: 'terminal', address: 'typo' });
  await door.client('ops').postMessage(id, { text: '/why task_0123456789ABCDEF' });
  await eventually(
    async () => (await timed.query('message.openCommands', { limit: 1 })).length === 0,
  );
  const { name, ms } = timed.slowest;
  t.diagnostic(`the slowest read is ${name}, ${ms.toFixed(1)} ms of the processor`);
  assert.ok(ms < BLOCK_MS_MAX, `${name} took ${ms} ms`);
});

test('INC-089 a host process starts on 10,000 conversations and 100,000 ended tasks and answers at once, while ten pages ask for its lists', async (t) => {
  const server = await startModelServer(() => says('here I am'));
  t.after(() => server.close());
  const model = `provider: openai-compatible, baseURL: '${server.url}', name: configured`;
  const place = new Place(`api: { port: 0 }\nmodel: { ${model} }\n`);
  t.after(() => place.clear());
  mkdirSync(place.data);
  renameSync(fileOf(MANY), join(place.data, 'sekisho.db'));
  const began = performance.now();
  const host = await place.start();
  const ready = performance.now();
  const client = host.client();
  const run = client.createRun({ input: 'are you there?', wait: 20 });
  const answered = run.then(() => performance.now());
  const pages = Array.from({ length: 10 }, async () => {
    const slow: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const asked = performance.now();
      await Promise.all([client.tasks(), client.conversations(), client.status(), client.outbox()]);
      slow.push(performance.now() - asked);
    }
    return Math.max(...slow);
  });
  const ended = await run;
  assert.equal('output' in ended && ended.output, 'here I am');
  const slowest = Math.max(...(await Promise.all(pages)));
  const ms = [ready - began, (await answered) - ready, slowest].map((value) => Math.round(value));
  t.diagnostic(`ready, answered and the slowest four lists after ${ms.join(', ')} ms`);
  assert.equal((await client.tasks({ limit: 200 })).items.length, 200);
  assert.equal((await host.stop()).code, 0);
});
