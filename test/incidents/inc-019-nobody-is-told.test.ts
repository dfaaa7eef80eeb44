import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  assert.match(items[0]?.text ?? '', /What was done is (kept|saved)/);
}

/** What exists is on record, whatever became of the order. */
function assertBothFiles(results: readonly string[]): void {
  assert.equal(results.length, 2);
  for (const [index, result] of results.entries())
    assert.match(result, new RegExp(`part-${index}\\.txt`));
}

const WAYS: readonly (readonly [what: string, wrong: ModelAnswer, code: string, why: RegExp])[] = [
  ['stays silent beyond its limit', { kind: 'stall' }, 'model_unavailable', /timeout/],
  ['breaks off', says('half', { end: 'reset' }), 'model_unavailable', /cut_stream/],
  ['refuses', fails(401), 'model_refused', /http_401/],
  ['fails inside', fails(500), 'model_unavailable', /http_500/],
  ['says nothing, twice', says(''), 'no_outcome', /\/stop task_/],
];

test('INC-019 however the model fails, the order gets one last word that says what is known', async (t) => {
  const script = (request: RecordedRequest): ModelAnswer => {
    const way = WAYS.find(([what]) => request.text.includes(what));
    return afterTwoFiles(() => way?.[1] ?? says('unknown'))(request);
  };
  const stage = await openStage(t, script, ', timeoutSeconds: 1');
  const client = stage.host.client();
  const orders = await Promise.all(
    WAYS.map(([what]) => client.createRun({ input: `${INPUT} that ${what}`, wait: 60 })),
  );
  const words = await Promise.all(orders.map((order) => told(stage, order)));
  for (const [index, [what, , code, why]] of WAYS.entries()) {
    const { items = [], run, files = [] } = words[index] ?? {};
    assert.equal(run?.status, 'failed', what);
    assert.equal(run?.outcome?.code, code, what);
    assertOneLastWord(items, code, why);
    assertBothFiles(files);
  }
  await stage.killAndRestart();
  const later = await Promise.all(orders.map((order) => told(stage, order)));
  assert.deepEqual(
    later.map(({ items }) => items),
    words.map(({ items }) => items),
    'and no second word',
  );
});

test('INC-019 when the process is killed the order gets one last word at the next start, and no second one', async (t) => {
  const stage = await openStage(
    t,
    afterTwoFiles(() => ({ kind: 'stall' })),
  );
  const order = await stage.host.client().createRun({ input: INPUT });
  await stage.server.arrived(3);
  for (let starts = 0; starts < 2; starts += 1) {
    await stage.killAndRestart();
    const { items, run, files } = await told(stage, order);
    assert.equal(run.status, 'waiting');
    assertOneLastWord(items, 'interrupted', /\/stop task_/);
    assertBothFiles(files);
  }
  assert.equal(stage.server.requests.length, 3, 'nothing went on by itself');
});
