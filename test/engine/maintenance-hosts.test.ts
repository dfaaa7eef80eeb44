// Hosts that come, die and share a store while they maintain a session, and what they wait for.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, heldCall, pass, restOf, say, talkTo } from '../support/acts.ts';
import {
  ADMIN,
  fails,
  Installation,
  says,
  ScriptedModel,
  sumsUp,
  type GivenParts,
} from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  later,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
  triesOf,
} from './maintenance-support.ts';
import { mortal } from './upkeep-support.ts';

const GIVEN = { options: ONE_BY_ONE } as const;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** What an operation has left once it is done, whatever happened on the way. */
async function assertDone(place: Installation, here: ConversationId): Promise<void> {
  const operation = await operationOf(place, here);
  assert.equal(operation.state, 'done');
  assert.equal((await place.rows('operation')).length, 1);
  const sessions = (await place.rows('session')).toSorted(
    (a, b) => Number(a['first_seq']) - Number(b['first_seq']),
  );
  const conversation = (await place.rows('conversation'))[0];
  if (operation.kind === 'compact') {
    assert.deepEqual(
      sessions.map(({ compactions, next_id: next }) => [compactions, next]),
      [[1, null]],
    );
    assert.equal(conversation?.['session_id'], operation.sessionId);
    return;
  }
  const [old, next, ...others] = sessions;
  assert.deepEqual(others, [], 'one session follows');
  assert.deepEqual([old?.['next_id'], next?.['previous_id']], [next?.['id'], old?.['id']]);
  assert.notEqual(next?.['seed'], null);
  assert.equal(conversation?.['session_id'], next?.['id']);
}

describe('a host that dies while it maintains', () => {
  for (const kind of ['compact', 'handover'] as const)
    test(`leaves either the old session whole or the new one, wherever in a ${kind} it dies`, async () => {
      let deaths = 0;
      for (let dies = 0; ; dies += 1) {
        const place = new Installation();
        const { engine, store, kill } = await mortal(place, GIVEN);
        const here = await talkTo(engine);
        if (kind === 'handover') await compactedOut(place, here);
        let seen = 0;
        let isDead = false;
        const after = dies % 2 === 1;
        store.mishap = ({ unit }) => {
          if (isDead) return 'hangs';
          if (!unit.startsWith('maintenance.') && unit !== 'turn.end') return undefined;
          if (seen !== Math.floor(dies / 2)) {
            seen += 1;
            return undefined;
          }
          isDead = true;
          return after ? 'hangs-after' : 'hangs';
        };
        place.model.answer = () => saysFull('read');
        await say(engine, here, 'the first');
        await pass(60);
        if (!isDead) break;
        deaths += 1;
        kill();
        place.model.answer = () => says('and on');
        const next = await place.host(GIVEN);
        await elapse(place, 4 * SECOND);
        // A turn that had no end yet is judged and goes on, or waits for its check: that is another story.
        if ((await place.rows('operation')).length === 0) continue;
        await assertDone(place, here);
        await say(next, here, 'the second');
        await restOf(next);
        assert.deepEqual(await repliesIn(place, here), ['read', 'and on'], `death ${dies}`);
        const { attempts, failures } = await operationOf(place, here);
        assert.equal((await triesOf(place, here)).length, attempts, 'each try was counted once');
        assert.ok(failures <= 1);
        await next.stop(0);
      }
      assert.ok(deaths >= (kind === 'compact' ? 6 : 12), `${deaths} deaths`);
    });

  test('has used one failure of the step that was cut, and its call changes nothing when it comes back', async () => {
    const place = new Installation();
    const call = heldCall();
    place.summariser.answer = call.hold;
    const dead = await mortal(place, GIVEN);
    const here = await talkTo(dead.engine);
    place.model.answer = () => saysFull('read');
    await say(dead.engine, here, 'the first');
    await call.begun;
    dead.kill();
    place.summariser.answer = () => sumsUp('by the next host');
    const engine = await place.host(GIVEN);
    const { failures, state, fault } = await operationOf(place, here);
    assert.deepEqual(
      [state, failures, JSON.parse(String(fault)).code],
      ['waiting', 1, 'interrupted'],
    );
    await elapse(place, 2 * SECOND);
    await comesTo(engine, here, 'done');
    call.release(sumsUp('by the dead'));
    await pass();
    const [session] = await place.rows('session');
    assert.match(String(session?.['seed']), /by the next host/);
    assert.equal(session?.['compactions'], 1);
  });

  test('is not waited for: a stop ends its try, which is used', async () => {
    const place = new Installation();
    const call = heldCall();
    place.summariser.answer = call.hold;
    const engine = await place.host(GIVEN);
    const here = await talkTo(engine);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    await call.begun;
    assert.equal(engine.health().maintaining.length, 1);
    await engine.stop(0);
    const { state, failures, attempts, attemptAt } = await operationOf(place, here);
    assert.deepEqual([state, failures, attempts, attemptAt], ['waiting', 1, 1, null]);
  });
});

