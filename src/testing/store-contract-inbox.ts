import assert from 'node:assert/strict';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { SessionId } from '../kernel/ids.ts';
import type { Store } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case } from './store-case.ts';
import {
  conversationRow,
  idempotencyRow,
  idOf,
  messageRow,
  outboxRow,
  sessionRow,
  taskRow,
  turnRow,
} from './store-rows.ts';

const CONVERSATION_ID = idOf('conversation', 1);
const TASK_ID = idOf('task', 1);
const TURN_ID = idOf('turn', 1);

async function putMessages(store: Store, rows: readonly MessageRecord[]): Promise<void> {
  for (const row of rows) await mustPut(store, { write: 'message.insert', row });
}

export const INBOX_CASES: readonly Case[] = [
  [
    'V1: a channel and an external id make one message, and a redelivery is a lost race (I-1)',
    async ({ store }) => {
      await putMessages(store, [messageRow()]);
      const again = messageRow({ seq: 2, externalId: 'external-1', text: 'another text' });
      await mustLose(store, { write: 'message.insert', row: again });
      await putMessages(store, [{ ...again, channel: 'api' }]);
      const found = { channel: 'terminal', externalId: 'external-1' };
      assert.deepEqual(await read(store, 'message.byExternalId', found), messageRow());
      const missing = { channel: 'terminal', externalId: 'external-9' };
      assert.equal(await read(store, 'message.byExternalId', missing), undefined);
    },
  ],
  [
    'a message is kept whole, whatever its text',
    async ({ store }) => {
      const full = messageRow({
        text: `'"; drop table message; -- \n\t\\ ${'ü'.repeat(50_000)} 🕰`,
        replyTo: 'external-0',
        taskId: TASK_ID,
        runId: idOf('run', 1),
        turnId: TURN_ID,
        claimedSeq: 3,
        answerId: idOf('outbox', 1),
        state: 'done',
        kind: 'generated',
        authority: 'own',
      });
      await putMessages(store, [full]);
      assert.deepEqual(await read(store, 'message.byId', { id: full.id }), full);
      assert.equal(await read(store, 'message.byId', { id: idOf('message', 9) }), undefined);
    },
  ],
  [
    'T-10: a turn may take unclaimed inputs of no task or of an active one, in inbox order',
    async ({ store }) => {
      await mustPut(
        store,
        { write: 'task.insert', row: taskRow() },
        { write: 'task.insert', row: taskRow({ id: idOf('task', 2), state: 'blocked' }) },
      );
      await putMessages(store, [
        messageRow({ seq: 9 }),
        messageRow({ seq: 1, state: 'claimed', taskId: TASK_ID, turnId: TURN_ID, claimedSeq: 2 }),
        messageRow({ seq: 2, state: 'done' }),
        messageRow({ seq: 3, kind: 'command' }),
        messageRow({ seq: 4, taskId: idOf('task', 2) }),
        messageRow({ seq: 5, taskId: TASK_ID }),
        messageRow({ seq: 6, kind: 'generated' }),
        messageRow({ seq: 7, conversationId: idOf('conversation', 2) }),
      ]);
      const all = { conversationId: CONVERSATION_ID, generatedSince: 0, limit: 9 };
      assert.deepEqual(field(await read(store, 'message.claimable', all), 'seq'), [5, 6, 9]);
      const some = { ...all, limit: 1 };
      assert.deepEqual(field(await read(store, 'message.claimable', some), 'seq'), [5]);
      const since = async (generatedSince: number): Promise<number[]> =>
        field(await read(store, 'message.claimable', { ...all, generatedSince }), 'seq');
      assert.deepEqual(await since(1_006), [5, 6, 9]);
      assert.deepEqual(await since(1_007), [5, 9], 'what the host made before waits');
    },
  ],
  [
    'V2: a message is claimed once, and is done once',
    async ({ store }) => {
      await putMessages(store, [messageRow()]);
      const id = idOf('message', 1);
      const claim = {
        write: 'message.claim',
        id,
        taskId: TASK_ID,
        turnId: TURN_ID,
        claimedSeq: 4,
      } as const;
      await mustPut(store, claim);
      await mustLose(store, { ...claim, turnId: idOf('turn', 2) });
      const claimed = {
        ...messageRow(),
        state: 'claimed',
        taskId: TASK_ID,
        turnId: TURN_ID,
        claimedSeq: 4,
      };
      assert.deepEqual(await read(store, 'message.byId', { id }), claimed);
      const answerId = idOf('outbox', 5);
      await mustPut(store, { write: 'message.done', id, answerId });
      await mustLose(store, { write: 'message.done', id, answerId: null });
      await mustLose(store, claim);
      const done = { ...claimed, state: 'done', answerId };
      assert.deepEqual(await read(store, 'message.byId', { id }), done);
    },
  ],
  [
    'genuine inputs of no task yet are found in inbox order, and bound to a task once',
    async ({ store }) => {
      const claimed = { state: 'claimed', turnId: TURN_ID, claimedSeq: 2 } as const;
      await putMessages(store, [
        messageRow({ seq: 9 }),
        messageRow({ seq: 1, ...claimed }),
        messageRow({ seq: 2, state: 'done' }),
        messageRow({ seq: 3, kind: 'command' }),
        messageRow({ seq: 4, taskId: TASK_ID }),
        messageRow({ seq: 5 }),
        messageRow({ seq: 6, kind: 'generated' }),
        messageRow({ seq: 7, conversationId: idOf('conversation', 2) }),
      ]);
      const unbound = async (limit: number): Promise<number[]> => {
        const args = { conversationId: CONVERSATION_ID, limit };
        return field(await read(store, 'message.unbound', args), 'seq');
      };
      assert.deepEqual(await unbound(9), [5, 9]);
      assert.deepEqual(await unbound(1), [5]);
      const bind = { write: 'message.bind', id: idOf('message', 5), taskId: TASK_ID } as const;
      await mustPut(store, bind);
      await mustLose(store, { ...bind, taskId: idOf('task', 2) });
      await mustLose(store, { ...bind, id: idOf('message', 1) });
      await mustLose(store, { ...bind, id: idOf('message', 2) });
      await mustLose(store, { ...bind, id: idOf('message', 99) });
      const bound = { ...messageRow({ seq: 5 }), taskId: TASK_ID };
      assert.deepEqual(await read(store, 'message.byId', { id: bind.id }), bound);
      assert.deepEqual(await unbound(9), [9]);
    },
  ],
  ['claimed inputs are read on within their session, whatever others claimed between', ofSession],
  [
    'commands without an answer are found in every conversation, the oldest first',
    async ({ store }) => {
      await putMessages(store, [
        messageRow({ seq: 1, kind: 'command', at: 30 }),
        messageRow({ seq: 2, kind: 'command', at: 10, conversationId: idOf('conversation', 2) }),
        messageRow({ seq: 3, kind: 'command', at: 20, state: 'done' }),
        messageRow({ seq: 4, at: 5 }),
        messageRow({ seq: 5, kind: 'command', at: 30 }),
      ]);
      const rows = await read(store, 'message.openCommands', { limit: 9 });
      assert.deepEqual(field(rows, 'seq'), [2, 1, 5]);
      assert.equal((await read(store, 'message.openCommands', { limit: 1 })).length, 1);
    },
  ],
  [
    'the inputs of a turn are those that it claimed, in the order of the transcript',
    async ({ store }) => {
      await mustPut(store, { write: 'turn.insert', row: turnRow({ firstSeq: 10 }) });
      const of = { taskId: TASK_ID, turnId: TURN_ID } as const;
      await putMessages(store, [
        messageRow({ seq: 1, state: 'done', ...of, claimedSeq: 10 }),
        messageRow({ seq: 2, state: 'claimed', ...of, claimedSeq: 14 }),
        messageRow({ seq: 4, state: 'claimed', ...of, claimedSeq: 10 }),
        messageRow({ seq: 5, state: 'done', ...of, turnId: idOf('turn', 2), claimedSeq: 15 }),
        messageRow({ seq: 6 }),
      ]);
      const args = { conversationId: CONVERSATION_ID, turnId: TURN_ID };
      assert.deepEqual(field(await read(store, 'message.ofTurn', args), 'seq'), [1, 4, 2]);
    },
  ],
  [
    'messages of a task that are not done are found in inbox order',
    async ({ store }) => {
      await putMessages(store, [
        messageRow({ seq: 3, taskId: TASK_ID }),
        messageRow({ seq: 1, taskId: TASK_ID, state: 'claimed' }),
        messageRow({ seq: 2, taskId: TASK_ID, state: 'done' }),
        messageRow({ seq: 4, taskId: idOf('task', 2) }),
        messageRow({ seq: 5 }),
      ]);
      const args = { conversationId: CONVERSATION_ID, taskId: TASK_ID };
      assert.deepEqual(field(await read(store, 'message.openOfTask', args), 'seq'), [1, 3]);
    },
  ],
  [
    'claimed inputs are read on in the order of the transcript',
    async ({ store }) => {
      await putMessages(store, [
        messageRow({ seq: 1, state: 'done', claimedSeq: 8 }),
        messageRow({ seq: 2, state: 'claimed', claimedSeq: 5 }),
        messageRow({ seq: 3, state: 'claimed', claimedSeq: 8 }),
        messageRow({ seq: 4 }),
        messageRow({ seq: 6, state: 'done', claimedSeq: 4 }),
        messageRow({ seq: 7, state: 'done', kind: 'command' }),
      ]);
      const conversationId = CONVERSATION_ID;
      const all = await read(store, 'message.claimedAfter', { conversationId, after: 4, limit: 9 });
      assert.deepEqual(field(all, 'seq'), [2, 1, 3]);
      const one = await read(store, 'message.claimedAfter', { conversationId, after: 5, limit: 1 });
      assert.deepEqual(field(one, 'seq'), [1]);
    },
  ],
  [
    'T-10: due is a conversation without a turn that has a claimable input, the longest waiting first',
    due,
  ],
  [
    'an idempotency key is used once, and again only when the former use is old',
    async ({ store }) => {
      const row = idempotencyRow();
      const scope = row.scope;
      await mustPut(store, { write: 'idempotency.insert', row });
      await mustLose(store, { write: 'idempotency.insert', row });
      assert.deepEqual(await read(store, 'idempotency.byScope', { scope }), row);
      assert.equal(await read(store, 'idempotency.byScope', { scope: 'other' }), undefined);
      const next = idempotencyRow({ fingerprint: 'g', subjectId: 'run_2', at: 5_000 });
      await mustLose(store, { write: 'idempotency.replace', row: next, before: 1_000 });
      await mustPut(store, { write: 'idempotency.replace', row: next, before: 1_001 });
      assert.deepEqual(await read(store, 'idempotency.byScope', { scope }), next);
    },
  ],
  [
    'an outbox entry that answers a message is named by it',
    async ({ store }) => {
      await putMessages(store, [messageRow({ kind: 'command' })]);
      const id = idOf('message', 1);
      await mustPut(
        store,
        { write: 'outbox.insert', row: outboxRow({ kind: 'answer', subjectId: id }) },
        { write: 'message.done', id, answerId: outboxRow().id },
      );
      assert.deepEqual(await read(store, 'message.openCommands', { limit: 1 }), []);
    },
  ],
];

