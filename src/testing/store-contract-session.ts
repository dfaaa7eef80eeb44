import assert from 'node:assert/strict';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case } from './store-case.ts';
import { dump } from './store-dump.ts';
import {
  ABOVE_ALL,
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  sessionRow,
  stepRow,
  turnRow,
} from './store-rows.ts';

const CONVERSATION = conversationRow();
const WHOLE = {
  endedAt: 9_000,
  previousId: idOf('session', 2),
  nextId: idOf('session', 3),
  cutSeq: 40,
  compactions: 2,
  seed: '{"summary":"…","conditions":[]}',
};

export const SESSION_CASES: readonly Case[] = [
  [
    'a conversation is found by its id and by its address',
    async ({ store }) => {
      const fenced = { fence: 'shut', operationId: idOf('operation', 2) } as const;
      const full = conversationRow({ turnId: idOf('turn', 3), seq: 12, token: 4, ...fenced });
      await mustPut(store, { write: 'conversation.insert', row: full });
      assert.deepEqual(await read(store, 'conversation.byId', { id: full.id }), full);
      const { channel, address } = full;
      assert.deepEqual(await read(store, 'conversation.byAddress', { channel, address }), full);
      const nobody = { channel, address: 'elsewhere' };
      assert.equal(await read(store, 'conversation.byAddress', nobody), undefined);
    },
  ],
  [
    'a second conversation with one address is a lost race',
    async ({ store }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      await mustLose(store, {
        write: 'conversation.insert',
        row: conversationRow({ id: idOf('conversation', 2) }),
      });
      await mustPut(store, {
        write: 'conversation.insert',
        row: conversationRow({ id: idOf('conversation', 2), channel: 'api' }),
      });
    },
  ],
  [
    'conversations are listed from the newest, page by page',
    async ({ store }) => {
      const rows = [1, 2, 3, 4, 5].map((n) =>
        conversationRow({ id: idOf('conversation', n), address: `a${n}` }),
      );
      for (const row of rows) await mustPut(store, { write: 'conversation.insert', row });
      const first = await read(store, 'conversation.list', { before: ABOVE_ALL, limit: 2 });
      assert.deepEqual(first, [rows[4], rows[3]]);
      const before = rows[3]?.id ?? '';
      const second = await read(store, 'conversation.list', { before, limit: 9 });
      assert.deepEqual(second, [rows[2], rows[1], rows[0]]);
    },
  ],
  [
    'V19: a conversation advances only from the number that was read',
    async ({ store }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      const advance = {
        write: 'conversation.advance',
        id: CONVERSATION.id,
        expectedSeq: 0,
        seq: 3,
        token: 2,
        turnId: idOf('turn', 1),
      } as const;
      await mustPut(store, advance);
      assert.deepEqual(await read(store, 'conversation.byId', { id: CONVERSATION.id }), {
        ...CONVERSATION,
        seq: 3,
        token: 2,
        turnId: idOf('turn', 1),
      });
      await mustLose(store, advance);
      await mustPut(store, { ...advance, expectedSeq: 3, seq: 4, turnId: null });
      const last = await read(store, 'conversation.byId', { id: CONVERSATION.id });
      assert.equal(last?.turnId, null);
    },
  ],
  [
    'a conversation takes up another session and another model, and nothing else of it changes',
    async ({ store }) => {
      const { id } = CONVERSATION;
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      const sessionId = idOf('session', 2);
      const next = { write: 'conversation.session', id, sessionId } as const;
      const chosen = { write: 'conversation.model', id, model: 'example/small' } as const;
      await mustPut(store, next, chosen);
      const changed = { ...CONVERSATION, sessionId, model: chosen.model };
      assert.deepEqual(await read(store, 'conversation.byId', { id }), changed);
      await mustPut(store, { ...chosen, model: null });
      const unset = { ...changed, model: null };
      assert.deepEqual(await read(store, 'conversation.byId', { id }), unset);
      await mustLose(store, { ...next, id: idOf('conversation', 9) });
      await mustLose(store, { ...chosen, id: idOf('conversation', 9) });
    },
  ],
  [
    'a session is found by its id, and ends once',
    async ({ store }) => {
      const row = sessionRow();
      const end = { write: 'session.end', id: row.id, endedAt: 9_000 } as const;
      await mustLose(store, end);
      await mustPut(store, { write: 'session.insert', row });
      assert.deepEqual(await read(store, 'session.byId', { id: row.id }), row);
      assert.equal(await read(store, 'session.byId', { id: idOf('session', 9) }), undefined);
      await mustPut(store, end);
      await mustLose(store, { ...end, endedAt: 9_001 });
      const ended = { ...row, endedAt: 9_000 };
      assert.deepEqual(await read(store, 'session.byId', { id: row.id }), ended);
    },
  ],
  [
    'a session is kept whole',
    async ({ store }) => {
      await mustPut(store, { write: 'session.insert', row: sessionRow(WHOLE) });
      await mustLose(store, { write: 'session.insert', row: sessionRow() });
      assert.deepEqual((await dump(store))['session'], [
        {
          id: idOf('session', 1),
          conversation_id: idOf('conversation', 1),
          first_seq: 1,
          started_at: 1_000,
          ended_at: 9_000,
          previous_id: idOf('session', 2),
          next_id: idOf('session', 3),
          cut_seq: 40,
          compactions: 2,
          seed: '{"summary":"…","conditions":[]}',
        },
      ]);
    },
  ],
  [
    'events of a conversation follow its numbers, from wherever one stopped',
    async ({ store }) => {
      const full = eventRow({
        seq: 3,
        type: 'task.moved',
        taskId: idOf('task', 1),
        turnId: idOf('turn', 1),
        runId: idOf('run', 1),
        fromState: 'active',
        toState: 'blocked',
        reason: 'interrupted',
        data: '{"why":"ü"}',
      });
      const rows = [eventRow({ seq: 1 }), eventRow({ seq: 2 }), full, eventRow({ seq: 11 })];
      for (const row of rows.toReversed()) await mustPut(store, { write: 'event.insert', row });
      const other = eventRow({ seq: 4, conversationId: idOf('conversation', 2) });
      await mustPut(store, { write: 'event.insert', row: other });
      const conversationId = CONVERSATION.id;
      const all = await read(store, 'event.after', { conversationId, after: 0, limit: 9 });
      assert.deepEqual(all, rows);
      const some = await read(store, 'event.after', { conversationId, after: 1, limit: 2 });
      assert.deepEqual(field(some, 'seq'), [2, 3]);
    },
  ],
  [
    'a number of a conversation is taken once',
    async ({ store }) => {
      await mustPut(store, { write: 'event.insert', row: eventRow() });
      await mustLose(
        store,
        { write: 'host.insert', row: hostRow() },
        { write: 'event.insert', row: eventRow({ id: idOf('event', 99) }) },
      );
      assert.deepEqual((await dump(store))['host'], []);
    },
  ],
  [
    'events of one task are found in order',
    async ({ store }) => {
      const taskId = idOf('task', 7);
      for (const [seq, of] of [null, taskId, idOf('task', 8), taskId, taskId].entries()) {
        await mustPut(store, {
          write: 'event.insert',
          row: eventRow({ seq: seq + 1, taskId: of }),
        });
      }
      const conversationId = CONVERSATION.id;
      const rows = await read(store, 'event.ofTask', { conversationId, taskId, limit: 2 });
      assert.deepEqual(field(rows, 'seq'), [2, 4]);
      const elsewhere = { conversationId: idOf('conversation', 2), taskId, limit: 2 };
      assert.deepEqual(await read(store, 'event.ofTask', elsewhere), []);
    },
  ],
  [
    'the number of an event id is found, be it an event or the start or finish of a step',
    async ({ store }) => {
      await mustPut(
        store,
        { write: 'event.insert', row: eventRow({ seq: 1 }) },
        { write: 'turn.insert', row: turnRow() },
        { write: 'step.insert', row: stepRow({ seq: 3 }) },
        {
          write: 'step.insert',
          row: stepRow({ seq: 4, finishedId: idOf('event', 6), finishedSeq: 6 }),
        },
      );
      const seqOf = async (id: string, conversation = 1): Promise<number | undefined> => {
        const conversationId = idOf('conversation', conversation);
        return (await read(store, 'event.seqOf', { conversationId, id }))?.seq;
      };
      assert.equal(await seqOf(idOf('event', 1)), 1);
      assert.equal(await seqOf(idOf('event', 3)), 3);
      assert.equal(await seqOf(idOf('event', 6)), 6);
      assert.equal(await seqOf(idOf('event', 5)), undefined);
      assert.equal(await seqOf(idOf('event', 1), 2), undefined);
    },
  ],
];
