import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../src/engine/create.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { ANNA, asks, Installation, judges, OPTIONS, says } from '../support/host.ts';
import { QuickClock, ShakyStore, type Mishap } from '../support/store-faults.ts';

const TICK = OPTIONS.tickMs;

/** Pays and looks for `pay`, answers `empty` only when it is asked again, else says hello. */
function script(place: Installation): void {
  // What is cut has its last word by its assessment.
  place.assessor.answer = () => judges('inconclusive');
  place.model.answer = (request) => {
    const texts = request.messages.filter((message) => message.role === 'user');
    const asked = texts.at(-1)?.text ?? '';
    const last = request.messages.at(-1);
    if (asked === 'pay' && last?.role === 'user')
      return asks(['pay', { n: 1 }], ['look', { n: 2 }]);
    return asked === 'empty' ? says(' ') : says(`answer to ${asked.slice(0, 12)}`);
  };
}

/** Every call has exactly one result behind it and every result its call (INC-006). */
function assertPaired(request: ModelRequest | undefined): void {
  assert.ok(request !== undefined);
  const owed: string[] = [];
  for (const message of request.messages) {
    if (message.role === 'tool') assert.equal(owed.shift(), message.callId);
    else assert.deepEqual(owed, []);
    if (message.role === 'assistant') owed.push(...message.calls.map(({ id }) => id));
  }
  assert.deepEqual(owed, []);
}

/** Lets the host work until nothing is open, with a tick whenever nothing moves by itself. */
async function rest(place: Installation, clock: QuickClock, engine: Engine): Promise<void> {
  for (let round = 0; round < 400; round += 1) {
    await new Promise(setImmediate);
    if (round % 20 === 19) clock.advance(TICK);
    if (await isAtRest(place, engine)) return;
  }
  assert.fail('the host does not come to rest');
}

async function isAtRest(place: Installation, engine: Engine): Promise<boolean> {
  if (engine.health().runningTurns > 0) return false;
  if ((await place.rows('turn')).some((turn) => turn['state'] !== 'ended')) return false;
  if ((await place.rows('task')).some((task) => task['wait_kind'] === 'assessment')) return false;
  const due = await place.store.query('inbox.due', { generatedSince: 0, limit: 1 });
  const commands = await place.store.query('message.openCommands', { limit: 1 });
  return due.length === 0 && commands.length === 0;
}