describe('commits whose outcome is unknown', () => {
  for (const mishap of ['unseen', 'busy', 'disconnected'] as const)
    test(`each ${mishap} once: a handover is made once`, async () => {
      const place = new Installation();
      const met = new Set<string>();
      const store = new ShakyStore(place.store, ({ unit }) => {
        if (!unit.startsWith('maintenance.') || met.has(unit)) return undefined;
        met.add(unit);
        return mishap;
      });
      const engine = await place.host({ ...GIVEN, store, clock: new QuickClock() });
      const here = await talkTo(engine);
      await compactedOut(place, here);
      place.model.answer = () => saysFull('read');
      await say(engine, here, 'the first');
      await restOf(engine);
      await eventually(async () => (await operationOf(place, here)).state === 'done');
      await assertDone(place, here);
      const { attempts, failures } = await operationOf(place, here);
      assert.deepEqual([attempts, failures], [4, 0]);
      assert.equal(place.summariser.requests.length, 1);
      assert.ok(met.size >= 5, [...met].join(' '));
    });
});

describe('two hosts on a shared store', () => {
  test('make each try once, and never two at a time', async () => {
    const place = new Installation({ exclusive: false });
    let open = 0;
    let most = 0;
    place.summariser.answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await pass(3);
      open -= 1;
      return fails('transient', 'http_500');
    };
    const [engine] = await Promise.all([place.host(GIVEN), place.host(GIVEN)]);
    const here = await talkTo(engine);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    await elapse(place, 4 * MINUTE);
    const { state, attempts } = await operationOf(place, here);
    assert.deepEqual([state, attempts], ['blocked', 7]);
    assert.equal(place.summariser.requests.length, 7);
    assert.equal(most, 1);
    assert.deepEqual(await toldOf(place, here), ['maintenance_waiting', 'maintenance_exhausted']);
  });

  test('one dies in a try: the other takes it over once its lease has run out, as one failure', async () => {
    const place = new Installation({ exclusive: false });
    const call = heldCall();
    place.summariser.answer = call.hold;
    const dead = await mortal(place, GIVEN);
    const here = await talkTo(dead.engine);
    place.model.answer = () => saysFull('read');
    await say(dead.engine, here, 'the first');
    await call.begun;
    const other = await place.host(GIVEN);
    await elapse(place, 40 * SECOND);
    assert.equal((await operationOf(place, here)).failures, 0, 'its host lives');
    dead.kill();
    place.summariser.answer = () => sumsUp('by the other');
    await elapse(place, 90 * SECOND);
    await comesTo(other, here, 'done');
    assert.equal((await operationOf(place, here)).failures, 1);
    await assertDone(place, here);
  });
});

