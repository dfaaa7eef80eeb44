import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HOUR } from '../../src/kernel/time.ts';
import type { ToolOutcome } from '../../src/ports/tools.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { FORMATS, type Format } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';

/** Words that some diagnosis of a whole text would take for its own. */
const MISLEADING =
  '429 rate limit exceeded, 401 unauthorized, 402 payment required, insufficient_quota, try again in 5 h';

function said(status: number, error: object, headers: Record<string, string> = {}): ModelAnswer {
  return fails(status, headers, JSON.stringify({ error: { message: MISLEADING, ...error } }));
}

interface Diagnosis {
  readonly standing: string;
  /** In the words of its one notice, what the provider said left out. */
  readonly says: readonly RegExp[];
}

const refused = (code: string): Diagnosis => {
  return { standing: 'failed model_refused', says: [new RegExp(code)] };
};
const WAY_OUT = /\/stop task_/;
const DATE = new Date(1_800_000_000_000 + 5 * HOUR).toUTCString();

const OF_PROVIDERS: readonly (readonly [what: string, answer: ModelAnswer, Diagnosis])[] = [
  ['402', said(402, {}), refused('http_402')],
  ['403 of a budget', said(403, { type: 'permission_error' }), refused('http_403')],
  [
    'an empty account that is answered like a limit',
    said(429, { code: 'insufficient_quota' }, { 'retry-after': '20' }),
    refused('insufficient_quota'),
  ],
  ['an input refused in the words of a limit', said(400, {}), refused('http_400')],
  [
    '429 until a date',
    said(429, { type: 'rate_limit_error' }, { 'retry-after': DATE }),
    { standing: 'waiting awaits_quota', says: [/http_429/, /13:00/, WAY_OUT] },
  ],
  [
    '500 in the words of a limit',
    said(500, { type: 'api_error' }),
    { standing: 'waiting awaits_provider', says: [/http_500/, WAY_OUT] },
  ],
];

async function sends(
  t: TestContext,
  format: Format,
  answer: ModelAnswer | null,
): Promise<{ readonly stage: Stage; readonly here: ConversationId }> {
  const stage = openStage(t);
  const provider = await stage.provider(format, 'first');
  if (answer !== null) await provider.fail(answer);
  await stage.start([provider.model('big-1')]);
  return { stage, here: await stage.say('Read hash429.md') };
}

for (const format of FORMATS) {
  for (const [what, answer, { standing, says: expected }] of OF_PROVIDERS) {
    test(`INC-074 ${what} has its own class and words, whatever its text says: ${format}`, async (t) => {
      const { stage, here } = await sends(t, format, answer);
      await stage.until(() => stage.isIn(here, standing));
      assert.equal((await stage.told(here)).length, 1);
      const [row] = await stage.outbox(here);
      const words = await stage.words(here, String(row?.['code']));
      for (const one of expected) assert.match(words[0] ?? '', one);
      const { detail } = JSON.parse(String((await stage.task(here)).outcomeData)) as {
        readonly detail: string;
      };
      assert.match(detail, expected[0] ?? /never/, 'the code, not the text');
    });
  }

  const OF_TOOLS: readonly (readonly [what: string, outcome: ToolOutcome])[] = [
    ['a script that timed out', { kind: 'error', code: 'timeout', text: 'ended after 120 s' }],
    ['a script whose output says so', { kind: 'result', text: MISLEADING }],
    ['a script that fails and says so', { kind: 'error', code: 'exit_1', text: MISLEADING }],
    ['a file of that name', { kind: 'result', text: 'hash429.md: 401 lines' }],
  ];
  for (const [what, outcome] of OF_TOOLS) {
    test(`INC-074 ${what} is no fault of a provider: ${format}`, async (t) => {
      const stage = openStage(t);
      const provider = await stage.provider(format, 'first');
      stage.place.tools.perform = () => outcome;
      await stage.start([provider.model('big-1')]);
      const here = await stage.say('Read hash429.md');
      await stage.until(() => stage.isIn(here, 'completed answered'), 1);
      assert.deepEqual(await stage.told(here), ['reply: done, big-1']);
      assert.deepEqual([stage.engine.health().limiters, provider.arrived], [[], 2]);
    });
  }

  test(`INC-074 what a person or a model says is no fault of a provider: ${format}`, async (t) => {
    const stage = openStage(t);
    const provider = await stage.provider(format, 'first');
    provider.script = () => says(MISLEADING);
    await stage.start([provider.model('big-1')]);
    const here = await stage.say(MISLEADING);
    await stage.until(() => stage.isIn(here, 'completed answered'), 1);
    assert.deepEqual(await stage.told(here), [`reply: ${MISLEADING}`]);
    assert.deepEqual([stage.engine.health().limiters, provider.arrived], [[], 1]);
  });
}
