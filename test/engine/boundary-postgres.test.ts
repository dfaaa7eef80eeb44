// The boundary on PostgreSQL, drawn by one host and by two that start at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { runBoundary } from '../../src/engine/boundary/run.ts';
import { closeLost } from '../../src/engine/dispatch/lease.ts';
import type { Store } from '../../src/ports/store.ts';
import { idOf } from '../../src/testing/store-rows.ts';
import { SILENT } from '../support/host.ts';
import {
  BY_INPUT,
  BY_READY,
  BY_RUNNING,
  importHistory,
  STRAYS,
  UNPROVEN,
} from '../support/history.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const ANY = { state: '', enrollment: '', conversationId: '', before: '~', limit: 1_000 };

/** What the boundary has made of the import, and how often each task was told. */
async function check(store: Store): Promise<void> {
  const tasks = await store.query('task.list', ANY);
  const kept = tasks.filter(({ enrollment }) => enrollment === 'current').map(({ id }) => id);
  assert.deepEqual(kept.toSorted(), [BY_INPUT, BY_READY, BY_RUNNING]);
  const held = tasks.filter(({ enrollment }) => enrollment === 'held-legacy');
  assert.equal(held.length, UNPROVEN + 1);
  for (const { id, conversationId, version } of tasks) {
    const args = { conversationId, taskId: id, limit: 100 };
    const events = await store.query('event.ofTask', args);
    const marks = events.filter(({ type }) => type === 'task.held' || type === 'task.enrolled');
    assert.equal(marks.length, 1, id);
    assert.equal(version, 5);
  }
  const args = { state: '', enrollment: 'held-legacy', before: '~', limit: 100 };
  assert.equal((await store.query('execution.list', args)).length, STRAYS + 1);
}

test('it comes to the same as on SQLite, and the workers of a host that is gone are taken up', async () => {
  const store = await openPostgres({ url: await server.freshUrl(), ids });
  await importHistory(store);
  const drawn = await runBoundary({ store, clock, log: SILENT }, idOf('host', 1));
  assert.deepEqual([drawn?.held, drawn?.kept, drawn?.workersHeld], [UNPROVEN + 1, 3, STRAYS + 1]);
  await check(store);
  assert.equal(await runBoundary({ store, clock, log: SILENT }, idOf('host', 1)), undefined);
  assert.equal(await closeLost({ store, clock, log: SILENT }, idOf('host', 1)), 1);
  await store.close();
});

test('two hosts that start at once judge each record once', async () => {
  const url = await server.freshUrl();
  const stores = [await openPostgres({ url, ids }), await openPostgres({ url, ids })] as const;
  await importHistory(stores[0]);
  const drawn = await Promise.all(
    stores.map((store, index) =>
      runBoundary({ store, clock, log: SILENT }, idOf('host', index + 1)),
    ),
  );
  await check(stores[0]);
  const known = drawn.filter((one) => one !== undefined);
  assert.ok(known.length > 0);
  for (const one of known) assert.deepEqual([one.held, one.kept], [UNPROVEN + 1, 3]);
  const ended = await stores[0].query('boundary.last', {});
  assert.ok(ended !== undefined && ended.endedAt !== null);
  for (const store of stores) await store.close();
});
