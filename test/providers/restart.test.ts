// A host that ends while a provider limits it: the next one knows what the former knew (T-18), and what was cut waits.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE, SECOND, type Millis } from '../../src/kernel/time.ts';
import { fails } from '../../src/testing/model-answer.ts';
import { FORMATS, type Format, type Provider, type Wrong } from './provider.ts';
import { openStage, type Stage } from './stage.ts';

interface Cut {
  readonly stage: Stage;
  readonly first: Provider;
  readonly here: ConversationId;
}

/** A turn that has paid, met the fault, and stands so far into it. */
async function metFor(t: TestContext, format: Format, wrong: Wrong, ms: Millis): Promise<Cut> {
  const stage = openStage(t);
  const first = await stage.provider(format, 'first');
  stage.place.tools.perform = async () => {
    if (stage.place.tools.ran.length === 1) await first.fail(wrong, { kind: 'reset' });
    return { kind: 'result', text: 'paid' };
  };
  await stage.start([first.model('big-1')]);
  const here = await stage.say();
  await stage.pass(ms);
  return { stage, first, here };
}

function callsOf({ first }: Cut): number {
  return first.sent.filter(({ what }) => what === 'call').length;
}

async function limiterOf({ stage }: Cut): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await stage.place.rows('limiter');
  assert.ok(row !== undefined, 'there is a limiter');
  return row;
}

const HOURS_5 = fails(429, { 'retry-after': String(5 * 3_600) });