async function ofSession({ store }: Parameters<Case[1]>[0]): Promise<void> {
  const second = idOf('session', 2);
  await mustPut(
    store,
    { write: 'session.insert', row: sessionRow() },
    { write: 'session.insert', row: sessionRow({ id: second, firstSeq: 10 }) },
    { write: 'turn.insert', row: turnRow() },
    { write: 'turn.insert', row: turnRow({ id: idOf('turn', 2), sessionId: second }) },
    { write: 'turn.insert', row: turnRow({ id: idOf('turn', 3) }) },
  );
  const by = (turn: number, seq: number, claimedSeq: number): MessageRecord =>
    messageRow({ seq, claimedSeq, turnId: idOf('turn', turn), state: 'claimed' });
  await putMessages(store, [
    by(1, 1, 4),
    by(2, 2, 12),
    by(2, 3, 10),
    by(3, 4, 20),
    by(3, 5, 20),
    by(2, 6, 30),
    messageRow({ seq: 7 }),
    { ...by(2, 8, 31), kind: 'command' },
  ]);
  const of = async (sessionId: SessionId, after: number, limit = 9): Promise<number[]> => {
    const args = { conversationId: CONVERSATION_ID, sessionId, after, limit };
    return field(await read(store, 'message.ofSession', args), 'seq');
  };
  const first = idOf('session', 1);
  assert.deepEqual(await of(first, 0), [1, 4, 5]);
  assert.deepEqual(await of(first, 4), [4, 5]);
  assert.deepEqual(await of(first, 0, 2), [1, 4]);
  assert.deepEqual(await of(second, 0), [3, 2, 6]);
  assert.deepEqual(await of(second, 10), [2, 6]);
  assert.deepEqual(await of(second, 12, 1), [6]);
  assert.deepEqual(await of(second, 30), []);
  assert.deepEqual(await of(idOf('session', 3), 0), []);
}

