// Who may call a limited account, and when (T-12, T-18).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { pass } from '../support/acts.ts';
import { Installation, ScriptedModel } from '../support/host.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';
import { ask, fault, gateOf, gotOf, IDLE, kindsOf, limit, sink } from './gate-support.ts';

describe('an open account', () => {
  test('costs no read and no commit, also when its calls succeed', async () => {
    const place = new Installation();
    const store = new ShakyStore(place.store);
    let queries = 0;
    store.onQuery = () => {
      queries += 1;
    };
    const { gate } = gateOf(place, { store });
    const passage = await gate.pass(place.model, IDLE);
    assert.deepEqual(passage, { kind: 'go', probe: false });
    await gate.succeeded(place.model, passage);
    await gate.failed(
      place.model,
      fault('http_400', { class: 'refused', scope: 'request' }),
      passage,
    );
    gate.release(place.model, passage);
    assert.deepEqual([queries, store.seen, gate.limited], [0, [], []]);
  });
});

describe('a limited account', () => {
  test('T-18 lets one call find out at a time, in the order of arrival, and opens for all when it succeeds', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const asked = [await ask(gate, place), await ask(gate, place), await ask(gate, place)];
    assert.deepEqual(await kindsOf(asked), [undefined, undefined, undefined]);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf(asked), ['probe', undefined, undefined]);
    const [row] = await place.rows('limiter');
    assert.ok(Number(row?.['probe_until']) > place.clock.now(), 'its turn is committed');
    await gate.failed(place.model, fault('http_503'), gotOf(asked[0]!));
    place.clock.advance(2 * SECOND);
    assert.deepEqual(await kindsOf(asked), ['probe', 'probe', undefined]);
    await gate.succeeded(place.model, gotOf(asked[1]!));
    assert.deepEqual(await kindsOf(asked), ['probe', 'probe', 'go']);
    assert.deepEqual(gate.limited, []);
    await gate.close();
  });

  test('counts calls that were out together as one failure', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    const passages = await Promise.all([1, 2, 3].map(() => gate.pass(place.model, IDLE)));
    await Promise.all(passages.map((each) => gate.failed(place.model, fault('timeout'), each)));
    const [limiter] = gate.limited;
    assert.deepEqual([limiter?.failures, limiter?.until], [1, place.clock.now() + SECOND]);
    await gate.close();
  });

  test('T-12 answers a far named instant at once, also to whoever waits already', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const waits = await ask(gate, place);
    const early = await ask(gate, place);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([waits, early]), ['probe', undefined]);
    const until = place.clock.now() + HOUR;
    await gate.failed(place.model, fault('http_429', { retryAt: until }), gotOf(waits));
    await pass(4);
    const quota = { kind: 'quota', until, code: 'http_429' };
    assert.deepEqual(early.passage(), quota);
    assert.deepEqual(await gate.pass(place.model, IDLE), quota);
    place.clock.advance(HOUR - MINUTE);
    const near = await ask(gate, place);
    assert.deepEqual(await kindsOf([near]), [undefined], 'what is near is waited for');
    place.clock.advance(MINUTE);
    assert.deepEqual(await kindsOf([near]), ['probe']);
    await gate.close();
  });

  test('answers at once whose signal aborts, and never the rest of the line for it', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const [first, second] = [await ask(gate, place), await ask(gate, place)];
    first.abort();
    assert.deepEqual(await kindsOf([first, second]), ['aborted', undefined]);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([second]), ['probe']);
    assert.deepEqual(await gate.pass(place.model, AbortSignal.abort()), { kind: 'aborted' });
    await gate.close();
  });

  test('gives the turn of an aborted call to the next, at once and without a failure', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const [first, second] = [await ask(gate, place), await ask(gate, place)];
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([first]), ['probe']);
    gate.release(place.model, gotOf(first));
    assert.deepEqual(await kindsOf([second]), ['probe']);
    gate.release(place.model, gotOf(first));
    const third = await ask(gate, place);
    assert.deepEqual(await kindsOf([third]), [undefined], 'a turn is given back once');
    await gate.close();
  });

  test('gives the turn on when the caller vanishes, after the time that a call may take', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const [first, second] = [await ask(gate, place), await ask(gate, place)];
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([first]), ['probe']);
    place.clock.advance(LIMITS.modelCallMs - 1);
    assert.deepEqual(await kindsOf([first, second]), ['probe', undefined]);
    place.clock.advance(1);
    assert.deepEqual(await kindsOf([second]), ['probe']);
    await gate.close();
  });

  test('T-12 of a refused key answers so for a while, then one call finds out and the others wait for it', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place, { class: 'refused', scope: 'account', code: 'http_401' });
    const refused = { kind: 'refused', code: 'http_401' };
    assert.deepEqual(await gate.pass(place.model, IDLE), refused);
    place.clock.advance(LIMITS.refusedCoolMs);
    const [first, second] = [await ask(gate, place), await ask(gate, place)];
    assert.deepEqual(await kindsOf([first, second]), ['probe', undefined]);
    const again = fault('http_401', { class: 'refused', scope: 'account' });
    await gate.failed(place.model, again, gotOf(first));
    assert.deepEqual(await second.answered, refused);
    await gate.close();
  });

  test('lets nobody find out while the wall clock is not trusted', async () => {
    const place = new Installation();
    const stage = gateOf(place);
    const { gate } = stage;
    await limit(gate, place);
    stage.trusted = false;
    const waits = await ask(gate, place);
    place.clock.advance(MINUTE);
    gate.look();
    assert.deepEqual(await kindsOf([waits]), [undefined]);
    stage.trusted = true;
    gate.look();
    assert.deepEqual(await kindsOf([waits]), ['probe']);
    await gate.close();
  });

  test('is another account’s affair only', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await sink(gate, place);
    const other = new ScriptedModel(undefined, 'other-model');
    assert.deepEqual(await gate.pass(other, IDLE), { kind: 'go', probe: false });
    await gate.close();
  });
});

