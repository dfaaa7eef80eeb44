import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { fails, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { FORMATS, type Format, type Provider } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';

const TASKS = 30;

interface Limited {
  readonly stage: Stage;
  readonly provider: Provider;
  readonly places: readonly ConversationId[];
}

/** So many tasks before a provider that limits every call. */
async function limited(t: TestContext, format: Format, answer: ModelAnswer): Promise<Limited> {
  const stage = openStage(t);
  const provider = await stage.provider(format, 'first');
  await provider.fail(answer);
  await stage.start([provider.model('big-1')]);
  const orders = Array.from({ length: TASKS }, (_, n) => stage.say(`Order ${n}`));
  return { stage, provider, places: await Promise.all(orders) };
}

async function allFinish({ stage, places }: Limited): Promise<void> {
  for (const here of places)
    await stage.until(() => stage.isIn(here, 'completed answered'), 10 * MINUTE);
  for (const here of places) {
    const told = await stage.told(here);
    assert.equal(told.at(-1), 'reply: done, big-1');
    assert.ok(told.length <= 3, told.join(', '));
  }
  assert.equal(stage.place.tools.ran.length, TASKS, 'each pays once');
}

for (const format of FORMATS) {
  test(`INC-072 (a clean restart: what a crash cuts is assessed) 429 for ten minutes with Retry-After 30, thirty tasks: ${format}`, async (t) => {
    const met = await limited(t, format, fails(429, { 'retry-after': '30' }));
    const { stage, provider } = met;
    const began = stage.now;
    await stage.pass(3 * MINUTE + 30 * SECOND);
    const before = provider.sent.length;
    await stage.restart('clean');
    await stage.pass(2 * SECOND);
    assert.equal(provider.sent.length, before, 'no new burst');
    const [limiter, ...more] = stage.engine.health().limiters;
    assert.ok(limiter !== undefined && more.length === 0, 'one limiter for all');
    assert.ok((limiter.until ?? 0) > stage.now, 'and it says until when');
    await stage.pass(began + 10 * MINUTE - stage.now);
    const calls = provider.sent.filter(({ what }) => what === 'call').length;
    assert.equal(provider.arrived, calls);
    assert.ok(provider.sent.length <= 25, `${provider.sent.length} requests, ${calls} calls`);
    await provider.recover();
    await allFinish(met);
  });

  test(`INC-072 (without jitter: one host is one caller) 429 without a header: the gaps grow: ${format}`, async (t) => {
    const met = await limited(t, format, fails(429));
    const { stage, provider } = met;
    await stage.pass(10 * MINUTE);
    const calls = provider.sent.filter(({ what }) => what === 'call');
    const at = [...new Set(calls.map((one) => one.at))];
    const gaps = at.slice(1).map((one, index) => (one - (at[index] ?? one)) / SECOND);
    assert.deepEqual(gaps.slice(0, 5), [1, 2, 4, 8, 16]);
    // From here a cheap probe goes before each call.
    for (const [index, gap] of gaps.slice(6).entries())
      assert.ok(gap >= (gaps[index + 5] ?? gap), `the gaps ${gaps.join(', ')} grow`);
    assert.ok(provider.sent.length <= 30, `${provider.sent.length} requests`);
    await provider.recover();
    await allFinish(met);
  });
}
