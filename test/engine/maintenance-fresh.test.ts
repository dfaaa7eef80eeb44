// Giving maintenance up, and work that never begins it (M-20, M-21).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSeed } from '../../src/core/maintenance/summary.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts';
import { eventually, heldCall, order, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import {
  ADMIN,
  asks,
  BEN,
  fails,
  Installation,
  says,
  sumsUp,
  taskIn,
  type GivenParts,
} from '../support/host.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { taskRow } from '../../src/testing/store-rows.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  keptBy,
  messagesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
} from './maintenance-support.ts';

const MINUTES_MS = 130_000;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

async function fenced(state: 'waiting' | 'blocked', place = new Installation()): Promise<Stand> {
  place.summariser.answer = () => fails('transient', 'http_500');
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  place.model.answer = () => saysFull('read');
  await say(engine, here, 'the first');
  await comesTo(engine, here, 'waiting');
  if (state === 'blocked') await elapse(place, MINUTES_MS);
  place.model.answer = ({ messages }) => says(`to: ${messages.at(-1)?.text.split('\n').at(-1)}`);
  return { place, engine, here };
}

async function answerTo(stand: Stand, text: string, principal = ADMIN): Promise<string> {
  await say(stand.engine, stand.here, text, { principal });
  await restOf(stand.engine);
  const rows = (await stand.place.rows('outbox')).filter(({ kind }) => kind === 'answer');
  return wordsOf(rows.at(-1) ?? {});
}

async function sessionsOf({ place }: Stand) {
  return (await place.rows('session')).toSorted(
    (a, b) => Number(a['first_seq']) - Number(b['first_seq']),
  );
}

describe('/new behind a fence', () => {
  for (const state of ['waiting', 'blocked'] as const)
    test(`M-21 that is ${state} gives the operation up by an admin, and what was kept is answered in the new session`, async () => {
      const stand = await fenced(state);
      const { place, engine, here } = stand;
      for (const text of ['one', 'two', 'three']) await say(engine, here, text);
      const { id } = await operationOf(place, here);
      const before = await toldOf(place, here);
      await answerTo(stand, '/new');
      await restOf(engine);
      const dropped = await operationOf(place, here);
      assert.deepEqual([dropped.id, dropped.state, dropped.nextAttemptAt], [id, 'dropped', null]);
      assert.deepEqual(await repliesIn(place, here), ['read', 'to: one', 'to: two', 'to: three']);
      const [, fresh] = await sessionsOf(stand);
      const turns = (await place.rows('turn')).slice(1);
      assert.ok(turns.every((turn) => turn['session_id'] === fresh?.['id']));
      assert.ok(turns.length === 3);
      const request = JSON.stringify(place.model.requests.at(-1));
      assert.ok(!request.includes('the first'), 'nothing of the old session is in it');
      await elapse(place, MINUTES_MS);
      assert.deepEqual(await toldOf(place, here), before, 'nothing more is told of it');
      const receipts = (await place.rows('receipt')).filter(
        (row) => row['order'] === 'maintenance.drop',
      );
      assert.equal(receipts.length, 1);
      const audit = (await place.rows('audit')).filter(
        ({ action }) => action === 'maintenance.drop',
      );
      assert.equal(audit.length, 1);
      assert.equal((await engine.recoveryStatus(here)).state, 'none');
    });

  for (const command of ['/new', '/reset'])
    test(`M-21 by another is refused, and changes nothing: ${command}`, async () => {
      const stand = await fenced('blocked');
      const { place, here } = stand;
      await say(stand.engine, here, 'kept');
      const operation = await operationOf(place, here);
      const sessions = await sessionsOf(stand);
      for (const principal of [BEN, { kind: 'key', id: 'anna', isAdmin: false } as const])
        assert.match(await answerTo(stand, command, principal), /admin/i);
      assert.deepEqual(await operationOf(place, here), operation);
      assert.deepEqual(await sessionsOf(stand), sessions);
      const [, kept] = await messagesOf(place, here);
      assert.equal(kept?.['state'], 'unclaimed');
    });

  test('M-21 ends a try that is out, and what it comes to changes nothing', async () => {
    const place = new Installation();
    const call = heldCall();
    place.summariser.answer = call.hold;
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    await call.begun;
    place.model.answer = () => says('fresh');
    const stand = { place, engine, here };
    await answerTo(stand, '/new');
    const dropped = await operationOf(place, here);
    assert.equal(dropped.state, 'dropped');
    await eventually(() => engine.health().maintaining.length === 0);
    call.release(sumsUp('too late'));
    await say(engine, here, 'hello');
    await restOf(engine);
    assert.deepEqual(await operationOf(place, here), dropped);
    assert.ok((await sessionsOf(stand)).every((session) => session['seed'] === null));
    assert.deepEqual(await repliesIn(place, here), ['read', 'fresh']);
  });

  test('M-21 in the middle of a handover leaves no session that somebody goes on in', async () => {
    const place = new Installation();
    const runtime = new ScriptedRuntime();
    runtime.failAlways('seed', { kind: 'throws', code: 'EIO' });
    const engine = await place.host(keptBy(place, runtime, { options: ONE_BY_ONE }));
    const here = await talkTo(engine);
    await compactedOut(place, here);
    place.model.answer = () => saysFull('read');
    await say(engine, here, 'the first');
    await comesTo(engine, here, 'waiting');
    place.model.answer = () => says('fresh');
    const stand = { place, engine, here };
    const { task } = { task: await order(engine, 'a run that waits', here) };
    await answerTo(stand, '/new');
    await restOf(engine);
    const sessions = await sessionsOf(stand);
    const { sessionId } = (await place.store.query('conversation.byId', { id: here }))!;
    assert.deepEqual(
      sessions.map((one) => [one['id'] === sessionId, one['ended_at'] === null]),
      [
        [false, false],
        [false, false],
        [true, true],
      ],
    );
    const done = await place.store.query('task.byId', { id: task.taskId });
    assert.deepEqual([done?.state, done?.sessionId], ['completed', sessionId]);
  });

  test('a task that was cut for the maintenance goes on in the new session with its request', async () => {
    const place = new Installation();
    place.model.contextWindow = 8_000;
    place.model.strictWindow = 8_000;
    place.summariser.answer = () => fails('transient', 'http_500');
    place.tools.perform = () => ({ kind: 'result', text: 'r'.repeat(9_000) });
    place.model.answer = () => asks(['look', { part: place.tools.ran.length }]);
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    await say(engine, here, 'read all the parts');
    await comesTo(engine, here, 'waiting');
    place.model.answer = () => says('as far as I came');
    await answerTo({ place, engine, here }, '/new');
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    const { state } = await taskIn(engine, here, 'completed');
    assert.equal(state, 'completed');
    assert.match(JSON.stringify(place.model.requests.at(-1)), /read all the parts/);
  });
});