for (const format of FORMATS) {
  describe(`${format}, a host that stops cleanly`, () => {
    test('T-18 while it waits for the provider: no new burst, and it goes on when the provider is back', async (t) => {
      const cut = await metFor(t, format, 'nobody there', 10 * MINUTE);
      const { stage, first, here } = cut;
      const before = { calls: callsOf(cut), limiter: await limiterOf(cut) };
      await stage.restart('clean');
      assert.deepEqual(await limiterOf(cut), before.limiter);
      assert.equal(stage.engine.health().limiters[0]?.state, 'down');
      await stage.pass(10 * MINUTE);
      assert.equal(callsOf(cut), before.calls, 'cheap probes only');
      await first.recover();
      await stage.until(() => stage.isIn(here, 'completed answered'), 6 * MINUTE);
      assert.deepEqual(await stage.told(here), ['awaits_provider', 'reply: done, big-1']);
      assert.equal(callsOf(cut), before.calls + 1);
      assert.equal(stage.place.tools.ran.length, 1);
    });

    test('T-12 while it waits for a quota: nobody is asked until its instant, neither for it nor for another', async (t) => {
      const cut = await metFor(t, format, HOURS_5, HOUR);
      const { stage, first, here } = cut;
      const before = callsOf(cut);
      const { waitUntil } = await stage.task(here);
      await stage.restart('clean');
      await first.recover();
      const other = await stage.say('Pay the rent');
      await stage.until(() => stage.isIn(other, 'waiting awaits_quota'), SECOND);
      await stage.until(() => callsOf(cut) > before, 5 * HOUR);
      assert.equal(stage.now, waitUntil);
      await stage.until(() => stage.isIn(here, 'completed answered'), MINUTE);
      await stage.until(() => stage.isIn(other, 'completed answered'), MINUTE);
      for (const one of [here, other]) {
        const told = ['awaits_quota', 'goes_on', 'reply: done, big-1'];
        assert.deepEqual(await stage.told(one), told);
      }
      assert.equal(stage.place.tools.ran.length, 2, 'each paid once');
    });

    test('T-18 between two tries: the turn is parked, not cut, and goes on after the restart', async (t) => {
      const cut = await metFor(t, format, fails(503), 10 * SECOND);
      const { stage, first, here } = cut;
      const before = callsOf(cut);
      await stage.restart('clean');
      assert.equal(await stage.standing(here), 'waiting awaits_provider');
      await stage.pass(4 * SECOND);
      assert.equal(callsOf(cut), before, 'the next host knows the limit');
      await first.recover();
      await stage.until(() => stage.isIn(here, 'completed answered'), 6 * MINUTE);
      assert.deepEqual(await stage.told(here), ['awaits_provider', 'reply: done, big-1']);
      assert.equal(stage.place.tools.ran.length, 1);
    });
  });

  describe(`${format}, a host that is killed`, () => {
    for (const [what, wrong, when] of [
      ['the provider', 'nobody there', 10 * MINUTE],
      ['a quota', HOURS_5, HOUR],
    ] as const) {
      test(`R-1 while it waits for ${what}: when that is over the task is assessed, and told once that no check let it go on`, async (t) => {
        const cut = await metFor(t, format, wrong, when);
        const { stage, first, here } = cut;
        const before = { calls: callsOf(cut), told: await stage.told(here) };
        const { state, until } = await limiterOf(cut);
        await stage.restart('unclean');
        const [limiter] = stage.engine.health().limiters;
        assert.deepEqual([limiter?.state, limiter?.until], [state, until], 'the limiter is kept');
        await first.recover();
        await stage.until(() => stage.isIn(here, 'waiting interrupted'), 5 * HOUR);
        await stage.pass(HOUR);
        assert.deepEqual(await stage.told(here), [...before.told, 'recovery_assessment_failed']);
        assert.equal(callsOf(cut), before.calls);
        const other = await stage.say('Pay the rent');
        await stage.until(() => stage.isIn(other, 'completed answered'), 6 * MINUTE);
        assert.equal(stage.place.tools.ran.length, 2, 'the cut one is not paid again');
      });
    }

    test('R-1, T-18 between two tries: the task waits for its assessment, and another’s call for the limiter', async (t) => {
      const cut = await metFor(t, format, fails(503), 8 * SECOND);
      const { stage, first, here } = cut;
      const before = callsOf(cut);
      const until = Number((await limiterOf(cut))['until']);
      assert.ok(until > stage.now);
      await stage.restart('unclean');
      await first.recover();
      const other = await stage.say('Pay the rent');
      await stage.until(() => callsOf(cut) > before, MINUTE);
      assert.equal(stage.now, until, 'no new burst after the restart');
      await stage.until(() => stage.isIn(other, 'completed answered'), MINUTE);
      assert.equal(await stage.standing(here), 'waiting interrupted');
      assert.deepEqual(await stage.told(here), [], 'an assessment that is due is no news');
      assert.equal(stage.place.tools.ran.length, 2);
    });
  });

  test(`T-18 ${format}: while an account is limited one call is out at a time, whatever the number of tasks`, async (t) => {
    const stage = openStage(t);
    const first = await stage.provider(format, 'first');
    let burst = 0;
    let most = 0;
    await first.fail(() => {
      burst += 1;
      most = Math.max(most, first.held + 1);
      return burst <= 6 ? fails(503) : { kind: 'stall' };
    });
    await stage.start([first.model('big-1')]);
    const tasks = await Promise.all(Array.from({ length: 6 }, (_, n) => stage.say(`Order ${n}`)));
    const wait = async (): Promise<boolean> => {
      const states = await Promise.all(
        tasks.map((one) => stage.isIn(one, 'waiting awaits_provider')),
      );
      return states.every(Boolean);
    };
    await stage.until(wait, HOUR);
    assert.equal(most, 1, 'one at a time');
    assert.equal(callsOf({ stage, first, here: tasks[0]! }), 6 + 5, 'one step’s tries for all');
    for (const one of tasks) assert.deepEqual(await stage.told(one), ['awaits_provider']);
    await first.recover();
    for (const one of tasks)
      await stage.until(() => stage.isIn(one, 'completed answered'), 6 * MINUTE);
    for (const one of tasks) assert.equal((await stage.told(one)).at(-1), 'reply: done, big-1');
    assert.equal(stage.place.tools.ran.length, 6);
  });
}
