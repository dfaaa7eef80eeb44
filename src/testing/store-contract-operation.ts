import assert from 'node:assert/strict';
import type { OperationRecord } from '../core/maintenance/record.ts';
import type { Store, Write } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { operationRow } from './store-rows-maintenance.ts';
import { ABOVE_ALL, conversationRow, idOf } from './store-rows.ts';

const ID = idOf('operation', 1);
const CONVERSATION_ID = idOf('conversation', 1);

/** Every field another than at its start. */
const CHANGED: Partial<OperationRecord> = {
  sessionId: idOf('session', 2),
  nextSessionId: idOf('session', 3),
  kind: 'handover',
  step: 'rotate',
  state: 'blocked',
  reason: 'uncertain',
  epoch: 2,
  failures: 3,
  lifetimeFailures: 9,
  attempts: 12,
  attemptAt: 4_000,
  hostId: idOf('host', 1),
  nextAttemptAt: 5_000,
  quotaWaits: 4,
  window: 32_000,
  noticeId: idOf('outbox', 7),
  noticeAt: 6_000,
  isTold: 'yes',
  isKeptTold: 'yes',
  looksFirst: 'yes',
  inputTokens: 100,
  outputTokens: 200,
  cost: 300,
  changedAt: 7_000,
  endedAt: 8_000,
  fault: '{"code":"timeout","said":"…"}',
  work: '{"cutSeq":40}',
};

/** Operations, their counts and versions, and what they are found by. */
export const OPERATION_CASES: readonly Case[] = [
  [
    'an operation is saved whole from the version that was read, and of the same conversation',
    saved,
  ],
  [
    'I-2 that a message is kept is told once in an epoch, at the version that the notice named',
    keptTold,
  ],
  ['M-8 a conversation has one operation at most that is neither done nor dropped', onlyOne],
  ['M-3 what runs or waits is due by its next try or its notice, the longest due first', due],
  ['an operation whose try is out is not due and is found as tried, the longest out first', tried],
  ['operations are listed from the newest, by state and conversation, page by page', listed],
  ['the newest operation of a conversation is found whatever became of it', newest],
  ['open operations are counted by their states', standing],
];

function operations(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('operation', number));
}

/** Operation n with these values, of conversation n. */
async function putOperations(
  store: Store,
  rows: readonly Partial<OperationRecord>[],
): Promise<void> {
  for (const [place, over] of rows.entries()) {
    const n = place + 1;
    const own = { id: idOf('operation', n), conversationId: idOf('conversation', n) };
    const row = operationRow({ ...own, ...over });
    await mustPut(store, { write: 'operation.insert', row });
  }
}

async function saved({ store }: Opened): Promise<void> {
  const row = operationRow();
  const save = (over: Partial<OperationRecord>): Write => ({
    write: 'operation.save',
    row: { ...row, ...CHANGED, ...over },
  });
  await mustLose(store, save({ version: 2 }));
  await mustPut(store, { write: 'operation.insert', row });
  await mustLose(store, { write: 'operation.insert', row });
  assert.deepEqual(await read(store, 'operation.byId', { id: ID }), row);
  assert.equal(await read(store, 'operation.byId', { id: idOf('operation', 9) }), undefined);
  await mustLose(store, save({ version: 1 }));
  await mustLose(store, save({ version: 3 }));
  // What it is of and since when is never saved.
  const elsewhere = { conversationId: idOf('conversation', 2), createdAt: 1 };
  await mustPut(store, save({ version: 2, ...elsewhere }));
  await mustLose(store, save({ version: 2 }));
  const changed = { ...row, ...CHANGED, version: 2 };
  assert.deepEqual(await read(store, 'operation.byId', { id: ID }), changed);
  await mustPut(store, { write: 'operation.save', row: { ...row, version: 3 } });
  assert.deepEqual(await read(store, 'operation.byId', { id: ID }), { ...row, version: 3 });
}

