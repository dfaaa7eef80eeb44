import assert from 'node:assert/strict';
import type { FenceState } from '../core/session/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { Store } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import {
  ABOVE_ALL,
  conversationRow,
  idOf,
  messageRow,
  outboxRow,
  runRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from './store-rows.ts';
import { operationRow } from './store-rows-maintenance.ts';

const ID = idOf('operation', 1);
const CONVERSATION_ID = idOf('conversation', 1);
const SESSION_ID = idOf('session', 1);
const IN_SESSION = { conversationId: CONVERSATION_ID, sessionId: SESSION_ID };

/** Fences, seeds, prepared notices, and what is read for a summary. */
export const MAINTENANCE_CASES: readonly Case[] = [
  ['M-8 R-16 what a fence holds back is neither due, claimable nor assessed', fenced],
  ['a fence stands before an existing conversation alone, and names its operation', fence],
  ['a session has its seed and its link, and keeps what else it is', seeded],
  ['sessions of a conversation are listed from the newest, page by page', sessions],
  ['M-10 a prepared notice leaves once, at its new place, or never', prepared],
  ['steps of a session are read in their order from one place to another', steps],
  ['what persons said and a turn claimed is read from the newest', said],
  ['open runs of a conversation are found, the oldest first', runs],
  ['T-20 what summaries used is summed over a range of their operations', used],
];

const NEEDED: Partial<TaskRecord> = {
  state: 'waiting',
  reason: 'interrupted',
  waitKind: 'assessment',
  recoveryState: 'needed',
};
const FENCES = ['none', 'shut', 'blocked', 'passed'] as const satisfies readonly FenceState[];

/** Conversation n with a waiting message and a task that was cut, behind the nth of the fences. */
async function putFenced(store: Store): Promise<void> {
  for (const [place, state] of FENCES.entries()) {
    const n = place + 1;
    const id = idOf('conversation', n);
    const own = { conversationId: id };
    const task = { ...NEEDED, ...own, id: idOf('task', n), recoveryNextAt: n };
    await mustPut(
      store,
      {
        write: 'conversation.insert',
        row: conversationRow({ id, address: `a${n}`, fence: state, operationId: ID }),
      },
      {
        write: 'message.insert',
        row: messageRow({ ...own, id: idOf('message', n), externalId: `m${n}` }),
      },
      { write: 'task.insert', row: taskRow(task) },
    );
  }
}

async function fenced({ store }: Opened): Promise<void> {
  await putFenced(store);
  const dueIn = async (generatedSince: number): Promise<string[]> =>
    field(await read(store, 'inbox.due', { generatedSince, limit: 9 }), 'conversationId');
  const assessable = async (limit = 9): Promise<string[]> =>
    field(await read(store, 'task.assessable', { now: 99, attempts: 3, limit }), 'id');
  const conversations = (...numbers: number[]): string[] =>
    numbers.map((n) => idOf('conversation', n));
  const tasks = (...numbers: number[]): string[] => numbers.map((n) => idOf('task', n));
  for (const since of [0, 1]) assert.deepEqual(await dueIn(since), conversations(1, 4));
  assert.deepEqual(await assessable(), tasks(1, 4));
  assert.deepEqual(await assessable(2), tasks(1, 4), 'what is held back takes no place');
  const behind = async (limit = 9): Promise<string[]> =>
    field(await read(store, 'conversation.fenced', { limit }), 'id');
  assert.deepEqual(await behind(), conversations(2, 3));
  assert.deepEqual(await behind(1), conversations(2));
  for (const [n, inputs] of [1, 0, 0, 1].entries()) {
    const of = { conversationId: idOf('conversation', n + 1), generatedSince: 0, limit: 9 };
    assert.equal((await read(store, 'message.claimable', of)).length, inputs);
    const since = { ...of, generatedSince: 1 };
    assert.equal((await read(store, 'message.claimable', since)).length, inputs);
  }

  const put = (n: number, state: FenceState): Promise<void> =>
    mustPut(store, {
      write: 'conversation.fence',
      id: idOf('conversation', n),
      fence: state,
      operationId: ID,
    });
  await put(1, 'blocked');
  await put(3, 'passed');
  assert.deepEqual(await behind(), conversations(1, 2));
  assert.deepEqual(await dueIn(0), conversations(3, 4));
  assert.deepEqual(await assessable(), tasks(3, 4));
  assert.deepEqual(await read(store, 'task.nextAssessment', {}), { at: 3 });
  await put(2, 'none');
  assert.deepEqual(await dueIn(0), conversations(2, 3, 4));
  assert.deepEqual(await read(store, 'task.nextAssessment', {}), { at: 2 });
  for (const n of [2, 3, 4]) await put(n, 'shut');
  assert.deepEqual(await dueIn(0), []);
  assert.equal(await read(store, 'task.nextAssessment', {}), undefined);
}

