import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSystemClock } from '../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../src/adapters/ids/ids.ts';
import { openSqlite } from '../src/adapters/store/sqlite/open.ts';
import type { Write } from '../src/ports/store.ts';
import { conversationRow, idOf, sessionRow, taskRow } from '../src/testing/store-rows.ts';
import { Connection } from './connection.ts';
import { fill, grow } from './grown.ts';
import { inFolder, median, quantile, round, usedBy, type Figures } from './measure.ts';
import { withHost, type HostProcess } from './process.ts';

const TASKS = 100_000;
/** Of them: what stands open, is held, or did not end well. They are the newest. */
const OTHERS = 10_000;
const FAR = 9_000_000_000_000;
const ASKING = { waitKind: 'answer', waitUntil: FAR, dueAt: FAR } as const;
const KINDS: readonly NonNullable<Parameters<typeof taskRow>[0]>[] = [
  { state: 'waiting', reason: 'awaits_answer', ...ASKING },
  { state: 'paused', reason: 'paused' },
  { state: 'blocked', reason: 'budget_exhausted' },
  { state: 'blocked', enrollment: 'held-legacy', reason: 'held_legacy' },
  { state: 'failed', reason: 'model_refused', endedAt: 5_000 },
  { state: 'stopped', reason: 'stopped_by_person', endedAt: 5_000 },
];
const PER_CONVERSATION = 10;
/** Beyond the places and the ids of what has ended. */
const FIRST_PLACE = 50_000;
const ASKS = 200;
const WARM_UP = 50;
const GOAL_P50_MS = 2;

/** pages of tasks over the API, by every filter that it has, first pages and deep ones. */
export async function benchLists(): Promise<Figures> {
  return inFolder(async (folder) => {
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    await grow(folder, { ended: TASKS - OTHERS, queued: 0, interrupted: 0 });
    await growOthers(folder);
    return withHost(folder, { model: 'hold', concurrent: 1 }, async (host) => {
      const connection = await Connection.open(host);
      const lists: Record<string, Asked> = {};
      for (const path of paths()) lists[path] = await asked(host, connection, path);
      connection.close();
      const slowest = Math.max(...Object.values(lists).map(({ p50Ms }) => p50Ms));
      const most = Math.max(...Object.values(lists).map(({ cpuMs }) => cpuMs));
      const met = slowest <= GOAL_P50_MS;
      // The API names no search over tasks: there is nothing to measure until a page of it does.
      return { met, slowestP50Ms: slowest, mostCpuMs: most, search: null, tasks: TASKS, lists };
    });
  });
}

function paths(): readonly string[] {
  const deep = `cursor=${idOf('task', TASKS * 5)}`;
  const conversation = `conversation=${idOf('conversation', 3)}`;
  const other = `conversation=${idOf('conversation', FIRST_PLACE + 1)}`;
  const states = ['active', 'waiting', 'paused', 'blocked', 'completed', 'failed', 'expired'];
  const tasks = [
    '',
    deep,
    conversation,
    `${conversation}&state=failed`,
    other,
    'enrollment=held-legacy',
    'enrollment=held-legacy&state=blocked',
    'enrollment=current&state=blocked',
    `state=completed&${deep}`,
    ...states.map((state) => `state=${state}`),
  ];
  return [
    ...tasks.map((query) => `/v1/tasks?${query}`),
    `/v1/tasks/${idOf('task', 3_001)}`,
    '/v1/conversations',
    `/v1/conversations?cursor=${idOf('conversation', FIRST_PLACE)}`,
    '/v1/runs',
  ];
}

interface Asked {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the host, which other work on the machine lengthens less. */
  readonly cpuMs: number;
  readonly items: number;
}

async function asked(host: HostProcess, connection: Connection, path: string): Promise<Asked> {
  for (let count = 0; count < WARM_UP; count += 1) await connection.get(path);
  const times: number[] = [];
  const before = usedBy(host.pid).cpuMs;
  let body = '';
  for (let count = 0; count < ASKS; count += 1) {
    const began = performance.now();
    const answer = await connection.get(path);
    times.push(performance.now() - began);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    body = answer.body;
  }
  const cpuMs = (usedBy(host.pid).cpuMs - before) / ASKS;
  const { items } = JSON.parse(body) as { readonly items?: readonly unknown[] };
  return {
    p50Ms: round(median(times), 2),
    p99Ms: round(quantile(times, 0.99), 2),
    cpuMs: round(cpuMs, 2),
    items: items?.length ?? 1,
  };
}

/** What has not simply ended well. */
async function growOthers(folder: string): Promise<void> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const store = openSqlite({ path: join(folder, 'data/sekisho.db'), clock, ids });
  let place = FIRST_PLACE;
  await fill(store, OTHERS / PER_CONVERSATION, () => conversationOf((place += 1)));
  await store.close();
}

function conversationOf(place: number): Write[] {
  const [id, sessionId] = [idOf('conversation', place), idOf('session', place)];
  const row = { id, sessionId, channel: 'api', address: `other${place}`, seq: 100 };
  const tasks = Array.from({ length: PER_CONVERSATION }, (_, index): Write => {
    const number = place * 1_000 + index;
    const kind = KINDS[number % KINDS.length];
    const own = { id: idOf('task', number), conversationId: id, sessionId, deadline: FAR };
    return { write: 'task.insert', row: taskRow({ ...own, turnsUsed: 1, ...kind }) };
  });
  return [
    { write: 'conversation.insert', row: conversationRow(row) },
    { write: 'session.insert', row: sessionRow({ id: sessionId, conversationId: id }) },
    ...tasks,
  ];
}
