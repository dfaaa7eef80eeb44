// A runtime that keeps the model's session itself: what nobody knows the outcome of is not repeated.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId, SessionId } from '../../src/kernel/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { ScriptedRuntime, type RuntimeAction } from '../../src/testing/scripted-runtime.ts';
import { eventually, pass, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, Installation, says, type GivenParts } from '../support/host.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  keptBy,
  later,
  noticesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
  triesOf,
} from './maintenance-support.ts';
import { mortal } from './upkeep-support.ts';

function natively(place: Installation, runtime: ScriptedRuntime): GivenParts {
  return keptBy(place, runtime, { options: ONE_BY_ONE });
}

interface Stand {
  readonly place: Installation;
  readonly runtime: ScriptedRuntime;
  readonly here: ConversationId;
  engine: Engine;
}

/** A conversation whose next turn ends with a compact, or with a handover. */
async function before(kind: 'compact' | 'handover', place = new Installation()): Promise<Stand> {
  const runtime = new ScriptedRuntime();
  const engine = await place.host(natively(place, runtime));
  const here = await talkTo(engine);
  if (kind === 'handover') await compactedOut(place, here);
  place.model.answer = () => saysFull('read');
  return { place, runtime, here, engine };
}

async function restarted(stand: Stand): Promise<void> {
  await stand.engine.stop(0);
  stand.engine = await stand.place.host(natively(stand.place, stand.runtime));
}

/** Whatever happens but an admission: messages, ticks, minutes, restarts. The step is not made again. */
async function holdsStill(stand: Stand, action: RuntimeAction): Promise<void> {
  const { place, runtime, here } = stand;
  const calls = runtime.timesAsked(action);
  const turns = place.model.requests.length;
  const { version } = await operationOf(place, here);
  for (let round = 0; round < 3; round += 1) {
    await say(stand.engine, here, `kept ${round}`);
    await elapse(place, 31 * SECOND);
    await later(place, 10 * MINUTE);
    await restarted(stand);
  }
  const { state, reason, failures, nextAttemptAt } = await stand.engine.recoveryStatus(here);
  assert.deepEqual([state, reason, nextAttemptAt], ['blocked', 'uncertain', null]);
  assert.equal(failures, 1);
  assert.equal((await operationOf(place, here)).version, version);
  assert.equal(runtime.timesAsked(action), calls, `${action} is not called again`);
  assert.equal(place.model.requests.length, turns, 'no working turn');
  place.model.answer = () => says('answered');
}

let receipts = 0;

/** An admin's admission at the version that stands; its refusal where it is one. */
async function admit(
  { engine, place, here }: Stand,
  as?: 'handover',
): Promise<string | OperationRecord> {
  const { id: operationId, version: expectedVersion } = await operationOf(place, here);
  receipts += 1;
  const given = { operationId, expectedVersion, receiptId: `receipt ${receipts}`, as };
  const verdict = await engine.admit({ ...given, principal: ADMIN, channel: 'api' });
  return verdict.kind === 'refused' ? verdict.code : verdict.operation;
}

/** After an admission everything that was kept is answered. */
async function isDone(stand: Stand): Promise<OperationRecord> {
  const operation = await comesTo(stand.engine, stand.here, 'done');
  await restOf(stand.engine);
  const replies = await repliesIn(stand.place, stand.here);
  assert.deepEqual(replies.slice(1), ['answered', 'answered', 'answered']);
  return operation;
}

async function sessionOf({ place, here }: Stand): Promise<SessionId> {
  const found = await place.store.query('conversation.byId', { id: here });
  assert.ok(found);
  return found.sessionId;
}

