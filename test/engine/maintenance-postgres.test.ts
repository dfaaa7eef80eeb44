// Two hosts over one PostgreSQL that maintain the same sessions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { OperationState } from '../../src/core/maintenance/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { say, talkTo } from '../support/acts.ts';
import { ADMIN, fails, Installation, says, sumsUp } from '../support/host.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { compactedOut, ONE_BY_ONE, saysFull } from './maintenance-support.ts';

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const LANES = 6;

interface Pair {
  readonly place: Installation;
  readonly engines: readonly [Engine, Engine];
  readonly close: () => Promise<void>;
}

async function twoHosts(): Promise<Pair> {
  const url = await server.freshUrl();
  const place = new Installation();
  // Tries follow one another without a wait that a test would have to sit out.
  const maintenance = { ...ONE_BY_ONE.maintenance, firstDelayMs: 5, maxDelayMs: 20 };
  const options = { ...ONE_BY_ONE, maintenance, tickMs: 50 };
  const open = async (): Promise<Engine> => {
    const store = await openPostgres({ url, ids });
    const engine = createEngine(place.parts({ store, clock, ids, options }));
    await engine.start();
    return engine;
  };
  const engines = [await open(), await open()] as const;
  const close = async (): Promise<void> => {
    for (const engine of engines) await engine.stop(0);
    for (const { store } of engines) await store.close();
    await place.store.close();
  };
  return { place, engines, close };
}

/** The hints of one host say nothing of what the other has done: the store is asked. */
async function found<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await clock.sleep(10);
  }
}

function comesTo({ store }: Engine, conversationId: ConversationId, state: OperationState) {
  return found(async () => {
    const operation = await store.query('operation.newestOf', { conversationId });
    return operation?.state === state ? operation : undefined;
  });
}

test('two hosts hand sessions over once each, and answer what was kept', async (context) => {
  const { place, engines, close } = await twoHosts();
  context.after(close);
  const [first, second] = engines;
  place.model.answer = ({ messages }) =>
    messages.at(-1)?.text === 'fill it up' ? saysFull('full') : says('answered');
  place.summariser.answer = () => sumsUp('all of it');
  for (let lane = 0; lane < LANES; lane += 1) {
    const here = await talkTo(first, `lane ${lane}`);
    await compactedOut(first, here);
    await say(first, here, 'fill it up');
    const kept = await say(second, here, 'and now?');
    const { nextSessionId, failures, attempts } = await comesTo(first, here, 'done');
    assert.deepEqual([failures, attempts], [0, 4]);
    await found(async () => {
      const message = await first.store.query('message.byId', { id: kept });
      return message?.state === 'done';
    });
    const args = { conversationId: here, before: '~', limit: 10 };
    const sessions = await second.store.query('session.list', args);
    assert.deepEqual(sessions.map(({ id }) => id)[0], nextSessionId);
    assert.equal(sessions.length, 2);
  }
  assert.equal(place.summariser.requests.length, LANES, 'each is summed up once');
});

test('seven failures on two hosts are seven, and of two admissions one opens the next epoch', async (context) => {
  const { place, engines, close } = await twoHosts();
  context.after(close);
  const [first, second] = engines;
  place.model.answer = () => saysFull('full');
  place.summariser.answer = () => fails('transient', 'http_500');
  const here = await talkTo(first);
  await say(first, here, 'fill it up');
  const blocked = await comesTo(first, here, 'blocked');
  assert.deepEqual([blocked.failures, blocked.attempts, blocked.reason], [7, 7, 'exhausted']);
  assert.equal(place.summariser.requests.length, 7);
  place.summariser.answer = () => sumsUp('all of it');
  const order = { operationId: blocked.id, expectedVersion: blocked.version, principal: ADMIN };
  const verdicts = await Promise.all(
    [first, second].map((engine, index) =>
      engine.admit({ ...order, receiptId: `receipt ${index}`, channel: 'api' }),
    ),
  );
  assert.deepEqual(verdicts.map(({ kind }) => kind).toSorted(), ['admitted', 'refused']);
  const { epoch } = await comesTo(second, here, 'done');
  assert.equal(epoch, 2);
});
