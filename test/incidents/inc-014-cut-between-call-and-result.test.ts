import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelCall } from '../../src/ports/model.ts';
import { strictRefusal } from '../../src/testing/model-strict-port.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { stepRow } from '../../src/testing/store-rows.ts';
import { eventually, pass, restOf, say, talkTo } from '../support/acts.ts';
import { asks, Installation, says, sumsUp, until } from '../support/host.ts';
import { comesTo, ONE_BY_ONE, repliesIn, saysFull } from '../engine/maintenance-support.ts';

const SEEDS = 1_000;
const SEEDS_PER_PLACE = 50;
const MESSAGES = 4;
const WINDOW = 2_500;

test('INC-014 a slow call is not cut from its result, and two more operations with other cuts part nothing', async () => {
  const place = new Installation();
  const slow = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  place.tools.perform = async () => {
    started.resolve();
    await slow.promise;
    return { kind: 'result', text: 'the slow result' };
  };
  place.model.strictWindow = null;
  // The call is asked for by a reply whose request had all but filled the window.
  const usage = { inputTokens: 127_000, outputTokens: 5, cost: 3 };
  place.model.answer = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? saysFull('read') : { ...asks(['look', {}]), usage };
  const engine = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(engine);
  await say(engine, here, 'look slowly');
  await started.promise;
  await say(engine, here, 'meanwhile');
  await pass();
  assert.deepEqual(await place.rows('operation'), [], 'nothing is cut while a call is in flight');
  slow.resolve();
  await eventually(async () => (await place.rows('operation')).length >= 1);
  for (const text of ['the second', 'the third']) {
    await comesTo(engine, here, 'done');
    await restOf(engine);
    await say(engine, here, `${text} ${'w'.repeat(30_000)}`);
    await restOf(engine);
  }
  await comesTo(engine, here, 'done');
  assert.ok((await place.rows('operation')).length >= 3);
  for (const request of place.model.requests)
    assert.equal(strictRefusal(request, 1_000_000), undefined);
});

/** What a turn does next: some calls at once or one by one, then an answer. */
function playsAtRandom(place: Installation, seed: number): void {
  const random = seededRandom(seed, 'calls');
  place.tools.perform = () =>
    random.chance(0.1)
      ? { kind: 'error', code: 'failed', text: 'e'.repeat(random.below(200)) }
      : { kind: 'result', text: 'r'.repeat(random.below(1_500)) };
  place.model.answer = ({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    if (messages.length - last > 5 || random.chance(0.3))
      return says('a'.repeat(1 + random.below(400)));
    const calls = Array.from(
      { length: 1 + random.below(3) },
      (_, index) =>
        [random.pick(['look', 'note', 'gone']), { n: place.tools.ran.length, index }] as const,
    );
    return asks(...calls);
  };
  place.summariser.answer = () => sumsUp('s'.repeat(1 + random.below(300)));
}

test('INC-014 for 1000 seeds a strict provider that rejects whatever stands unpaired rejects nothing', async (t) => {
  let operations = 0;
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_PLACE) {
    const place = new Installation();
    place.model.contextWindow = WINDOW;
    place.model.strictWindow = WINDOW;
    const engine = await place.host({ options: ONE_BY_ONE });
    for (let seed = first; seed < first + SEEDS_PER_PLACE; seed += 1) {
      playsAtRandom(place, seed);
      place.model.requests.length = 0;
      const here = await talkTo(engine, `seed ${seed}`);
      for (let n = 0; n < MESSAGES; n += 1) await say(engine, here, `message ${n}`);
      await until(engine, here, async () => (await repliesIn(place, here)).length === MESSAGES);
      for (const request of place.model.requests)
        assert.equal(strictRefusal(request, WINDOW), undefined, `seed ${seed}`);
    }
    operations += (await place.rows('operation')).length;
    await engine.stop(0);
    await place.store.close();
  }
  t.diagnostic(`${operations} operations`);
  assert.ok(operations > SEEDS);
});

for (const orphan of ['result', 'call'] as const)
  test(`INC-014 a ${orphan} that stands alone in the stored history is never sent, and the next message is answered`, async () => {
    const place = new Installation();
    place.model.strictWindow = place.model.contextWindow;
    place.model.answer = () => says('answered');
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    await say(engine, here, 'the first');
    await restOf(engine);
    const [turn] = await place.rows('turn');
    const conversation = (await place.store.query('conversation.byId', { id: here }))!;
    const { seq: expectedSeq, token } = conversation;
    const seq = expectedSeq + 1;
    const of = {
      conversationId: here,
      taskId: turn?.['task_id'],
      turnId: turn?.['id'],
      seq,
      ordinal: 9,
    };
    const calls: readonly ModelCall[] = [{ id: 'call_orphan', name: 'look', args: '{}' }];
    const ended = { state: 'finished', finishedSeq: seq, finishedAt: 6_000 } as const;
    const row =
      orphan === 'result'
        ? ({
            kind: 'tool',
            tool: 'look',
            callId: 'call_orphan',
            input: '{}',
            output: 'alone',
          } as const)
        : ({
            kind: 'model',
            tool: null,
            callId: null,
            input: null,
            output: JSON.stringify({ text: '', calls }),
          } as const);
    await mustPut(
      place.store,
      { write: 'conversation.advance', id: here, expectedSeq, seq, token: token + 1, turnId: null },
      { write: 'step.insert', row: stepRow({ ...of, ...ended, ...row } as never) },
    );
    await engine.stop(0);
    const next = await place.host({ options: ONE_BY_ONE });
    await say(next, here, 'the second');
    await restOf(next);
    assert.deepEqual(await repliesIn(place, here), ['answered', 'answered']);
    const request = place.model.requests.at(-1);
    assert.ok(request !== undefined);
    assert.equal(strictRefusal(request, place.model.contextWindow), undefined);
    // And once more, when it is summarised with all the rest.
    place.model.strictWindow = null;
    place.model.answer = () => saysFull('full');
    await say(next, here, 'the third');
    await restOf(next);
    await comesTo(next, here, 'done');
  });