describe('a compact that a runtime makes itself', () => {
  const ENDS: Readonly<Record<string, (stand: Stand) => Promise<void>>> = {
    'is rejected': async ({ runtime, engine, here }) => {
      runtime.fail('compact', { kind: 'rejects', code: 'busy', said: 'not now' });
      await say(engine, here, 'the first');
      await comesTo(engine, here, 'blocked');
    },
    'is rejected after its effect': async ({ runtime, engine, here }) => {
      runtime.fail('compact', { kind: 'rejects', isLate: true });
      await say(engine, here, 'the first');
      await comesTo(engine, here, 'blocked');
    },
    'breaks off': async ({ runtime, engine, here }) => {
      runtime.fail('compact', { kind: 'throws', code: 'ECONNRESET' });
      await say(engine, here, 'the first');
      await comesTo(engine, here, 'blocked');
    },
    'is interrupted by the end of its host': async (stand) => {
      const { runtime, engine, here, place } = stand;
      runtime.fail('compact', { kind: 'hangs' });
      await say(engine, here, 'the first');
      await eventually(() => runtime.timesAsked('compact') === 1);
      await engine.stop(0);
      assert.equal((await operationOf(place, here)).state, 'blocked', 'at once');
      stand.engine = await place.host(natively(place, runtime));
    },
    'is killed in flight with its host': async (stand) => {
      const { runtime, place, here } = stand;
      await stand.engine.stop(0);
      const { engine, kill } = await mortal(place, natively(place, runtime));
      runtime.fail('compact', { kind: 'dies' });
      await say(engine, here, 'the first');
      await eventually(() => runtime.timesAsked('compact') === 1);
      kill();
      stand.engine = await place.host(natively(place, runtime));
      assert.equal((await operationOf(place, here)).state, 'blocked', 'before anything is claimed');
    },
    'was reserved by a host that died before the call': async (stand) => {
      const { runtime, place, here } = stand;
      await stand.engine.stop(0);
      const { engine, store, kill } = await mortal(place, natively(place, runtime));
      store.mishap = ({ unit }) => (unit === 'maintenance.reserve' ? 'hangs-after' : undefined);
      await say(engine, here, 'the first');
      await eventually(async () => (await triesOf(place, here)).length === 1);
      kill();
      assert.equal(runtime.timesAsked('compact'), 0);
      stand.engine = await place.host(natively(place, runtime));
    },
  };

  for (const [how, happens] of Object.entries(ENDS))
    test(`M-6 M-7 and ${how} is never made again, and goes on as a handover alone`, async () => {
      const stand = await before('compact');
      await happens(stand);
      await holdsStill(stand, 'compact');
      const { place, here } = stand;
      assert.deepEqual(await toldOf(place, here), ['maintenance_uncertain', 'maintenance_kept']);
      assert.equal(await admit(stand), 'handover_only');
      const opened = await admit(stand, 'handover');
      assert.ok(typeof opened === 'object');
      assert.deepEqual(
        [opened.kind, opened.step, opened.epoch, opened.failures, opened.lifetimeFailures],
        ['handover', 'summarise', 2, 0, 1],
      );
      const { sessionId: old } = opened;
      const done = await isDone(stand);
      assert.equal(done.id, opened.id, 'the same operation');
      assert.ok(stand.runtime.timesAsked('compact') <= 1);
      assert.equal(stand.runtime.kept(old)?.next, done.nextSessionId);
      assert.equal(await sessionOf(stand), done.nextSessionId);
    });
});

