import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { eventually, restOf, say, talkTo } from '../support/acts.ts';
import { asks, Installation, OPTIONS, says, sumsUp } from '../support/host.ts';
import { elapse, ONE_BY_ONE, repliesIn } from '../engine/maintenance-support.ts';

const STEPS = 10;
const WINDOW = 8_000;

/** The steps that a request shows as done: by a result that it holds, or by the host's own records. */
function doneIn({ messages }: ModelRequest): ReadonlySet<number> {
  const done = new Set<number>();
  for (const message of messages) {
    if (message.role === 'tool') done.add(Number(/^step (\d+)/.exec(message.text)?.[1]));
    const records = message.text.matchAll(/"args":"\{\\"step\\":(\d+)\}","outcome":"finished"/g);
    for (const [, step] of records) done.add(Number(step));
  }
  return done;
}

/** What the summary claims, which a model follows where nothing else is said. */
function claimedIn({ messages }: ModelRequest): number {
  return Number(/only step (\d+) is done/.exec(messages[0]?.text ?? '')?.[1] ?? 0);
}

/** A result after which the next request does not fit. */
const OVERFLOW_CHARS = 26_000;

/** Makes the steps in order, each that it is not shown as done; after those in `full` the window is full. */
function worksOff(place: Installation, full: readonly number[]): void {
  place.model.contextWindow = WINDOW;
  place.model.strictWindow = WINDOW;
  place.tools.perform = ({ args }) => {
    const { step } = JSON.parse(args) as { readonly step: number };
    const more = full.includes(step) ? 'r'.repeat(OVERFLOW_CHARS) : '';
    return { kind: 'result', text: `step ${step} made ${more}` };
  };
  place.model.answer = (request) => {
    const done = doneIn(request);
    const from = done.size === 0 ? claimedIn(request) + 1 : 1;
    const next = Array.from({ length: STEPS }, (_, index) => index + 1).find(
      (step) => step >= from && !done.has(step),
    );
    return next === undefined ? says('all ten are done') : asks(['pay', { step: next }]);
  };
  place.summariser.answer = () =>
    sumsUp('The task has ten steps; only step 2 is done. Step 3 is next.');
}

/** How often each step was made. */
function ledger(place: Installation): readonly number[] {
  const made = place.tools.ran.map(
    ({ args }) => (JSON.parse(args) as { readonly step: number }).step,
  );
  return Array.from(
    { length: STEPS },
    (_, index) => made.filter((step) => step === index + 1).length,
  );
}

const ONCE = Array.from({ length: STEPS }, () => 1);

describe('a task of ten steps whose summaries lie', () => {
  test('INC-015 compacted after step 7: steps 3 to 7 are not made again, and step 8 is next', async () => {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    worksOff(place, [7]);
    await say(engine, here, 'make all ten steps');
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    assert.equal((await place.rows('operation')).length, 1);
    assert.deepEqual(ledger(place), ONCE);
    assert.deepEqual(
      place.tools.ran.map(({ args }) => (JSON.parse(args) as { readonly step: number }).step),
      Array.from({ length: STEPS }, (_, index) => index + 1),
    );
  });

  test('INC-015 five lying operations in a row: each step was made once', async () => {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    worksOff(place, [2, 4, 5, 7, 9]);
    await say(engine, here, 'make all ten steps');
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    assert.equal((await place.rows('operation')).length, 5);
    assert.ok((await place.rows('operation')).every(({ state }) => state === 'done'));
    assert.deepEqual(ledger(place), ONCE);
  });

  test('INC-015 a task that has ended is told as ended after a handover, and nothing of it begins anew', async () => {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    worksOff(place, []);
    await say(engine, here, 'make all ten steps');
    await restOf(engine);
    const [task] = await place.rows('task');
    place.summariser.answer = () => sumsUp('The ten steps are still to be made. Make them now.');
    place.model.answer = () => says('a'.repeat(4_000));
    for (let round = 0; round < 11; round += 1) {
      await say(engine, here, `${'w'.repeat(8_000)} ${round}`);
      await restOf(engine);
      await eventually(async () => (await place.rows('conversation'))[0]?.['fence'] !== 'shut');
      const { messages = [] } = place.model.requests.at(-1) ?? {};
      const request = messages.map(({ text }) => text).join('\n');
      if ((await place.rows('operation')).length > 1 && round < 10) {
        assert.match(request, /Tasks that have ended; none of them is open again/);
        const other = new RegExp(`"task":"${String(task?.['id'])}","state":"(?!completed)`);
        assert.doesNotMatch(request, other);
      }
    }
    const rows = await place.rows('operation');
    assert.ok(rows.length >= 5, `${rows.length} operations`);
    assert.ok(rows.some(({ kind }) => kind === 'handover'));
    assert.deepEqual(ledger(place), ONCE);
  });

  test('INC-015 the same call with the same result again and again ends in a stall, not in more operations', async () => {
    const place = new Installation();
    place.model.contextWindow = 8_000;
    place.model.strictWindow = 8_000;
    place.tools.perform = () => ({ kind: 'result', text: 'r'.repeat(12_000) });
    place.model.answer = () => asks(['look', { same: 1 }]);
    const engine = await place.host({ options: OPTIONS });
    const here = await talkTo(engine);
    await say(engine, here, 'look');
    await elapse(place, 60 * SECOND);
    const [task] = await place.rows('task');
    assert.deepEqual([task?.['state'], task?.['reason']], ['blocked', 'no_progress']);
    const { length: operations } = await place.rows('operation');
    assert.ok(operations <= 8, `${operations} operations`);
    assert.ok(place.tools.ran.length <= 8, `${place.tools.ran.length} calls`);
  });
});