test('M-21 an operation whose session nothing goes on in any more is dropped, recorded, without a notice', async () => {
  const place = new Installation();
  const held = heldCall();
  place.model.answer = held.hold;
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  await say(engine, here, 'the first');
  await held.begun;
  // Its turn goes on in the session that was left.
  await say(engine, here, '/new');
  await eventually(async () => (await place.rows('session')).length === 2);
  place.model.answer = () => says('fresh');
  held.release(saysFull('read'));
  const { state } = await comesTo(engine, here, 'dropped');
  assert.equal(state, 'dropped');
  await say(engine, here, 'hello');
  await restOf(engine);
  assert.equal(place.summariser.requests.length, 0);
  assert.deepEqual(await toldOf(place, here), []);
  assert.deepEqual(await repliesIn(place, here), ['read', 'fresh']);
  const moved = (await place.rows('event')).filter(({ type }) => type === 'operation.moved');
  assert.deepEqual(
    moved.map((event) => event['to_state']),
    ['dropped'],
  );
});

describe('what the host starts by itself', () => {
  /** A paused job of the conversation, as a scheduler will make it. */
  async function job({ place, here }: Stand): Promise<string> {
    const conversation = (await place.store.query('conversation.byId', { id: here }))!;
    const row = taskRow({
      id: place.ids.next('task'),
      conversationId: here,
      sessionId: conversation.sessionId,
      agent: conversation.agent,
      mandateText: 'tidy up every night',
      mandatePrincipal: 'key:anna',
      mandateOrigin: 'job',
      state: 'paused',
      reason: 'paused',
      deadline: null,
      createdAt: place.clock.now(),
    });
    await mustPut(place.store, { write: 'task.insert', row });
    return row.id;
  }

  async function ofJob(given: GivenParts, fill: (place: Installation) => void): Promise<Stand> {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE, ...given });
    const here = await talkTo(engine);
    place.model.answer = () => says('hello');
    await say(engine, here, 'a person’s session');
    await restOf(engine);
    const stand = { place, engine, here };
    const id = await job(stand);
    fill(place);
    await answerTo(stand, `/task-resume ${id}`);
    await elapse(place, 5 * SECOND);
    await restOf(engine);
    return stand;
  }

  test('M-20 never compacts a person’s session, however full its turn reports it', async () => {
    const stand = await ofJob({}, (place) => {
      place.model.answer = () => saysFull('tidied', 127_000);
    });
    const { place, here } = stand;
    assert.deepEqual(await repliesIn(place, here), ['hello', 'tidied']);
    assert.deepEqual(await place.rows('operation'), []);
    const [session] = await sessionsOf(stand);
    assert.deepEqual([session?.['cut_seq'], readSeed(session?.['seed'] as null)], [0, null]);
    // A person's own turn does.
    place.model.answer = () => saysFull('read');
    await say(stand.engine, here, 'and now me');
    await comesTo(stand.engine, here, 'done');
  });

  test('M-20 ends where its request does not fit, and the session stays as it is', async () => {
    const stand = await ofJob({}, (place) => {
      place.model.answer = () => fails('refused', 'context_too_long');
    });
    const { place } = stand;
    const task = (await place.rows('task')).find((row) => row['mandate_origin'] === 'job');
    assert.deepEqual([task?.['state'], task?.['reason']], ['blocked', 'base_too_large']);
    assert.deepEqual(await place.rows('operation'), []);
    assert.equal(place.summariser.requests.length, 0);
  });
});
