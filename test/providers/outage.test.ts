// A provider that is away for a day: what it costs, what is said, and that everything goes on afterwards.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE } from '../../src/kernel/time.ts';
import { fails } from '../../src/testing/model-answer.ts';
import { FORMATS, type Format, type Provider, type Wrong } from './provider.ts';
import { openStage, type Stage, type StageOptions } from './stage.ts';

/** Probes of a day: at most one in five minutes, and those of the first minutes that come sooner. */
const PROBES_MAX = DAY / LIMITS.probeMaxMs + 6;
const TRIES = 1 + LIMITS.modelRetriesMax;

function countOf({ sent }: Provider, what: 'call' | 'probe'): number {
  return sent.filter((one) => one.what === what).length;
}

/** A stage whose first provider fails from the step after the payment on. */
async function staged(
  t: TestContext,
  format: Format,
  how: StageOptions & { readonly wrong: Wrong },
): Promise<{ readonly stage: Stage; readonly first: Provider; readonly other: Provider }> {
  const stage = openStage(t, how);
  const first = await stage.provider(format, 'first');
  const other = await stage.provider(format, 'other');
  stage.place.tools.perform = async () => {
    await first.fail(how.wrong);
    return { kind: 'result', text: 'paid' };
  };
  return { stage, first, other };
}

const CHAINS = {
  'no fallback': (first: Provider) => [first.model('big-1')],
  'a fallback on the same account': (first: Provider) => [
    first.model('big-1'),
    first.model('small-1'),
  ],
  'a fallback on another account that is away too': (first: Provider, other: Provider) => [
    first.model('big-1'),
    other.model('spare-1'),
  ],
} as const;

for (const format of FORMATS) {
  describe(`${format}, nobody there for a day`, () => {
    for (const [what, chain] of Object.entries(CHAINS)) {
      test(`T-18: with ${what} it costs one step’s tries and cheap probes, and is told once`, async (t) => {
        const { stage, first, other } = await staged(t, format, { wrong: 'nobody there' });
        await other.fail('nobody there');
        const models = chain(first, other);
        await stage.start(models);
        const here = await stage.say();
        await stage.pass(DAY);
        assert.equal(await stage.standing(here), 'waiting awaits_provider');
        assert.deepEqual(await stage.told(here), ['awaits_provider']);
        const calls = countOf(first, 'call') + countOf(other, 'call');
        assert.equal(calls, 1 + TRIES + models.length - 1);
        assert.ok(countOf(first, 'probe') <= PROBES_MAX, `${countOf(first, 'probe')} probes`);
        assert.ok(countOf(first, 'probe') >= DAY / LIMITS.probeMaxMs - 1, 'and not too few');
        assert.equal(
          countOf(other, 'probe'),
          0,
          'a failure that is the only one closes no account',
        );
        await first.recover();
        await stage.until(() => stage.isIn(here, 'completed answered'), 6 * MINUTE);
        await stage.pass(HOUR);
        assert.deepEqual(await stage.told(here), ['awaits_provider', 'reply: done, big-1']);
        assert.equal(stage.place.tools.ran.length, 1);
        assert.equal(countOf(first, 'call') + countOf(other, 'call'), calls + 1);
      });
    }

    test('T-18: with a fallback that answers nobody waits, and the next request does not try in vain', async (t) => {
      const { stage, first, other } = await staged(t, format, { wrong: 'nobody there' });
      await stage.start([first.model('big-1'), other.model('spare-1')]);
      const here = await stage.say();
      await stage.until(() => stage.isIn(here, 'completed answered'));
      assert.deepEqual(await stage.told(here), ['reply: done, spare-1']);
      const calls = countOf(first, 'call');
      const next = await stage.say('Pay the rent');
      await stage.until(() => stage.isIn(next, 'completed answered'), 1);
      assert.equal(countOf(first, 'call'), calls, 'it is known to be away');
      assert.deepEqual(await stage.told(next), ['reply: done, spare-1']);
      assert.equal(stage.place.tools.ran.length, 2, 'each paid once');
    });
  });

  describe(`${format}, a day of errors behind a list of models that answers`, () => {
    for (const restarts of ['no restart', 'a restart'] as const) {
      test(`T-18: one call at a time finds out, told once; ${restarts}: what was done is not forgotten`, async (t) => {
        const { stage, first } = await staged(t, format, { wrong: fails(503) });
        await stage.start([first.model('big-1')]);
        const here = await stage.say();
        await stage.pass(DAY);
        assert.deepEqual(await stage.told(here), ['awaits_provider']);
        const calls = countOf(first, 'call');
        assert.ok(calls <= 1 + TRIES + PROBES_MAX, `${calls} calls`);
        assert.equal(first.arrived, calls);
        if (restarts === 'a restart') await stage.restart('clean');
        await first.recover();
        await stage.until(() => stage.isIn(here, 'completed answered'), 6 * MINUTE);
        assert.deepEqual(await stage.told(here), ['awaits_provider', 'reply: done, big-1']);
        assert.equal(stage.place.tools.ran.length, 1, 'not even after a day of empty turns');
        const { turnsUsed } = await stage.task(here);
        assert.equal(turnsUsed, 1, 'waiting uses nothing up');
      });
    }
  });

  describe(`${format}, a deadline that passes during the outage`, () => {
    for (const [what, wrong] of [
      ['nobody is there', 'nobody there'],
      ['a limit is to end after it', fails(429, { 'retry-after': '18000' })],
    ] as const) {
      test(`T-18: ends the task as expired while ${what}`, async (t) => {
        const options = { deadlineMs: HOUR };
        const { stage, first } = await staged(t, format, { wrong, options });
        await stage.start([first.model('big-1')]);
        const here = await stage.say();
        await stage.until(() => stage.isIn(here, 'expired deadline_passed'), HOUR + MINUTE);
        const calls = countOf(first, 'call');
        await first.recover();
        await stage.pass(HOUR);
        assert.equal((await stage.told(here)).at(-1), 'deadline_passed');
        assert.equal((await stage.told(here)).length, 2);
        assert.equal(countOf(first, 'call'), calls, 'an ended task asks nobody');
        assert.equal(stage.place.tools.ran.length, 1);
      });
    }
  });
}
