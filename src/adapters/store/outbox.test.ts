import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ID_PREFIX, idBody } from '../../kernel/ids.ts';
import type { Ids } from '../../ports/ids.ts';
import { mustPut, read } from '../../testing/store-calls.ts';
import { OUTBOX_CASES } from '../../testing/store-contract-outbox.ts';
import { ABOVE_ALL, idOf, outboxRow } from '../../testing/store-rows.ts';
import { outboxReads } from './outbox.ts';
import { openSqlite } from './sqlite/open.ts';

let counter = 0;
const ids: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(1_000, (counter += 1))}` };
const open = () => openSqlite({ path: ':memory:', clock: { now: () => 1_000 }, ids });

for (const [title, run] of OUTBOX_CASES)
  test(title, async () => {
    const store = open();
    try {
      await run({ store });
    } finally {
      await store.close();
    }
  });

test('O-6 the entry of a transition is found by the key of that transition', async () => {
  const store = open();
  try {
    const rows = [1, 2].map((seq) => outboxRow({ seq, key: `notice:${seq}` }));
    for (const row of rows) await mustPut(store, { write: 'outbox.insert', row });
    assert.deepEqual(await read(store, 'outbox.byKey', { key: 'notice:2' }), rows[1]);
    assert.equal(await read(store, 'outbox.byKey', { key: 'notice:3' }), undefined);
    const conversationId = idOf('conversation', 1);
    const other = { conversationId: idOf('conversation', 2), after: 0, limit: 9 };
    assert.deepEqual(await read(store, 'outbox.after', other), []);
    const both = { conversationId, after: 0, limit: 9 };
    assert.equal((await read(store, 'outbox.after', both)).length, 2);
  } finally {
    await store.close();
  }
});

test('V21 what is not delivered is looked for where only that stands, and a conversation in its own', () => {
  const [ofConversation, notDelivered] = outboxReads['outbox.list'].cases;
  const args = { conversationId: '', state: '', before: ABOVE_ALL, limit: 1 };
  const states = ['', 'delivered', 'pending', 'uncertain', 'undeliverable', 'stale'];
  assert.deepEqual(
    states.filter((state) => notDelivered?.when({ ...args, state })),
    states.slice(2),
  );
  assert.equal(ofConversation?.when(args), false);
  assert.equal(ofConversation?.when({ ...args, conversationId: idOf('conversation', 1) }), true);
});
