import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { FORMATS, modelIn, type Format, type Provider } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';

const BUDGET = '{"error":{"message":"monthly budget exceeded","type":"permission_error"}}';

interface Chain {
  readonly stage: Stage;
  readonly providers: readonly Provider[];
}

/** Models of as many accounts, asked in order; null answers. */
async function chainOf(
  t: TestContext,
  format: Format,
  answers: readonly (ModelAnswer | null)[],
): Promise<Chain> {
  const stage = openStage(t);
  const providers: Provider[] = [];
  for (const [index, answer] of answers.entries()) {
    const provider = await stage.provider(format, `account-${index}`);
    provider.script = (request) => says(`from ${modelIn(request)}`);
    if (answer !== null) await provider.fail(answer);
    providers.push(provider);
  }
  await stage.start(providers.map((provider, index) => provider.model(`model-${index}`)));
  return { stage, providers };
}

function arrivals({ providers }: Chain): readonly number[] {
  return providers.map(({ arrived }) => arrived);
}

for (const format of FORMATS) {
  test(`INC-073 403 for the budget, 402, 429: the fourth answers after four requests: ${format}`, async (t) => {
    const chain = await chainOf(t, format, [fails(403, {}, BUDGET), fails(402), fails(429), null]);
    const { stage } = chain;
    const began = stage.now;
    const here = await stage.say('Hello');
    await stage.until(() => stage.isIn(here, 'completed answered'));
    assert.deepEqual(arrivals(chain), [1, 1, 1, 1]);
    assert.equal(stage.now, began, 'at once');
    assert.deepEqual(await stage.told(here), ['reply: from model-3']);
    const events = await stage.place.rows('event');
    const retried = events.filter(({ type }) => type === 'model.retried');
    const codes = retried.map(({ data }) => {
      return (JSON.parse(String(data)) as { readonly code: string }).code;
    });
    assert.deepEqual(codes, ['http_403', 'http_402', 'http_429'], 'why each was passed over');
  });

  test(`INC-073 (the message names the first refusal, not a list) all refuse for good: one request each, one message, and a cool-down: ${format}`, async (t) => {
    const chain = await chainOf(t, format, [fails(403, {}, BUDGET), fails(402), fails(401)]);
    const { stage } = chain;
    const here = await stage.say('Hello');
    await stage.until(() => stage.isIn(here, 'failed model_refused'));
    assert.deepEqual(arrivals(chain), [1, 1, 1]);
    assert.deepEqual(await stage.told(here), ['model_refused']);
    const [words = ''] = await stage.words(here, 'model_refused');
    assert.match(words, /http_403/);
    assert.match(words, /monthly budget exceeded/);
    const next = await stage.say('Hello again');
    await stage.until(() => stage.isIn(next, 'failed model_refused'));
    assert.deepEqual(arrivals(chain), [1, 1, 1], 'none is asked within its cool-down');
    assert.match((await stage.words(next, 'model_refused'))[0] ?? '', /http_403/);
    await stage.pass(LIMITS.refusedCoolMs);
    const later = await stage.say('And again');
    await stage.until(() => stage.isIn(later, 'failed model_refused'));
    assert.deepEqual(arrivals(chain), [2, 2, 2], 'each once more');
  });

  test(`INC-073 an unknown refusal is no transient failure: asked once: ${format}`, async (t) => {
    const chain = await chainOf(t, format, [fails(418), fails(451)]);
    const { stage } = chain;
    const here = await stage.say('Hello');
    await stage.until(() => stage.isIn(here, 'failed model_refused'));
    assert.deepEqual(arrivals(chain), [1, 1]);
  });
}
