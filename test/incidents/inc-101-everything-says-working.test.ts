import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import type { RecordedRequest } from '../../src/testing/model-server.ts';
import type { StatusReply } from '../../src/wire/status.ts';
import type { TaskReply } from '../../src/wire/task.ts';
import { openStage, resultsIn, type Stage } from './stage.ts';

const SITUATIONS = ['orphan', 'tool', 'person', 'finished', 'hung', 'failing'] as const;
type Situation = (typeof SITUATIONS)[number];

/** How each stands, as the API has it and as every sentence must say it. */
const EXPECTED: Readonly<Record<Situation, { readonly facts: unknown; readonly says: RegExp }>> = {
  orphan: {
    facts: ['waiting', 'interrupted', 'assessment', undefined],
    says: /waiting for the check after an interruption since \d\d:\d\d/,
  },
  tool: { facts: ['active', null, undefined, 'tool'], says: /in `fetch` since \d\d:\d\d/ },
  person: {
    facts: ['waiting', 'awaits_answer', 'answer', undefined],
    says: /waiting for your answer since \d\d:\d\d/,
  },
  finished: {
    facts: ['completed', 'answered', undefined, undefined],
    says: /was completed at \d\d:\d\d/,
  },
  hung: {
    facts: ['active', null, undefined, 'model'],
    says: /the model was asked at \d\d:\d\d and has not answered yet/,
  },
  failing: {
    facts: ['active', null, undefined, 'retry'],
    says: /the model gave no usable answer \(`http_503`\); calls made: 3 of at most 6, the next goes out at \d\d:\d\d:\d\d/,
  },
};

/** A page that never comes. */
async function slowSite(t: TestContext): Promise<string> {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function scriptOf(url: string): (request: RecordedRequest) => ModelAnswer {
  return (request) => {
    if (resultsIn(request) > 0) return { kind: 'stall' };
    switch (request.lastText) {
      case 'tool':
        return callsTool('fetch', { url });
      case 'person':
        return callsTool('task_wait', { for: 'answer', question: 'Which of them?' });
      case 'finished':
        return says('done');
      case 'failing':
        return fails(503);
      default:
        return { kind: 'stall' };
    }
  };
}

interface Placed {
  readonly conversationId: string;
  readonly taskId: string;
}

async function begin({ host }: Stage, situation: Situation): Promise<Placed> {
  const { conversationId, taskId } = await host.client().createRun({ input: situation });
  return { conversationId, taskId };
}

async function taskWhen(
  stage: Stage,
  id: string,
  holds: (task: TaskReply) => boolean,
): Promise<void> {
  const client = stage.host.client();
  const until = performance.now() + 30_000;
  for (;;) {
    const task = await client.task(id);
    if (holds(task)) return;
    assert.ok(performance.now() < until, JSON.stringify(task));
    await pause(20);
  }
}

/** What the host answers to a command in this conversation. */
async function answer(stage: Stage, conversation: string, text: string): Promise<string> {
  const client = stage.host.client();
  const { messageId } = await client.postMessage(conversation, { text });
  for (;;) {
    const { items } = await client.outbox({ conversation });
    const found = items.find(({ subjectId, kind }) => kind === 'answer' && subjectId === messageId);
    if (found !== undefined) return found.text;
    await pause(10);
  }
}

function factsOf({ state, reason, waitsFor, doing }: TaskReply): unknown {
  return [state, reason, waitsFor?.kind, doing?.kind];
}

async function setUp(t: TestContext): Promise<[Stage, ReadonlyMap<Situation, Placed>]> {
  const url = await slowSite(t);
  const { host } = new URL(url);
  const stage = await openStage(t, scriptOf(url), '', `tools: { fetch: { allow: ['${host}'] } }\n`);
  const placed = new Map<Situation, Placed>();
  placed.set('orphan', await begin(stage, 'orphan'));
  await stage.server.arrived(1);
  await stage.killAndRestart();
  for (const situation of SITUATIONS.slice(1)) placed.set(situation, await begin(stage, situation));
  for (const [situation, { taskId }] of placed) {
    const { facts } = EXPECTED[situation];
    await taskWhen(
      stage,
      taskId,
      (task) =>
        JSON.stringify(factsOf(task)) === JSON.stringify(facts) &&
        (situation !== 'failing' || task.doing?.calls === 3),
    );
  }
  return [stage, placed];
}

/** What the list and the status said of all of them, at one time. */
interface Seen {
  readonly listed: readonly TaskReply[];
  readonly status: StatusReply;
}

/** Holds one situation to its description on every surface; gives the words that all of them use. */
async function hold(
  stage: Stage,
  { listed, status }: Seen,
  [situation, { taskId, conversationId }]: readonly [Situation, Placed],
): Promise<string> {
  const { facts, says: expected } = EXPECTED[situation];
  const item = listed.find(({ id }) => id === taskId) ?? assert.fail();
  assert.deepEqual(factsOf(item), facts, situation);
  const [why, chatWhy, chatTasks] = await Promise.all([
    stage.host.client().why(taskId),
    answer(stage, conversationId, `/why ${taskId}`),
    answer(stage, conversationId, '/tasks'),
  ]);
  assert.match(why.sentence, expected, situation);
  assert.equal(chatWhy.split('\n')[0], why.sentence, situation);
  const inList = situation === 'finished' ? /^No task of this conversation is open\./ : expected;
  assert.match(chatTasks, inList, situation);
  assert.doesNotMatch(chatTasks, /: (?:running|active) since/, situation);
  const isRunning = item.doing !== null;
  const turns = status.turns.filter((turn) => turn.taskId === taskId);
  assert.deepEqual(
    turns.map(({ doing }) => doing),
    isRunning ? [item.doing] : [],
    situation,
  );
  if (isRunning) assert.match(await answer(stage, conversationId, '/status'), expected, situation);
  return expected.exec(why.sentence)?.[0] ?? '';
}

test('INC-101 W-3 W-6 six situations have six descriptions, and every surface gives the same', async (t) => {
  const [stage, placed] = await setUp(t);
  const client = stage.host.client();
  const seen = { listed: (await client.tasks()).items, status: await client.status() };
  const { items } = await client.attention();
  const said = new Set<string>();
  // The one that fails is as it was read for some seconds only, so it is looked at first.
  for (const one of [...placed].toReversed()) said.add(await hold(stage, seen, one));
  assert.equal(said.size, SITUATIONS.length);

  // Only what a person has to act on asks for one: about the orphan a check decides.
  const asking = ['person'] as const;
  const told = new Map(items.map(({ taskId, sentence }) => [taskId, sentence]));
  assert.equal(told.size, asking.length);
  for (const situation of asking)
    assert.match(told.get(placed.get(situation)?.taskId ?? '') ?? '', EXPECTED[situation].says);
  assert.deepEqual(seen.status.tasks, { active: 3, waiting: 2, paused: 0, blocked: 0 });
  assert.equal(seen.status.attention, asking.length);

  const shown = (await stage.place.run(['tasks'])).stdout;
  const columns = ['in fetch', 'asking the model, call 1 of 6', 'the model failed, call 3 of 6'];
  columns.push('waiting: answer', 'waiting: assessment', 'completed');
  for (const words of columns) assert.ok(shown.includes(`  ${words}  `), `${words} in\n${shown}`);
});