describe('a handover that a runtime makes itself', () => {
  test('M-6 is not summed up again before an admission, and no handover is asked for', async () => {
    const stand = await before('handover');
    stand.runtime.fail('summarise', { kind: 'rejects' });
    await say(stand.engine, stand.here, 'the first');
    await comesTo(stand.engine, stand.here, 'blocked');
    await holdsStill(stand, 'summarise');
    assert.equal(await admit(stand, 'handover'), 'no_handover');
    assert.equal(stand.runtime.timesAsked('look'), 0);
    assert.ok(typeof (await admit(stand)) === 'object');
    await isDone(stand);
    const made = stand.runtime.calls.map(({ action }) => action);
    assert.deepEqual(made, ['summarise', 'look', 'summarise', 'rotate', 'seed']);
  });

  test('M-7 whose summary is of another session, or empty, is not used', async () => {
    for (const wrong of [{ session: 'ses_0000000000000000' as SessionId }, { summary: ' ' }]) {
      const stand = await before('handover');
      stand.runtime.fail('summarise', { kind: 'answers', ...wrong });
      await say(stand.engine, stand.here, 'the first');
      const { fault, step } = await comesTo(stand.engine, stand.here, 'blocked');
      assert.match(String(fault), 'session' in wrong ? /other_session/ : /summary_empty/);
      assert.equal(step, 'summarise');
    }
  });

  test('M-7 that rotated before it was killed is closed without a second rotate', async () => {
    const stand = await before('handover');
    const { place, runtime, here } = stand;
    await stand.engine.stop(0);
    const { engine, kill } = await mortal(place, natively(place, runtime));
    runtime.fail('rotate', { kind: 'dies', isLate: true });
    await say(engine, here, 'the first');
    await eventually(() => runtime.timesAsked('rotate') === 1);
    kill();
    stand.engine = await place.host(natively(place, runtime));
    await holdsStill(stand, 'rotate');
    const old = await sessionOf(stand);
    assert.ok(typeof (await admit(stand)) === 'object');
    const { nextSessionId } = await isDone(stand);
    assert.equal(runtime.timesAsked('rotate'), 1);
    assert.equal(runtime.kept(old)?.next, nextSessionId);
    assert.notEqual(await sessionOf(stand), old);
  });

  test('M-7 that had not rotated yet is rotated once after the look', async () => {
    const stand = await before('handover');
    stand.runtime.fail('rotate', { kind: 'rejects' });
    await say(stand.engine, stand.here, 'the first');
    await comesTo(stand.engine, stand.here, 'blocked');
    await holdsStill(stand, 'rotate');
    assert.ok(typeof (await admit(stand)) === 'object');
    await isDone(stand);
    const made = stand.runtime.calls.map(({ action }) => action);
    assert.deepEqual(made, ['summarise', 'rotate', 'look', 'rotate', 'seed']);
  });

  test('M-7 whose runtime is on a session that nobody knows needs a person again', async () => {
    const stand = await before('handover');
    const { runtime, here } = stand;
    runtime.fail('rotate', { kind: 'rejects' });
    await say(stand.engine, here, 'the first');
    await comesTo(stand.engine, here, 'blocked');
    const from = await sessionOf(stand);
    const next = 'ses_elsewhere0000000' as SessionId;
    await runtime.rotate({ from, next }, new AbortController().signal);
    await holdsStill(stand, 'rotate');
    assert.ok(typeof (await admit(stand)) === 'object');
    const again = await comesTo(stand.engine, here, 'blocked');
    assert.equal(again.reason, 'uncertain');
    assert.match(String(again.fault), /other_session/);
    assert.equal(runtime.timesAsked('rotate'), 2, 'the last one was not the host’s');
  });

  test('whose look fails stays with a person', async () => {
    const stand = await before('handover');
    stand.runtime.fail('rotate', { kind: 'rejects' });
    await say(stand.engine, stand.here, 'the first');
    await comesTo(stand.engine, stand.here, 'blocked');
    stand.runtime.fail('look', { kind: 'throws', code: 'ECONNREFUSED' });
    assert.ok(typeof (await admit(stand)) === 'object');
    const { reason, epoch } = await comesTo(stand.engine, stand.here, 'blocked');
    assert.deepEqual([reason, epoch], ['uncertain', 2]);
    assert.equal(stand.runtime.timesAsked('rotate'), 1);
  });

  test('M-6 whose seed took effect before it was cut is closed without another', async () => {
    const stand = await before('handover');
    const { place, runtime, here } = stand;
    runtime.fail('seed', { kind: 'throws', code: 'ETIMEDOUT', isLate: true });
    await say(stand.engine, here, 'the first');
    const { failures, step } = await comesTo(stand.engine, here, 'waiting');
    assert.deepEqual([step, failures], ['seed', 1]);
    await later(place, 2 * SECOND);
    const done = await comesTo(stand.engine, here, 'done');
    assert.equal(runtime.timesAsked('seed'), 1);
    assert.match(runtime.kept(done.nextSessionId as SessionId)?.seed ?? '', /what was said in/);
  });

  test('is seeded with what the host knows, and its own requests carry no second summary', async () => {
    const stand = await before('handover');
    const { place, runtime, here } = stand;
    await say(stand.engine, here, 'Ask me before you delete anything.');
    const { nextSessionId } = await comesTo(stand.engine, here, 'done');
    const { seed } = runtime.kept(nextSessionId as SessionId) ?? {};
    assert.match(seed ?? '', /what was said in/);
    assert.match(seed ?? '', /Ask me before you delete anything\./);
    await say(stand.engine, here, 'go on');
    await pass();
    const last = JSON.stringify(place.model.requests.at(-1));
    assert.ok(!last.includes('what was said in'));
    assert.match(last, /Ask me before you delete anything\./);
  });

  test('says once that a person has to look', async () => {
    const stand = await before('compact');
    stand.runtime.fail('compact', { kind: 'rejects', code: 'busy', said: 'not now' });
    await say(stand.engine, stand.here, 'the first');
    const { id, version } = await comesTo(stand.engine, stand.here, 'blocked');
    const [notice] = await noticesOf(stand.place, stand.here);
    assert.equal(notice?.['code'], 'maintenance_uncertain');
    const { operationId, version: named, code, kind } = JSON.parse(String(notice?.['params']));
    assert.deepEqual([operationId, named, code, kind], [id, version, 'busy', 'compact']);
  });
});
