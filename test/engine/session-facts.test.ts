// What a turn of a shortened session is told is what the records say, and nothing of another session.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { writeSeed } from '../../src/core/maintenance/summary.ts';
import type { SessionRecord } from '../../src/core/session/record.ts';
import type { StepRecord } from '../../src/core/turn/record.ts';
import { readSessionFacts } from '../../src/engine/maintenance/facts.ts';
import type { Write } from '../../src/ports/store.ts';
import type { SessionFacts } from '../../src/text/session-facts.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import {
  approvalRow,
  conversationRow,
  executionRow,
  idOf,
  messageRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { Installation, SILENT } from '../support/host.ts';

const TASK = taskRow({ id: idOf('task', 5), sessionId: idOf('session', 2) });
const place = new Installation();
let store = openStore();

function openStore(): ReturnType<typeof openSqlite> {
  return openSqlite({ path: ':memory:', clock: place.clock, ids: place.ids });
}

beforeEach(async () => {
  store = openStore();
  await mustPut(store, { write: 'conversation.insert', row: conversationRow() });
});
afterEach(() => store.close());

/** The session that is told, handed over from session 1 at 100 and cut at 140. */
function second(over: Partial<SessionRecord> = {}): SessionRecord {
  const ids = { id: idOf('session', 2), previousId: idOf('session', 1) };
  return sessionRow({ ...ids, firstSeq: 100, cutSeq: 140, ...over });
}

async function told(
  writes: readonly Write[],
  session = second(),
  task: typeof TASK | null = TASK,
): Promise<SessionFacts> {
  const sessions = [sessionRow({ nextId: session.id, endedAt: 5_000 }), session];
  for (const row of sessions) await mustPut(store, { write: 'session.insert', row });
  for (const one of writes) await mustPut(store, one);
  const parts = { store, clock: place.clock, log: SILENT };
  return readSessionFacts(parts, {
    conversation: conversationRow(),
    session,
    task: task ?? undefined,
  });
}

/** A turn of a task and its steps. */
function turn(number: number, firstSeq: number, steps: readonly Partial<StepRecord>[]): Write[] {
  const of = { id: idOf('turn', number), taskId: TASK.id, firstSeq };
  return [
    { write: 'turn.insert', row: turnRow(of) },
    ...steps.map((over, index): Write => {
      const seq = firstSeq + 1 + index;
      const state = over.state ?? 'finished';
      const row = stepRow({ seq, turnId: of.id, taskId: TASK.id, state, output: 'out', ...over });
      return { write: 'step.insert', row };
    }),
  ];
}

const task = (over: Parameters<typeof taskRow>[0]): Write => ({
  write: 'task.insert',
  row: taskRow(over),
});