async function keptTold({ store }: Opened): Promise<void> {
  const row = operationRow({ state: 'blocked', reason: 'exhausted', version: 7 });
  const told = { write: 'operation.keptTold', id: ID } as const;
  await mustLose(store, told);
  await mustPut(store, { write: 'operation.insert', row });
  await mustPut(store, told);
  await mustLose(store, told);
  const once = { ...row, isKeptTold: 'yes' };
  assert.deepEqual(await read(store, 'operation.byId', { id: ID }), once);
  const next = { ...row, version: 8, epoch: 2, reason: null, state: 'running' } as const;
  await mustPut(store, { write: 'operation.save', row: next }, told);
}

async function onlyOne({ store }: Opened): Promise<void> {
  const row = operationRow();
  const next = operationRow({ id: idOf('operation', 2), state: 'blocked', reason: 'exhausted' });
  const insert = { write: 'operation.insert', row: next } as const;
  await mustPut(store, { write: 'operation.insert', row });
  for (const [version, state] of ['waiting', 'blocked', 'running'].entries()) {
    await mustLose(store, insert);
    const over = { version: version + 2, state: state as OperationRecord['state'] };
    await mustPut(store, { write: 'operation.save', row: { ...row, ...over } });
  }
  const over = { ...row, endedAt: 9_000, nextAttemptAt: null };
  await mustPut(
    store,
    { write: 'operation.save', row: { ...over, state: 'done', version: 5 } },
    insert,
  );
  // Not even the one before is reopened beside it.
  await mustLose(store, { write: 'operation.save', row: { ...row, state: 'waiting', version: 6 } });
  await mustPut(
    store,
    { write: 'operation.save', row: { ...next, state: 'dropped', version: 2 } },
    { write: 'operation.save', row: { ...row, state: 'waiting', version: 6 } },
  );
}

async function dueAt(store: Store, now: number, limit = 9): Promise<string[]> {
  return field(await read(store, 'operation.due', { now, limit }), 'id');
}

async function due({ store }: Opened): Promise<void> {
  assert.equal(await read(store, 'operation.nextDue', {}), undefined);
  await putOperations(store, [
    { nextAttemptAt: 70 },
    { state: 'waiting', nextAttemptAt: 90, noticeAt: 60 },
    { state: 'waiting', nextAttemptAt: 50, noticeAt: 80 },
    { state: 'waiting', nextAttemptAt: null, noticeAt: 65 },
    { state: 'blocked', reason: 'exhausted', nextAttemptAt: 40, noticeAt: 40 },
    { state: 'done', nextAttemptAt: 40 },
    { state: 'dropped', noticeAt: 40 },
    { attemptAt: 30, nextAttemptAt: 40, noticeAt: 40 },
    { nextAttemptAt: null, noticeAt: null },
    { nextAttemptAt: 65 },
  ]);
  assert.deepEqual(await dueAt(store, 49), []);
  assert.deepEqual(await dueAt(store, 50), operations(3));
  assert.deepEqual(await dueAt(store, 69), operations(3, 2, 4, 10));
  assert.deepEqual(await dueAt(store, 9_999), operations(3, 2, 4, 10, 1));
  assert.deepEqual(await dueAt(store, 9_999, 2), operations(3, 2));
  assert.deepEqual(await read(store, 'operation.nextDue', {}), { at: 50 });
  const row = operationRow({ id: idOf('operation', 3), state: 'done', version: 2 });
  await mustPut(store, { write: 'operation.save', row });
  assert.deepEqual(await read(store, 'operation.nextDue', {}), { at: 60 });
}