async function fence({ store }: Opened): Promise<void> {
  const row = conversationRow({ model: 'small', seq: 4 });
  const shut = {
    write: 'conversation.fence',
    id: row.id,
    fence: 'shut',
    operationId: ID,
  } as const;
  await mustLose(store, shut);
  await mustPut(store, { write: 'conversation.insert', row });
  await mustPut(store, shut);
  const found = await read(store, 'conversation.byId', { id: row.id });
  assert.deepEqual(found, { ...row, fence: 'shut', operationId: ID });
  await mustPut(store, { ...shut, fence: 'none', operationId: null });
  assert.deepEqual(await read(store, 'conversation.byId', { id: row.id }), row);
}

async function seeded({ store }: Opened): Promise<void> {
  const row = sessionRow({ firstSeq: 7, previousId: idOf('session', 3) });
  const seed = { write: 'session.seed', id: row.id, seed: '{"summary":"…"}' } as const;
  const link = { write: 'session.link', id: row.id, nextId: idOf('session', 2) } as const;
  await mustLose(store, { ...seed, cutSeq: 40, compactions: 1 });
  await mustLose(store, link);
  await mustPut(store, { write: 'session.insert', row });
  await mustPut(store, { ...seed, cutSeq: 40, compactions: 1 });
  const once = { ...row, seed: seed.seed, cutSeq: 40, compactions: 1 };
  assert.deepEqual(await read(store, 'session.byId', { id: row.id }), once);
  await mustPut(store, { ...seed, seed: '{}', cutSeq: 60, compactions: 2 }, link);
  const twice = { ...row, seed: '{}', cutSeq: 60, compactions: 2, nextId: link.nextId };
  assert.deepEqual(await read(store, 'session.byId', { id: row.id }), twice);
}

async function sessions({ store }: Opened): Promise<void> {
  for (const n of [1, 2, 3, 4]) {
    const conversationId = idOf('conversation', n === 3 ? 2 : 1);
    const row = sessionRow({ id: idOf('session', n), conversationId, firstSeq: n });
    await mustPut(store, { write: 'session.insert', row });
  }
  const found = async (before: string, limit: number): Promise<string[]> => {
    const args = { conversationId: CONVERSATION_ID, before, limit };
    return field(await read(store, 'session.list', args), 'id');
  };
  const ids = (...numbers: number[]): string[] => numbers.map((n) => idOf('session', n));
  assert.deepEqual(await found(ABOVE_ALL, 9), ids(4, 2, 1));
  assert.deepEqual(await found(ABOVE_ALL, 2), ids(4, 2));
  assert.deepEqual(await found(idOf('session', 2), 2), ids(1));
}

async function prepared({ store }: Opened): Promise<void> {
  const notice = { kind: 'notice', level: 'waiting', taskId: null, text: null } as const;
  const row = outboxRow({ ...notice, params: '{"code":"eio"}' });
  const { id } = row;
  const params = '{"code":"timeout"}';
  const release = { write: 'outbox.release', id, seq: 12, at: 8_000, params } as const;
  const withdraw = { write: 'outbox.withdraw', id } as const;
  await mustLose(store, release);
  await mustLose(store, withdraw);
  await mustPut(store, { write: 'outbox.insert', row });
  await mustPut(store, release);
  const left = { ...row, state: 'delivered', seq: 12, at: 8_000, deliveredAt: 8_000, params };
  assert.deepEqual(await read(store, 'outbox.byId', { id }), left);
  assert.deepEqual(await read(store, 'outbox.byKey', { key: row.key }), left);
  assert.equal(await read(store, 'outbox.byKey', { key: 'notice:9' }), undefined);
  const after = { conversationId: CONVERSATION_ID, after: row.seq, limit: 9 };
  assert.deepEqual(await read(store, 'outbox.after', after), [left]);
  await mustLose(store, { ...release, seq: 13 });
  await mustLose(store, withdraw);

  const other = outboxRow({ ...notice, seq: 14 });
  await mustPut(store, { write: 'outbox.insert', row: other });
  await mustPut(store, { ...withdraw, id: other.id });
  const stale = { ...other, state: 'stale' };
  assert.deepEqual(await read(store, 'outbox.byId', { id: other.id }), stale);
  await mustLose(store, { ...release, id: other.id, seq: 15 });
  await mustLose(store, { ...withdraw, id: other.id });
}

