// A limited account over restarts, on several hosts, and while it is unreachable (T-18, R-15).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Gate } from '../../src/engine/budget/gate.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { pass } from '../support/acts.ts';
import { Installation, ScriptedModel } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { ask, fault, gateOf, gotOf, IDLE, kindsOf, limit, sink } from './gate-support.ts';

describe('after a restart', () => {
  test('T-18 a limit is kept: nothing bursts out', async () => {
    const place = new Installation();
    const former = gateOf(place);
    await limit(former.gate, place, { retryAt: place.clock.now() + 30 * SECOND });
    const { gate } = gateOf(place);
    await gate.load();
    assert.equal(gate.limited.length, 1);
    const waits = await ask(gate, place);
    place.clock.advance(29 * SECOND);
    assert.deepEqual(await kindsOf([waits]), [undefined]);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([waits]), ['probe']);
    await gate.close();
  });

  test('a turn that died with its host is spent, and not waited for', async () => {
    const place = new Installation();
    const former = gateOf(place);
    await limit(former.gate, place);
    const dies = await ask(former.gate, place);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([dies]), ['probe']);
    const { gate } = gateOf(place);
    await gate.load();
    const waits = await ask(gate, place);
    assert.deepEqual(await kindsOf([waits]), [undefined], 'the pause after it is kept');
    place.clock.advance(2 * SECOND);
    assert.deepEqual(await kindsOf([waits]), ['probe'], 'its host is dead, so is its call');
    await gate.close();
  });
});

describe('hosts on a shared store', () => {
  test('let one call find out between them', async () => {
    const place = new Installation({ exclusive: false });
    const [one, two] = [gateOf(place).gate, gateOf(place).gate];
    await limit(one, place);
    await two.load();
    const asked = [await ask(one, place), await ask(two, place)];
    place.clock.advance(SECOND);
    await pass(10);
    const kinds = await kindsOf(asked);
    assert.equal(kinds.filter((kind) => kind === 'probe').length, 1, JSON.stringify(kinds));
    const [finder, waiter] = kinds[0] === 'probe' ? [one, two] : [two, one];
    const [got, waits] = kinds[0] === 'probe' ? asked : asked.toReversed();
    await finder.succeeded(place.model, gotOf(got!));
    assert.equal(waits?.passage(), undefined);
    await waiter.load();
    assert.deepEqual(await kindsOf([waits!]), ['go'], 'the tick tells it');
    await one.close();
    await two.close();
  });

  test('read a limited account again when it is about to be passed', async () => {
    const place = new Installation({ exclusive: false });
    const [one, two] = [gateOf(place).gate, gateOf(place).gate];
    await sink(one, place);
    await two.load();
    await one.succeeded(place.model, { kind: 'go', probe: false });
    assert.deepEqual(await two.pass(place.model, IDLE), { kind: 'go', probe: false });
    await one.close();
    await two.close();
  });

  test('T-18 probe an unreachable account once between them', async () => {
    const place = new Installation({ exclusive: false });
    const model = new ProbedModel(place);
    model.alive = false;
    const gates = [gateOf(place, { model }).gate, gateOf(place, { model }).gate];
    await sink(gates[0]!, { model });
    await gates[1]!.load();
    place.clock.advance(LIMITS.probeFirstMs);
    for (const gate of gates) gate.look();
    await pass(10);
    assert.equal(model.probes.length, 1);
    for (const gate of gates) await gate.close();
  });

  test('wait for a call of a host that may live, and take its turn when its time is up', async () => {
    const place = new Installation({ exclusive: false });
    const [one, two] = [gateOf(place).gate, gateOf(place).gate];
    await limit(one, place);
    const dies = await ask(one, place);
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([dies]), ['probe']);
    await two.load();
    const waits = await ask(two, place);
    place.clock.advance(MINUTE);
    assert.deepEqual(await kindsOf([waits]), [undefined]);
    place.clock.advance(LIMITS.modelCallMs - MINUTE);
    assert.deepEqual(await kindsOf([waits]), ['probe']);
    await one.close();
    await two.close();
  });
});