async function due({ store }: Parameters<Case[1]>[0]): Promise<void> {
  const busy = idOf('turn', 9);
  const conversations = [null, null, busy, null, null, null];
  for (const [place, turnId] of conversations.entries()) {
    const id = idOf('conversation', place + 1);
    const row = conversationRow({ id, address: `a${place}`, turnId });
    await mustPut(store, { write: 'conversation.insert', row });
  }
  await mustPut(
    store,
    { write: 'task.insert', row: taskRow({ state: 'paused' }) },
    { write: 'task.insert', row: taskRow({ id: idOf('task', 2) }) },
  );
  const at = (conversation: number, time: number, over: Partial<MessageRecord>): MessageRecord =>
    messageRow({ conversationId: idOf('conversation', conversation), at: time, ...over });
  await putMessages(store, [
    at(1, 50, { seq: 1, taskId: TASK_ID }), // of a paused task: holds nothing back
    at(1, 60, { seq: 2 }),
    at(1, 61, { seq: 3 }),
    at(2, 40, { seq: 4, taskId: idOf('task', 2) }),
    at(3, 10, { seq: 5 }), // its conversation has a turn
    at(4, 20, { seq: 6, kind: 'command' }),
    at(5, 30, { seq: 7, state: 'claimed' }),
    at(6, 70, { seq: 8, kind: 'generated' }),
  ]);
  const ids = async (limit: number, generatedSince = 0): Promise<string[]> =>
    field(await read(store, 'inbox.due', { generatedSince, limit }), 'conversationId');
  const expected = [2, 1, 6].map((n) => idOf('conversation', n));
  assert.deepEqual(await ids(9), expected);
  assert.deepEqual(await ids(2), expected.slice(0, 2));
  assert.deepEqual(await ids(9, 70), expected);
  assert.deepEqual(await ids(9, 71), expected.slice(0, 2), 'what the host made before waits');
  // It holds nothing back either.
  await putMessages(store, [at(6, 80, { seq: 9 })]);
  assert.deepEqual(await ids(9, 71), expected);
}