async function tried({ store }: Opened): Promise<void> {
  await putOperations(store, [
    { attemptAt: 70, hostId: idOf('host', 1) },
    {},
    { attemptAt: 50, hostId: idOf('host', 2) },
    { state: 'waiting' },
  ]);
  const found = async (limit: number): Promise<string[]> =>
    field(await read(store, 'operation.tried', { limit }), 'id');
  assert.deepEqual(await found(9), operations(3, 1));
  assert.deepEqual(await found(1), operations(3));
  assert.deepEqual(await dueAt(store, 9_999), operations(2, 4));
  const row = operationRow({ id: idOf('operation', 3), version: 2, state: 'waiting' });
  await mustPut(store, { write: 'operation.save', row });
  assert.deepEqual(await found(9), operations(1));
  assert.deepEqual(await dueAt(store, 9_999), operations(2, 3, 4));
}

async function listed({ store }: Opened): Promise<void> {
  const conversationId = CONVERSATION_ID;
  await putOperations(store, [
    { state: 'done' },
    { state: 'waiting' },
    { state: 'blocked', reason: 'exhausted' },
    { state: 'dropped', conversationId },
    {},
    { state: 'blocked', reason: 'uncertain', conversationId },
    { state: 'done', conversationId },
  ]);
  const found = async (over: { state?: string; conversationId?: string }, before = ABOVE_ALL) => {
    const args = { state: '', conversationId: '', before, limit: 3, ...over };
    return field(await read(store, 'operation.list', args), 'id');
  };
  assert.deepEqual(await found({}), operations(7, 6, 5));
  assert.deepEqual(await found({}, idOf('operation', 5)), operations(4, 3, 2));
  assert.deepEqual(await found({ state: 'open' }), operations(6, 5, 3));
  assert.deepEqual(await found({ state: 'open' }, idOf('operation', 3)), operations(2));
  assert.deepEqual(await found({ state: 'running' }), operations(5));
  assert.deepEqual(await found({ state: 'waiting' }), operations(2));
  assert.deepEqual(await found({ state: 'blocked' }), operations(6, 3));
  assert.deepEqual(await found({ state: 'done' }), operations(7, 1));
  assert.deepEqual(await found({ state: 'dropped' }), operations(4));
  assert.deepEqual(await found({ state: 'nonsense' }), []);
  assert.deepEqual(await found({ conversationId }), operations(7, 6, 4));
  assert.deepEqual(await found({ conversationId }, idOf('operation', 4)), operations(1));
  assert.deepEqual(await found({ conversationId, state: 'open' }), operations(6));
  assert.deepEqual(await found({ conversationId, state: 'done' }), operations(7, 1));
  assert.deepEqual(await found({ conversationId: idOf('conversation', 9) }), []);
}

async function newest({ store }: Opened): Promise<void> {
  const of = { conversationId: CONVERSATION_ID };
  assert.equal(await read(store, 'operation.newestOf', of), undefined);
  await putOperations(store, [{}, {}, { ...of, state: 'dropped' }]);
  assert.equal((await read(store, 'operation.newestOf', of))?.id, idOf('operation', 3));
  const second = await read(store, 'operation.newestOf', {
    conversationId: idOf('conversation', 2),
  });
  assert.equal(second?.id, idOf('operation', 2));
  const fenced = { fence: 'shut', operationId: idOf('operation', 1) } as const;
  await mustPut(store, { write: 'conversation.insert', row: conversationRow(fenced) });
  assert.equal((await read(store, 'operation.newestOf', of))?.id, idOf('operation', 1));
}

async function standing({ store }: Opened): Promise<void> {
  const none = { running: 0, waiting: 0, blocked: 0 };
  assert.deepEqual(await read(store, 'operation.standing', {}), none);
  await putOperations(store, [
    {},
    { attemptAt: 50 },
    { state: 'waiting' },
    { state: 'blocked', reason: 'exhausted' },
    { state: 'blocked', reason: 'base_too_large' },
    { state: 'blocked', reason: 'uncertain' },
    { state: 'done' },
    { state: 'dropped' },
  ]);
  const counted = { running: 2, waiting: 1, blocked: 3 };
  assert.deepEqual(await read(store, 'operation.standing', {}), counted);
}