/** Turns of two sessions of a conversation, one after the other, each with two steps. */
async function putTurns(store: Store): Promise<void> {
  const sessionOf = (turn: number) => idOf('session', turn === 3 ? 2 : 1);
  await mustPut(store, { write: 'session.insert', row: sessionRow() });
  for (const n of [1, 2, 3, 4]) {
    const turnId = idOf('turn', n);
    const row = turnRow({ id: turnId, firstSeq: n * 10, sessionId: sessionOf(n) });
    await mustPut(
      store,
      { write: 'turn.insert', row },
      { write: 'step.insert', row: stepRow({ turnId, seq: n * 10 + 1 }) },
      { write: 'step.insert', row: stepRow({ turnId, seq: n * 10 + 5 }) },
    );
  }
}

async function steps({ store }: Opened): Promise<void> {
  await putTurns(store);
  const found = async (after: number, upTo: number, limit = 9): Promise<number[]> =>
    field(await read(store, 'step.ofSession', { ...IN_SESSION, after, upTo, limit }), 'seq');
  assert.deepEqual(await found(0, 99), [11, 15, 21, 25, 41, 45]);
  assert.deepEqual(await found(0, 99, 3), [11, 15, 21]);
  assert.deepEqual(await found(11, 41), [15, 21, 25, 41], 'from the middle to the middle');
  assert.deepEqual(await found(25, 40), []);
  assert.deepEqual(await found(30, 45), [41, 45]);
  assert.deepEqual(await found(45, 99), []);
  const second = { ...IN_SESSION, sessionId: idOf('session', 2), after: 0, upTo: 99, limit: 9 };
  assert.deepEqual(field(await read(store, 'step.ofSession', second), 'seq'), [31, 35]);
  const elsewhere = { ...second, conversationId: idOf('conversation', 2) };
  assert.deepEqual(await read(store, 'step.ofSession', elsewhere), []);
}

async function said({ store }: Opened): Promise<void> {
  const claimed = { state: 'done', taskId: idOf('task', 1), turnId: idOf('turn', 1) } as const;
  const elsewhere = { conversationId: idOf('conversation', 2) };
  const rows = [
    messageRow({ seq: 1, ...claimed, claimedSeq: 30 }),
    messageRow({ seq: 2, ...claimed, claimedSeq: 10, state: 'claimed' }),
    messageRow({ seq: 3, ...claimed, claimedSeq: 40, kind: 'generated' }),
    messageRow({ seq: 4 }),
    messageRow({ seq: 5, kind: 'command', state: 'done' }),
    messageRow({ seq: 6, ...claimed, claimedSeq: 30 }),
    messageRow({ seq: 7, ...claimed, claimedSeq: 50, ...elsewhere }),
  ];
  for (const row of rows) await mustPut(store, { write: 'message.insert', row });
  const found = async (limit: number): Promise<number[]> => {
    const args = { conversationId: CONVERSATION_ID, limit };
    return field(await read(store, 'message.newestSaid', args), 'seq');
  };
  assert.deepEqual(await found(9), [6, 1, 2]);
  assert.deepEqual(await found(1), [6]);
}

async function runs({ store }: Opened): Promise<void> {
  for (const n of [1, 2, 3, 4]) {
    const ended = n === 2 ? ({ state: 'failed', endedAt: 5 } as const) : {};
    const conversationId = idOf('conversation', n === 4 ? 2 : 1);
    const task = taskRow({ id: idOf('task', n), conversationId, ...ended });
    const row = runRow({ id: idOf('run', 9 - n), taskId: task.id, conversationId, ...ended });
    await mustPut(store, { write: 'task.insert', row: task }, { write: 'run.insert', row });
  }
  const found = async (limit: number): Promise<string[]> => {
    const args = { conversationId: CONVERSATION_ID, limit };
    return field(await read(store, 'run.openOf', args), 'id');
  };
  assert.deepEqual(await found(9), [idOf('run', 6), idOf('run', 8)]);
  assert.deepEqual(await found(1), [idOf('run', 6)]);
  const end = { state: 'failed', outcomeCode: 'exhausted', outcomeId: null, endedAt: 9 } as const;
  await mustPut(store, { write: 'run.end', id: idOf('run', 6), ...end });
  assert.deepEqual(await found(9), [idOf('run', 8)]);
}

async function used({ store }: Opened): Promise<void> {
  const counts = { inputTokens: 10, outputTokens: 2, cost: 3, attempts: 1 };
  for (const n of [1, 2, 3]) {
    const conversationId = idOf('conversation', n);
    const row = operationRow({ ...counts, id: idOf('operation', n), conversationId });
    await mustPut(store, { write: 'operation.insert', row });
  }
  const range = { from: idOf('operation', 1), to: idOf('operation', 3) };
  const sum = { inputTokens: 20, outputTokens: 4, cost: 6, calls: 2 };
  assert.deepEqual(await read(store, 'usage.ofMaintenance', range), sum);
  const none = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };
  const empty = { from: idOf('operation', 8), to: idOf('operation', 9) };
  assert.deepEqual(await read(store, 'usage.ofMaintenance', empty), none);
}