describe('what a step waits for', () => {
  async function failing(
    answer: (place: Installation) => Installation['summariser']['answer'],
    given: GivenParts = {},
  ): Promise<Stand> {
    const place = new Installation();
    place.summariser.answer = answer(place);
    const engine = await place.host({ ...GIVEN, ...given });
    const here = await talkTo(engine);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    await comesTo(engine, here, 'waiting');
    return { place, engine, here };
  }

  test('T-12 M-6 a quota whose end is named is no failure, ten times in a row; from then on it is', async () => {
    const { place, engine, here } = await failing(
      ({ clock }) =>
        () =>
          fails('transient', 'http_429', { retryAt: clock.now() + HOUR, scope: 'account' }),
    );
    for (let wait = 1; wait <= LIMITS.quotaWaitsMax; wait += 1) {
      const { failures, quotaWaits, nextAttemptAt } = await operationOf(place, here);
      assert.deepEqual([failures, quotaWaits], [0, wait]);
      assert.equal(nextAttemptAt, place.clock.now() + HOUR);
      const asked = place.summariser.requests.length;
      await later(place, HOUR - SECOND);
      await elapse(place, SECOND);
      assert.equal(place.summariser.requests.length, asked + 1, 'not before the instant');
    }
    assert.equal((await operationOf(place, here)).failures, 1);
    await elapse(place, 2 * MINUTE);
    await comesTo(engine, here, 'blocked');
    assert.equal((await operationOf(place, here)).failures, 7);
  });

  test('a nearer instant is waited for, and counts', async () => {
    const { place, here } = await failing(
      ({ clock }) =>
        () =>
          fails('transient', 'http_429', { retryAt: clock.now() + 20 * SECOND }),
    );
    const { failures, nextAttemptAt } = await operationOf(place, here);
    assert.deepEqual([failures, nextAttemptAt], [1, place.clock.now() + 20 * SECOND]);
  });

  test('the conversation’s fallbacks are asked where the summary model cannot answer', async () => {
    const place = new Installation();
    const fallback = new ScriptedModel(() => sumsUp('by the fallback'), 'fallback');
    place.summariser.answer = () => fails('refused', 'http_401', { scope: 'account' });
    const engine = await place.host({ ...GIVEN, fallbacks: [fallback] });
    const here = await talkTo(engine);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    const { failures } = await comesTo(engine, here, 'done');
    assert.equal(failures, 0);
    assert.equal(fallback.requests.length, 1);
  });

  test('R-12 safe mode reserves no try, and answers people; what is due is made after it', async () => {
    const place = new Installation();
    const recovery = { ...ONE_BY_ONE.recovery, safeMode: true };
    const given = { options: { ...ONE_BY_ONE, recovery } };
    place.summariser.answer = () => fails('transient', 'http_500');
    let dying = await mortal(place, given);
    await dying.engine.openConversation({ channel: 'terminal', address: 'desk', principal: ADMIN });
    const here = await talkTo(dying.engine);
    place.model.answer = () => saysFull('read');
    await say(dying.engine, here, 'the first');
    await comesTo(dying.engine, here, 'waiting');
    for (let death = 1; death <= 2; death += 1) {
      dying.kill();
      place.clock.advance(MINUTE);
      dying = await mortal(place, given);
      await elapse(place, 2 * SECOND);
    }
    dying.kill();
    place.clock.advance(MINUTE);
    place.summariser.answer = () => sumsUp('all of it');
    const engine = await place.host(given);
    assert.notEqual(engine.health().safeMode, null);
    const asked = place.summariser.requests.length;
    const elsewhere = await talkTo(engine, 'elsewhere');
    await say(engine, elsewhere, 'hello?');
    await elapse(place, 5 * MINUTE);
    assert.equal(place.summariser.requests.length, asked, 'no try');
    assert.deepEqual(await repliesIn(place, elsewhere), ['read']);
    await engine.endSafeMode({ principal: ADMIN, channel: 'api' });
    await elapse(place, 2 * SECOND);
    await comesTo(engine, here, 'done');
  });

  test('no more than two are carried out at once on a host', async () => {
    const place = new Installation();
    let open = 0;
    let most = 0;
    place.summariser.answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await pass(10);
      open -= 1;
      return sumsUp('all of it');
    };
    place.model.answer = () => saysFull('read');
    const engine = await place.host(GIVEN);
    const lanes = Array.from({ length: 7 }, (_, lane) => `lane ${lane}`);
    const ids = await Promise.all(lanes.map((lane) => talkTo(engine, lane)));
    await Promise.all(ids.map((id) => say(engine, id, 'the first')));
    for (const id of ids) await comesTo(engine, id, 'done');
    assert.equal(most, LIMITS.maintenanceAtOnce);
  });
});
