import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import type { OutboxReply } from '../../src/wire/status.ts';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import type { RecordedRequest } from '../../src/testing/model-server.ts';
import { openStage, resultsIn, type Stage } from './stage.ts';

const INPUT = 'Write two files and a report';

/** Two files are written; then comes what goes wrong. */
function afterTwoFiles(wrong: () => ModelAnswer) {
  return (request: RecordedRequest): ModelAnswer => {
    const done = resultsIn(request);
    return done < 2 ? callsTool('write', { path: `part-${done}.txt`, content: 'x' }) : wrong();
  };
}

/** What the conversation of the order was told, and what exists of it. */
async function told(
  { host }: Stage,
  order: { readonly conversationId: string; readonly id: string },
) {
  const client = host.client();
  const { items } = await client.outbox({ conversation: order.conversationId });
  const run = await client.run(order.id);
  const transcript = await client.transcript(order.conversationId);
  const files = transcript.items.flatMap(({ tool, content }) =>
    tool === 'write' ? [content] : [],
  );
  return { items, run, files: files.toReversed() };
}

function assertOneLastWord(items: readonly OutboxReply[], code: string, why: RegExp): void {
  assert.deepEqual(
    items.map((item) => [item.kind, item.code]),
    [['notice', code]],
  );
  assert.match(items[0]?.text ?? '', /“Write two files/);
  assert.match(items[0]?.text ?? '', why);
  assert.match(items[0]?.text ?? '', /What was done is (kept|saved)|Nothing is lost/);
}

/** What exists is on record, whatever became of the order. */
function assertBothFiles(results: readonly string[]): void {
  assert.equal(results.length, 2);
  for (const [index, result] of results.entries())
    assert.match(result, new RegExp(`part-${index}\\.txt`));
}

interface Way {
  readonly what: string;
  readonly wrong: ModelAnswer;
  readonly status: 'waiting' | 'failed';
  readonly code: string;
  readonly why: RegExp;
}

/** Of a provider that may come back the order waits, and says so, when its tries are used up (T-18). */
const AWAY = { status: 'waiting', code: 'awaits_provider' } as const;
/** What the host may take to say so: its tries with the pauses between them, after a stall of a second each. */
const WORD_MS = 61 * SECOND;

const WAYS: readonly Way[] = [
  {
    what: 'says nothing, twice',
    wrong: says(''),
    status: 'failed',
    code: 'no_outcome',
    why: /\/stop task_/,
  },
  { what: 'refuses', wrong: fails(401), status: 'failed', code: 'model_refused', why: /http_401/ },
  { what: 'stays silent beyond its limit', wrong: { kind: 'stall' }, ...AWAY, why: /timeout/ },
  { what: 'breaks off', wrong: says('half', { end: 'reset' }), ...AWAY, why: /cut_stream/ },
  { what: 'fails inside', wrong: fails(500), ...AWAY, why: /http_500/ },
];

/** Plays one way on a host of its own: the ways must not share what is known of their provider. */
async function play(t: TestContext, { what, wrong, status, code, why }: Way): Promise<void> {
  const stage = await openStage(
    t,
    afterTwoFiles(() => wrong),
    ', timeoutSeconds: 1',
  );
  stage.server.listWith({ kind: 'reset' });
  const client = stage.host.client();
  const began = performance.now();
  const order = await client.createRun({ input: `${INPUT} that ${what}` });
  for await (const { type } of client.runEvents(order.id)) if (type === 'notice') break;
  assert.ok(performance.now() - began < WORD_MS, what);
  const words = await told(stage, order);
  assert.equal(words.run.status, status, what);
  if (status === 'failed') assert.equal(words.run.outcome?.code, code, what);
  assertOneLastWord(words.items, code, why);
  assertBothFiles(words.files);
  await stage.killAndRestart();
  const later = await told(stage, order);
  assert.deepEqual(later.items, words.items, `${what}: and no second word`);
}

test('INC-019 however the model fails, the order gets one last word that says what is known', async (t) => {
  await Promise.all(WAYS.map((way) => play(t, way)));
});

test('INC-019 when the process is killed and no check lets it go on, the order gets one last word, and no second one', async (t) => {
  const stage = await openStage(
    t,
    afterTwoFiles(() => ({ kind: 'stall' })),
    '',
    'recovery: { safeMode: false, spacingSeconds: 1, callTimeoutSeconds: 1 }\n',
  );
  const order = await stage.host.client().createRun({ input: INPUT });
  await stage.server.arrived(3);
  for (let starts = 0; starts < 2; starts += 1) {
    await stage.killAndRestart();
    const client = stage.host.client();
    for await (const { type } of client.runEvents(order.id)) if (type === 'notice') break;
    const { items, run, files } = await told(stage, order);
    assert.equal(run.status, 'failed');
    assert.equal(run.outcome?.code, 'recovery_assessment_failed');
    assertOneLastWord(items, 'recovery_assessment_failed', /\/budget-reset task_/);
    assertBothFiles(files);
  }
  assert.equal(stage.server.requests.length, 3 + 3, 'three checks, and nothing went on by itself');
});