/** Cheap probes that were asked of a model, each answered as the test says. */
class ProbedModel extends ScriptedModel {
  readonly probes: number[] = [];
  readonly #now: () => number;
  onProbe: () => void = () => {};

  constructor(place: Installation) {
    super();
    this.#now = () => place.clock.now();
  }

  override async probe(): Promise<'alive' | 'unreachable'> {
    this.probes.push(this.#now());
    this.onProbe();
    return super.probe();
  }
}

/** What a host's due loop does for its gate, for so long. */
async function runFor(gate: Gate, place: Installation, ms: number): Promise<void> {
  const end = place.clock.now() + ms;
  for (;;) {
    gate.look();
    await pass(6);
    const next = gate.nextAt() ?? end;
    if (next >= end) break;
    place.clock.advance(Math.max(next - place.clock.now(), 1));
  }
  place.clock.advance(end - place.clock.now());
}

describe('an unreachable account', () => {
  test('T-18 is probed cheaply with growing pauses, each probe committed before it is made', async () => {
    const place = new Installation();
    const model = new ProbedModel(place);
    model.alive = false;
    const store = new ShakyStore(place.store);
    const { gate } = gateOf(place, { model, store });
    await sink(gate, { model });
    const began = place.clock.now();
    store.seen.length = 0;
    model.onProbe = () => assert.equal(store.seen.length, model.probes.length);
    await runFor(gate, place, HOUR);
    const gaps = model.probes.map(
      (at, index) => (at - (model.probes[index - 1] ?? began)) / SECOND,
    );
    assert.deepEqual(gaps.slice(0, 8), [5, 10, 20, 40, 80, 160, 300, 300]);
    assert.ok(model.probes.length <= 18);
    assert.equal(model.requests.length, 0);
    await gate.close();
  });

  test('T-18 that shows a sign of life lets one real call find out; the tasks that wait come back one, then all', async () => {
    const place = new Installation();
    const model = new ProbedModel(place);
    const { gate } = gateOf(place, { model });
    await sink(gate, { model });
    assert.deepEqual(gate.returning(), []);
    place.clock.advance(LIMITS.probeFirstMs);
    gate.look();
    await pass(6);
    assert.equal(model.probes.length, 1);
    assert.deepEqual(
      gate.returning().map(({ many }) => many),
      ['one'],
    );
    const [first, second] = [await ask(gate, { model }), await ask(gate, { model })];
    assert.deepEqual(await kindsOf([first, second]), ['probe', undefined]);
    assert.deepEqual(gate.returning(), [], 'somebody finds out already');
    await gate.succeeded(model, gotOf(first));
    assert.deepEqual(
      gate.returning().map(({ many }) => many),
      ['all'],
    );
    await gate.close();
  });

  test('that answers probes and fails calls is asked less and less', async () => {
    const place = new Installation();
    const model = new ProbedModel(place);
    const { gate } = gateOf(place, { model });
    await sink(gate, { model });
    let calls = 0;
    const end = place.clock.now() + HOUR;
    while (place.clock.now() < end) {
      await runFor(gate, place, 5 * SECOND);
      await pass(4);
      const passage = await gate.pass(model, IDLE);
      if (passage.kind !== 'go') continue;
      calls += 1;
      await gate.failed(model, fault('http_500'), passage);
    }
    assert.ok(calls >= 10 && calls <= 20, `${calls} real calls in an hour`);
    await gate.close();
  });

  test('is not probed while the wall clock is not trusted, and a hanging probe ends', async () => {
    const place = new Installation();
    const model = new ProbedModel(place);
    model.probe = () => {
      model.probes.push(0);
      return new Promise(() => {});
    };
    const stage = gateOf(place, { model });
    const { gate } = stage;
    await sink(gate, { model });
    stage.trusted = false;
    place.clock.advance(LIMITS.probeFirstMs);
    gate.look();
    await pass(4);
    assert.equal(model.probes.length, 0);
    stage.trusted = true;
    gate.look();
    await pass(4);
    gate.look();
    await pass(4);
    assert.equal(model.probes.length, 1, 'one at a time');
    place.clock.advance(LIMITS.probeCallMs);
    await pass(4);
    gate.look();
    await pass(4);
    assert.equal(model.probes.length, 2, 'the next one is due');
    await gate.close();
    assert.deepEqual(stage.faults, []);
  });

  test('has its tasks wait while somebody is about to find out', async () => {
    const place = new Installation();
    const stage = gateOf(place);
    const { gate } = stage;
    await limit(gate, place);
    const waits = await ask(gate, place);
    stage.trusted = false;
    place.clock.advance(SECOND);
    assert.deepEqual(await kindsOf([waits]), [undefined]);
    assert.deepEqual(gate.returning(), []);
    waits.abort();
    assert.deepEqual(
      gate.returning().map(({ many }) => many),
      ['one'],
    );
    await gate.close();
  });

  test('that no configured model uses any more holds nobody back', async () => {
    const place = new Installation();
    const former = gateOf(place);
    await sink(former.gate, place);
    const model = new ScriptedModel(undefined, 'another-model');
    const { gate } = gateOf(place, { model });
    await gate.load();
    assert.deepEqual(gate.returning(), []);
    place.clock.advance(LIMITS.probeFirstMs);
    gate.look();
    await pass(4);
    assert.deepEqual(
      gate.returning().map(({ many }) => many),
      ['all'],
    );
    assert.deepEqual(gate.limited, []);
    await gate.close();
  });
});

test('ten minutes of refusals with a named pause cost few requests, also over a restart, and everybody is served', async () => {
  const place = new Installation();
  const began = place.clock.now();
  const requests: number[] = [];
  let gate = gateOf(place).gate;
  const waiting = Array.from({ length: 30 }, (_, index) => index);
  const served: number[] = [];

  /** One task's call: true when it is served. */
  async function call(signal: AbortSignal): Promise<boolean> {
    const { model } = place;
    const passage = await gate.pass(model, signal);
    if (passage.kind !== 'go') return false;
    requests.push(place.clock.now() - began);
    await pass(1);
    const isOver = place.clock.now() - began >= 10 * MINUTE;
    const retryAt = place.clock.now() + 30 * SECOND;
    if (isOver) await gate.succeeded(model, passage);
    else await gate.failed(model, fault('http_429', { retryAt }), passage);
    return isOver;
  }

  let hostLife = new AbortController();
  const running = new Set<Promise<void>>();
  function start(task: number): void {
    const { signal } = hostLife;
    const work = call(signal)
      .then((isServed) => {
        if (isServed) served.push(task);
        else waiting.push(task);
        return undefined;
      })
      .finally(() => running.delete(work));
    running.add(work);
  }

  let isRestarted = false;
  for (; served.length < 30 && place.clock.now() - began < HOUR; place.clock.advance(SECOND)) {
    if (!isRestarted && place.clock.now() - began >= 4 * MINUTE) {
      isRestarted = true;
      hostLife.abort();
      await Promise.all(running);
      hostLife = new AbortController();
      gate = gateOf(place).gate;
      await gate.load();
    }
    gate.look();
    await pass(4);
    // Eight at once, and none that the account would only send back.
    const isDown = gate.limited.some(({ state }) => state === 'down');
    for (const task of isDown ? [] : waiting.splice(0, 8 - running.size)) start(task);
    await pass(4);
  }
  assert.equal(served.length, 30);
  const refused = requests.filter((at) => at < 10 * MINUTE);
  assert.ok(refused.length <= 25, `${refused.length} requests: ${refused.join(' ')}`);
  assert.ok(Math.max(...requests) <= 16 * MINUTE, 'soon after it is over');
  await gate.close();
});