/** A client that asks again with its key until it is told. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries > 2) throw error;
    }
  }
}

async function playAll(engine: Engine): Promise<void> {
  const conversationId = await insist(() =>
    engine.openConversation({ channel: 'api', address: 'a', principal: ANNA }),
  );
  const idempotency = (key: string) => ({ key, fingerprint: key });
  await insist(() =>
    engine.acceptMessage({
      conversationId,
      text: 'pay',
      principal: ANNA,
      idempotency: idempotency('m'),
    }),
  );
  await insist(() =>
    engine.acceptRun({ input: 'empty', principal: ANNA, idempotency: idempotency('r') }),
  );
  await insist(() =>
    engine.acceptMessage({
      conversationId,
      text: '/tasks',
      principal: ANNA,
      idempotency: idempotency('c'),
    }),
  );
}

interface Outcome {
  readonly place: Installation;
  readonly units: readonly string[];
  readonly struck: string | undefined;
}

async function play(mishap: Mishap, at: number): Promise<Outcome> {
  const place = new Installation();
  script(place);
  const clock = new QuickClock();
  let struck: string | undefined;
  const store = new ShakyStore(place.store, ({ index, unit }) => {
    if (index !== at) return undefined;
    struck = unit;
    return mishap;
  });
  const engine = createEngine(place.parts({ store, clock }));
  await insist(() => engine.start());
  await playAll(engine);
  await rest(place, clock, engine);
  await engine.stop(0);
  return { place, units: store.seen, struck };
}

async function assertSound({ place, struck }: Outcome, where: string): Promise<void> {
  const tasks = await place.rows('task');
  assert.equal(tasks.length, 2, where);
  assert.ok(place.tools.ran.filter(({ name }) => name === 'pay').length <= 1, where);
  const messages = await place.rows('message');
  assert.equal(messages.filter((row) => row['kind'] === 'genuine').length, 2, where);
  const outbox = await place.rows('outbox');
  const owed = [...tasks.map((task) => task['id']), null];
  assert.deepEqual(
    new Set(outbox.map((entry) => entry['task_id'])),
    new Set(owed),
    `${where} ${struck}: one last word for each task, one answer for the command`,
  );
  // Of a payment that may or may not have happened a person is asked, once, beside the task's own word.
  const uncertain = (await place.rows('step')).filter((step) => step['state'] === 'uncertain');
  const asked = outbox.filter((entry) => entry['code'] === 'uncertain_effect');
  assert.equal(asked.length, uncertain.length, `${where} ${struck}: each uncertain call is asked`);
  assert.equal(outbox.length - asked.length, 3, `${where} ${struck}`);
  for (const row of await place.rows('conversation')) assert.equal(row['turn_id'], null, where);
}

test('T-16 V2 V4 a passing fault at any one commit changes nothing that is seen', async () => {
  const { units } = await play(undefined, -1);
  for (const mishap of ['unseen', 'unknown', 'busy', 'disconnected'] as const) {
    for (let at = 0; at < units.length; at += 1) {
      const where = `${mishap} at ${at}`;
      const outcome = await play(mishap, at);
      await assertSound(outcome, where);
      const states = (await outcome.place.rows('task')).map((task) => task['state']);
      assert.deepEqual(states, ['completed', 'completed'], `${where} ${outcome.struck}`);
      assert.equal(outcome.place.tools.ran.length, 2, where);
    }
  }
});

test('T-16 a fault at any one commit leaves no turn open and no word unsaid', async () => {
  const { units } = await play(undefined, -1);
  for (const mishap of ['disk_full', 'bug', 'closed'] as const) {
    for (let at = 0; at < units.length; at += 1) {
      const outcome = await play(mishap, at);
      await assertSound(outcome, `${mishap} at ${at}`);
      if (mishap !== 'disk_full') continue;
      const states = (await outcome.place.rows('task')).map((task) => task['state']);
      assert.deepEqual(states, ['completed', 'completed'], `${mishap} at ${at} ${outcome.struck}`);
    }
  }
});

test('G-6 after a fault that ends trust at any commit the host fails once and can be stopped', async () => {
  const { units } = await play(undefined, -1);
  // The last is the stop's own.
  for (let at = 1; at < units.length - 1; at += 1) {
    const place = new Installation();
    script(place);
    const store = new ShakyStore(place.store, ({ index }) => (index >= at ? 'io' : undefined));
    const engine = createEngine(place.parts({ store, clock: new QuickClock() }));
    await engine.start().catch(() => {});
    await playAll(engine).catch(() => {});
    for (let round = 0; round < 40; round += 1) await new Promise(setImmediate);
    assert.equal(place.failures.length, 1, `io at ${at}`);
    assert.equal(engine.health().state, 'failed');
    await engine.stop(0);
    assert.equal(engine.health().runningTurns, 0);
  }
});

test('INC-006 T-16 a kill before or after any commit loses, repeats and silences nothing', async () => {
  const { units } = await play(undefined, -1);
  for (const mishap of ['hangs', 'hangs-after'] as const) {
    for (let at = 0; at < units.length; at += 1) {
      const where = `${mishap} at ${at} ${units[at]}`;
      const place = new Installation();
      script(place);
      const store = new ShakyStore(place.store, ({ index }) =>
        index < at ? undefined : index === at ? mishap : 'hangs',
      );
      const dead = createEngine(place.parts({ store, clock: new QuickClock() }));
      void dead.start().then(() => playAll(dead));
      for (let round = 0; round < 60; round += 1) await new Promise(setImmediate);
      const clock = new QuickClock();
      const engine = createEngine(place.parts({ clock, options: { ...OPTIONS, pid: 2 } }));
      await engine.start();
      await playAll(engine);
      await rest(place, clock, engine);
      const outcome = { place, units, struck: units[at] };
      await assertSound(outcome, where);
      await assertGoesOn(outcome, { engine, clock }, where);
    }
  }
});

/** A plain message is answered in every conversation, with a request in which calls and results pair. */
async function assertGoesOn(
  { place }: Outcome,
  host: { readonly engine: Engine; readonly clock: QuickClock },
  where: string,
): Promise<void> {
  for (const row of await place.rows('conversation')) {
    const before = (await place.rows('outbox')).length;
    await host.engine.acceptMessage({
      conversationId: row['id'] as ConversationId,
      text: 'hello',
      principal: ANNA,
    });
    await rest(place, host.clock, host.engine);
    const outbox = await place.rows('outbox');
    assert.equal(outbox.length, before + 1, where);
    assert.ok(
      outbox.some((entry) => entry['kind'] === 'reply' && entry['text'] === 'answer to hello'),
      where,
    );
    assertPaired(place.model.requests.at(-1));
  }
  await host.engine.stop(0);
}
