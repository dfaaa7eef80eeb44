import assert from 'node:assert/strict';
import type { OutboxReads } from '../ports/outbox.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case } from './store-case.ts';
import { ABOVE_ALL, idOf, outboxRow } from './store-rows.ts';

type ListArgs = OutboxReads['outbox.list']['args'];

export const OUTBOX_CASES: readonly Case[] = [
  [
    'O-1: an outbox entry is kept whole, and its key is used once',
    async ({ store }) => {
      const full = outboxRow({
        kind: 'notice',
        level: 'blocked',
        code: 'model_refused',
        params: '{"id":"task_1"}',
        text: null,
        subjectId: 'task_1',
        runId: idOf('run', 1),
        state: 'delivered',
        deliveredAt: 3_500,
      });
      await mustPut(store, { write: 'outbox.insert', row: full });
      assert.deepEqual(await read(store, 'outbox.byId', { id: full.id }), full);
      assert.equal(await read(store, 'outbox.byId', { id: idOf('outbox', 9) }), undefined);
      const again = outboxRow({ seq: 6, key: full.key });
      await mustLose(store, { write: 'outbox.insert', row: again });
    },
  ],
  [
    'O-2: entries of a conversation are read on in their order',
    async ({ store }) => {
      for (const seq of [7, 5, 11]) {
        await mustPut(store, { write: 'outbox.insert', row: outboxRow({ seq }) });
      }
      const conversationId = idOf('conversation', 1);
      const all = await read(store, 'outbox.after', { conversationId, after: 0, limit: 9 });
      assert.deepEqual(field(all, 'seq'), [5, 7, 11]);
      const some = await read(store, 'outbox.after', { conversationId, after: 5, limit: 1 });
      assert.deepEqual(field(some, 'seq'), [7]);
    },
  ],
  [
    'entries are listed from the newest by conversation and state, page by page',
    async ({ store }) => {
      const other = idOf('conversation', 2);
      const rows = [
        outboxRow({ seq: 1 }),
        outboxRow({ seq: 2, state: 'delivered' }),
        outboxRow({ seq: 3, conversationId: other }),
        outboxRow({ seq: 4, state: 'delivered' }),
        outboxRow({ seq: 5, state: 'uncertain' }),
        outboxRow({ seq: 6, state: 'uncertain', conversationId: other }),
      ];
      for (const row of rows) await mustPut(store, { write: 'outbox.insert', row });
      const list = async (over: Partial<ListArgs>): Promise<number[]> => {
        const args = { conversationId: '', state: '', before: ABOVE_ALL, limit: 9, ...over };
        return field(await read(store, 'outbox.list', args), 'seq');
      };
      assert.deepEqual(await list({}), [6, 5, 4, 3, 2, 1]);
      assert.deepEqual(await list({ limit: 1 }), [6]);
      assert.deepEqual(await list({ before: idOf('outbox', 3) }), [2, 1]);
      assert.deepEqual(await list({ state: 'delivered' }), [4, 2]);
      assert.deepEqual(await list({ state: 'uncertain' }), [6, 5]);
      assert.deepEqual(await list({ state: 'uncertain', limit: 1 }), [6]);
      assert.deepEqual(await list({ state: 'uncertain', before: idOf('outbox', 6) }), [5]);
      assert.deepEqual(await list({ state: 'pending' }), [3, 1]);
      assert.deepEqual(await list({ state: 'stale' }), []);
      assert.deepEqual(await list({ conversationId: other }), [6, 3]);
      assert.deepEqual(await list({ conversationId: other, state: 'delivered' }), []);
    },
  ],
];