describe('a step that used its tries up', () => {
  test('T-18 makes the account down: whoever waits and whoever comes learns it at once', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const waits = await ask(gate, place);
    await gate.exhausted(place.model, 'connect');
    const down = { kind: 'down', code: 'connect' };
    assert.deepEqual(await waits.answered, down);
    assert.deepEqual(await gate.pass(place.model, IDLE), down);
    await gate.close();
  });

  test('is every step: six failures in a row sink the account, whoever made the calls', async () => {
    const place = new Installation();
    const { gate } = gateOf(place);
    await limit(gate, place);
    const callers = await Promise.all([1, 2, 3].map(() => ask(gate, place)));
    const began = place.clock.now();
    for (let failures = 2; failures <= 6; failures += 1) {
      const [limiter] = gate.limited;
      place.clock.advance((limiter?.until ?? 0) - place.clock.now());
      assert.equal((await kindsOf(callers)).filter((kind) => kind === 'probe').length, 1);
      const at = callers.findIndex((caller) => caller.passage() !== undefined);
      const [caller] = callers.splice(at, 1, await ask(gate, place));
      await gate.failed(place.model, fault('connect'), gotOf(caller!));
    }
    assert.equal(place.clock.now() - began, 31 * SECOND);
    assert.deepEqual(await kindsOf(callers), ['down', 'down', 'down']);
    await gate.close();
  });
});

describe('a store that stumbles', () => {
  for (const mishap of ['unseen', 'busy', 'disconnected'] as const) {
    test(`${mishap} counts a failure once and gives one turn`, async () => {
      const place = new Installation();
      const store = new ShakyStore(place.store);
      const clock = new QuickClock();
      const { gate } = gateOf(place, { store, clock });
      const passage = await gate.pass(place.model, IDLE);
      store.mishap = ({ index }) => (index === 0 ? mishap : undefined);
      await gate.failed(place.model, fault('http_503'), passage);
      const [row] = await place.rows('limiter');
      assert.deepEqual([row?.['failures'], row?.['version']], [1, 1]);
      store.seen.length = 0;
      place.clock.advance(SECOND);
      clock.advance(SECOND);
      const [first, second] = [await ask(gate, place), await ask(gate, place)];
      await pass(20);
      assert.deepEqual(await kindsOf([first, second]), ['probe', undefined]);
      const [reserved] = await place.rows('limiter');
      assert.deepEqual([reserved?.['failures'], reserved?.['version']], [2, 2]);
      store.seen.length = 0;
      await gate.succeeded(place.model, gotOf(first));
      assert.deepEqual(await kindsOf([second]), ['go']);
      await gate.close();
    });
  }

  test('fails only the caller whose turn it could not commit', async () => {
    const place = new Installation();
    const store = new ShakyStore(place.store);
    const { gate } = gateOf(place, { store });
    await limit(gate, place);
    const first = gate.pass(place.model, IDLE);
    const second = await ask(gate, place);
    store.seen.length = 0;
    store.mishap = ({ index }) => (index === 0 ? 'disk_full' : undefined);
    place.clock.advance(SECOND);
    await assert.rejects(first, { code: 'disk_full' });
    assert.deepEqual(await kindsOf([second]), ['probe']);
    await gate.close();
  });

  test('leaves no turn taken when an outcome cannot be saved', async () => {
    const place = new Installation();
    const store = new ShakyStore(place.store);
    const { gate } = gateOf(place, { store });
    await limit(gate, place);
    const [first, second] = [await ask(gate, place), await ask(gate, place)];
    place.clock.advance(SECOND);
    await pass(4);
    store.mishap = () => 'disk_full';
    await assert.rejects(gate.failed(place.model, fault('http_503'), gotOf(first)));
    store.mishap = () => undefined;
    place.clock.advance(2 * SECOND);
    assert.deepEqual(await kindsOf([second]), ['probe']);
    await gate.close();
  });
});