describe('the facts of a shortened session', () => {
  test('are the calls that its requests no longer show, of earlier sessions too', async () => {
    const { doneCalls, uncertain } = await told([
      { write: 'task.insert', row: TASK },
      ...turn(1, 10, [
        { tool: 'old_effect' },
        { tool: 'unsure', state: 'uncertain' },
        { tool: 'asked', errorCode: 'asked' },
        { tool: 'task_note', repeatable: 'yes' },
        { kind: 'model', tool: null, repeatable: null },
      ]),
      ...turn(2, 110, [
        { tool: 'look', repeatable: 'yes' },
        { tool: 'broke', state: 'failed', output: 'no disk' },
        { tool: 'open', state: 'started' },
      ]),
      ...turn(3, 139, [{ tool: 'last_hidden' }, { tool: 'still_shown' }]),
    ]);
    assert.deepEqual(
      doneCalls.map(({ tool, outcome, result }) => [tool, outcome, result]),
      [
        ['old_effect', 'finished', 'out'],
        ['look', 'finished', 'out'],
        ['broke', 'failed', 'no disk'],
        ['last_hidden', 'finished', 'out'],
      ],
    );
    assert.deepEqual(
      uncertain.map(({ tool, taskId }) => [tool, taskId]),
      [['unsure', TASK.id]],
    );
  });

  test('name an unknown outcome however many calls were made after it', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ tool: `call_${index}` }));
    const { doneCalls, uncertain } = await told([
      { write: 'task.insert', row: TASK },
      ...turn(1, 10, [{ tool: 'unsure', state: 'uncertain' }, ...many]),
    ]);
    assert.equal(uncertain.length, 1);
    assert.equal(doneCalls.length, 40);
    assert.equal(doneCalls.at(-1)?.tool, 'call_59');
  });

  test('are the open tasks, this one marked, and those that ended in its line of sessions', async () => {
    const ended = { state: 'completed', endedAt: 7_000 } as const;
    const { openTasks, finished } = await told([
      task({ id: idOf('task', 1), mandateText: 'old', ...ended }),
      task({ id: idOf('task', 2), mandateText: 'new', ...ended, sessionId: idOf('session', 2) }),
      task({
        id: idOf('task', 3),
        mandateText: 'elsewhere',
        ...ended,
        sessionId: idOf('session', 9),
      }),
      task({
        id: idOf('task', 4),
        state: 'waiting',
        waitKind: 'answer',
        waitQuestion: 'Which?',
        waitUntil: 8_000,
        checkpoint: 'half',
      }),
      { write: 'task.insert', row: TASK },
      task({ id: idOf('task', 6), enrollment: 'held-legacy' }),
    ]);
    assert.deepEqual(
      finished.map(({ request, state, at }) => [request, state, at]),
      [
        ['old', 'completed', 7_000],
        ['new', 'completed', 7_000],
      ],
    );
    assert.deepEqual(
      openTasks.map(({ id, isThis }) => [id, isThis]),
      [
        [idOf('task', 4), false],
        [TASK.id, true],
      ],
    );
    const { wait, until, question, checkpoint } = openTasks[0] ?? {};
    assert.deepEqual([wait, until, question, checkpoint], ['answer', 8_000, 'Which?', 'half']);
  });

  test('have this task though a dozen newer ones are open', async () => {
    const newer = Array.from({ length: 15 }, (_, index) => task({ id: idOf('task', 20 + index) }));
    const { openTasks } = await told([{ write: 'task.insert', row: TASK }, ...newer]);
    assert.equal(openTasks.at(-1)?.id, TASK.id);
    assert.ok(openTasks.length <= 13);
  });

  test('are workers of open tasks by id, the running ones whatever ended, and open approvals', async () => {
    const worker = (number: number, over: object): Write => ({
      write: 'execution.insert',
      row: executionRow({ id: idOf('execution', number), taskId: TASK.id, ...over }),
    });
    const { workers, approvals } = await told([
      { write: 'task.insert', row: TASK },
      worker(1, { state: 'running', job: 'the long one' }),
      ...[2, 3, 4, 5, 6].map((number) => worker(number, { state: 'completed', endedAt: 6_000 })),
      worker(7, { taskId: idOf('task', 99), state: 'running' }),
      { write: 'approval.insert', row: approvalRow({ taskId: TASK.id }) },
      { write: 'approval.insert', row: approvalRow({ id: idOf('approval', 2), state: 'denied' }) },
    ]);
    assert.deepEqual(
      workers.map(({ id, state }) => [id, state]),
      [
        ...[4, 5, 6].map((number) => [idOf('execution', number), 'completed']),
        [idOf('execution', 1), 'running'],
      ],
    );
    assert.deepEqual(
      approvals.map(({ id, tool, expiresAt }) => [id, tool, expiresAt]),
      [[idOf('approval', 1), 'shell', 90_000]],
    );
  });

  const said = (seq: number, over: object = {}): Write => ({
    write: 'message.insert',
    row: messageRow({ seq, claimedSeq: seq, state: 'done', text: `said ${seq}`, ...over }),
  });

  test('are the latest words of a person, back into the session that was handed over', async () => {
    const { latestWords } = await told([
      said(50),
      said(60),
      said(150),
      said(160, { kind: 'generated', channel: 'wake' }),
      said(170, { claimedSeq: null, state: 'unclaimed' }),
    ]);
    assert.deepEqual(
      latestWords.map(({ text }) => text),
      ['said 50', 'said 60', 'said 150'],
    );
  });

  test('are no words from before /new, or from after it in a session that it left', async () => {
    const fresh = second({ previousId: null });
    const { latestWords } = await told([said(50), said(150)], fresh);
    assert.deepEqual(
      latestWords.map(({ text }) => text),
      ['said 150'],
    );
  });

  test('of a session that /new left are what was said while it went on, or about its task', async () => {
    const left = second({ endedAt: 1_155 });
    const words = [said(150), said(160), said(161, { taskId: TASK.id })];
    const { latestWords } = await told(words, left);
    assert.deepEqual(
      latestWords.map(({ text }) => text),
      ['said 150', 'said 161'],
    );
  });

  test('are the conditions of its seed', async () => {
    const conditions = [{ at: 7, text: 'Ask me before deleting.' }];
    const seed = writeSeed({ summary: 'so far', conditions, sinceSeq: 0, reported: null });
    assert.deepEqual((await told([], second({ seed }))).conditions, conditions);
  });

  test('are none where there is nothing, and no task of the turn', async () => {
    const nothing = await told([], second({ seed: '{' }), null);
    for (const [name, list] of Object.entries(nothing)) assert.deepEqual(list, [], name);
  });

  test('call no task open that has ended', async () => {
    const over = { ...TASK, state: 'completed', endedAt: 9_000 } as const;
    const { openTasks, finished } = await told(
      [{ write: 'task.insert', row: over }],
      second(),
      over,
    );
    assert.deepEqual(openTasks, []);
    assert.deepEqual(
      finished.map(({ id }) => id),
      [TASK.id],
    );
  });
});
