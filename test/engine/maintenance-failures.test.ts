import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_RECOVERY_FAILURES } from '../../src/core/maintenance/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts';
import { putOperation, waitingUntil } from '../http/upkeep.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import {
  fails,
  Installation,
  OPTIONS,
  ScriptedModel,
  sumsUp,
  type GivenParts,
} from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  keptBy,
  later,
  messagesOf,
  operationOf,
  saysFull,
  toldOf,
  triesOf,
} from './maintenance-support.ts';

const BOUNDARY_MS = 61 * SECOND;
const BOUNDARIES = 30;

interface Failing {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** A conversation whose next turn ends with a handover. */
async function beforeHandover(place: Installation, given: GivenParts = {}): Promise<Failing> {
  const engine = await place.host(given);
  const here = await talkTo(engine);
  await compactedOut(place, here);
  place.model.answer = () => saysFull('done');
  return { place, engine, here };
}

/** One boundary of a turn: a message arrives, and 61 s pass. */
async function boundary({ place, engine, here }: Failing, text: string): Promise<void> {
  await say(engine, here, text);
  await later(place, BOUNDARY_MS);
}

/** The operation stands still for good: seven failures, and a person has to look. */
async function assertExhausted({ place, engine, here }: Failing): Promise<void> {
  const status = await engine.recoveryStatus(here);
  const { state, reason, failures, nextAttemptAt, ways } = status;
  assert.deepEqual(
    { state, reason, failures, nextAttemptAt },
    {
      state: 'blocked',
      reason: 'exhausted',
      failures: MAX_RECOVERY_FAILURES,
      nextAttemptAt: null,
    },
  );
  const { id } = await operationOf(place, here);
  assert.deepEqual(
    ways.map(({ command }) => command),
    [`/admit ${id}`, '/new'],
  );
}

describe('a handover whose seed fails every time', () => {
  test('M-2 M-5 M-9 is tried seven times over 30 boundaries, three restarts, other errors and another model', async () => {
    const place = new Installation();
    const runtime = new ScriptedRuntime();
    runtime.failAlways('seed', { kind: 'throws', code: 'EIO' });
    const native = keptBy(place, runtime);
    let stand = await beforeHandover(place, native);
    await boundary(stand, 'the first, which is answered');
    const asked = place.model.requests.length;
    const other = new ScriptedModel(() => saysFull('done'), 'another-model');
    let tries = 0;
    for (let n = 1; n <= BOUNDARIES; n += 1) {
      if (n === 3) runtime.failAlways('seed', { kind: 'rejects', code: 'no_space' });
      if (n % 8 === 0) {
        await stand.engine.stop(0);
        const model = n === 8 ? {} : { model: other, options: { ...OPTIONS, turnsLimit: 99 } };
        stand = { ...stand, engine: await place.host(keptBy(place, runtime, model)) };
      }
      const before = runtime.timesAsked('seed');
      await boundary(stand, `message ${n}`);
      await say(stand.engine, stand.here, '/status');
      const { failures, operation } = await stand.engine.recoveryStatus(stand.here);
      const made = runtime.timesAsked('seed') - before;
      assert.ok(made <= 1, `boundary ${n} makes ${made} tries`);
      tries = Math.max(tries, runtime.timesAsked('seed'));
      // The three steps before it are tries too, each counted before it was made.
      assert.equal(operation?.attempts, tries + 3);
      assert.equal(failures, tries);
      if (tries === MAX_RECOVERY_FAILURES) await assertExhausted(stand);
    }
    assert.equal(runtime.timesAsked('seed'), MAX_RECOVERY_FAILURES);
    assert.deepEqual(
      ['summarise', 'rotate'].map((step) => runtime.timesAsked(step as 'rotate')),
      [1, 1],
    );
    assert.equal(place.model.requests.length + other.requests.length, asked, 'no working turn');
    const told = await toldOf(place, stand.here);
    assert.deepEqual(told, ['maintenance_waiting', 'maintenance_exhausted', 'maintenance_kept']);
    const kept = (await messagesOf(place, stand.here)).slice(1);
    assert.ok(kept.every(({ state, claimed_seq: seq }) => state === 'unclaimed' && seq === null));
    assert.equal(kept.length, BOUNDARIES);
  });

  const REFUSALS: Readonly<Record<string, (seed: number) => boolean>> = {
    'the seed of the built-in loop': (seed) => seed % 2 === 1,
    'the seed and that it failed': () => true,
  };
  for (const [what, isRefused] of Object.entries(REFUSALS))
    test(`M-4 is blocked with seven failures where the store refuses ${what}`, async () => {
      const place = new Installation();
      let seeds = 0;
      const store = new ShakyStore(place.store, ({ unit }) => {
        if (unit !== 'maintenance.seed') return undefined;
        seeds += 1;
        return isRefused(seeds) ? 'bug' : undefined;
      });
      const stand = await beforeHandover(place, { store });
      await boundary(stand, 'the first, which is answered');
      const { length: asked } = place.model.requests;
      for (let n = 1; n <= BOUNDARIES; n += 1) await boundary(stand, `message ${n}`);
      await assertExhausted(stand);
      const { length: tries } = await triesOf(place, stand.here);
      assert.equal(tries, 3 + MAX_RECOVERY_FAILURES);
      assert.equal(place.model.requests.length, asked, 'no working turn');
      assert.equal(place.summariser.requests.length, 1, 'the summary is not made again');
      assert.equal(stand.engine.health().state, 'ready');
    });

  test('uses one failure of each host that its store ends, and is blocked with the seventh', async () => {
    const place = new Installation();
    const broken = () =>
      new ShakyStore(place.store, ({ unit }) => (unit === 'maintenance.seed' ? 'io' : undefined));
    let stand = await beforeHandover(place, { store: broken() });
    await boundary(stand, 'the first, which is answered');
    for (let death = 1; death <= MAX_RECOVERY_FAILURES; death += 1) {
      assert.equal(stand.engine.health().state, 'failed', `host ${death}`);
      await stand.engine.stop(0);
      stand = { ...stand, engine: await place.host({ store: broken() }) };
      assert.equal((await stand.engine.recoveryStatus(stand.here)).failures, death);
      await later(place, BOUNDARY_MS);
    }
    assert.equal(stand.engine.health().state, 'ready');
    await assertExhausted(stand);
    assert.equal(place.failures.length, MAX_RECOVERY_FAILURES);
  });
});

describe('the pauses between the tries of a failed step', () => {
  test('M-3 double from 1 s on as instants, over a restart of the host', async () => {
    const place = new Installation();
    place.summariser.answer = () => fails('transient', 'http_500');
    const stand = await beforeHandover(place);
    await say(stand.engine, stand.here, 'hello');
    await comesTo(stand.engine, stand.here, 'waiting');
    const [first = 0] = await triesOf(place, stand.here);
    await elapse(place, 8 * SECOND);
    await stand.engine.stop(0);
    // The instant of the next try passes nowhere: it comes 8 s after the failure, with another host.
    place.clock.advance(2 * SECOND);
    const engine = await place.host();
    const { nextAttemptAt } = await engine.recoveryStatus(stand.here);
    assert.equal(nextAttemptAt, first + 15 * SECOND);
    await elapse(place, 60 * SECOND);
    const tries = await triesOf(place, stand.here);
    assert.deepEqual(
      tries.map((at) => (at - first) / SECOND),
      [0, 1, 3, 7, 15, 31, 63],
    );
    await assertExhausted({ ...stand, engine });
  });

  test('M-3 are 60 s at most', async () => {
    const place = new Installation();
    place.summariser.answer = () => sumsUp('');
    const maintenance = { ...OPTIONS.maintenance, firstDelayMs: 25 * SECOND };
    const stand = await beforeHandover(place, { options: { ...OPTIONS, maintenance } });
    await say(stand.engine, stand.here, 'hello');
    await comesTo(stand.engine, stand.here, 'waiting');
    await elapse(place, 320 * SECOND);
    const [first = 0, ...others] = await triesOf(place, stand.here);
    assert.deepEqual(
      others.map((at) => (at - first) / SECOND),
      [25, 75, 135, 195, 255, 315],
    );
  });
});

describe('an operation that an import or an older host brought', () => {
  async function arrives(failures: number): Promise<Failing> {
    const place = new Installation();
    const first = await place.host();
    const here = await talkTo(first);
    await say(first, here, 'hello');
    await restOf(first);
    const counts = { failures, lifetimeFailures: failures + 2, attempts: failures + 2 };
    const over = { ...waitingUntil(place.clock.now()), ...counts };
    await putOperation({ engine: first, installation: place }, here, over);
    await first.stop(0);
    place.summariser.answer = () => fails('transient', 'http_500');
    const engine = await place.host();
    await pass();
    return { place, engine, here };
  }

  for (const failures of [7, 9])
    test(`M-15 is blocked without a try where ${failures} have failed`, async () => {
      const { place, engine, here } = await arrives(failures);
      await later(place, BOUNDARY_MS);
      const status = await engine.recoveryStatus(here);
      const { state, reason, operation } = status;
      assert.deepEqual([state, reason, status.failures], ['blocked', 'exhausted', failures]);
      assert.deepEqual([operation?.attempts, operation?.attemptAt], [failures + 2, null]);
      assert.equal(place.summariser.requests.length, 0);
      assert.deepEqual(await toldOf(place, here), ['maintenance_exhausted']);
    });

  test('M-15 has two tries left where five have failed', async () => {
    const stand = await arrives(5);
    for (let n = 1; n <= 6; n += 1) await boundary(stand, `message ${n}`);
    await assertExhausted(stand);
    assert.equal(stand.place.summariser.requests.length, 2);
    const { lifetimeFailures } = await stand.engine.recoveryStatus(stand.here);
    assert.equal(lifetimeFailures, 9);
  });
});
