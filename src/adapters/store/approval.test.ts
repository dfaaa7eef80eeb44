import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_PREFIX, idBody } from '../../kernel/ids.ts';
import type { Ids } from '../../ports/ids.ts';
import { field, mustPut, read } from '../../testing/store-calls.ts';
import { APPROVAL_CASES } from '../../testing/store-contract-approval.ts';
import { ABOVE_ALL, approvalRow, idOf, taskRow } from '../../testing/store-rows.ts';
import { approvalReads } from './approval.ts';
import { openSqlite } from './sqlite/open.ts';

let counter = 0;
const ids: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(1_000, (counter += 1))}` };

type Opened = ReturnType<typeof openSqlite>;

async function within(run: (store: Opened) => Promise<void>): Promise<void> {
  const store = openSqlite({ path: ':memory:', clock: { now: () => 1_000 }, ids });
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

describe('E-4: approvals of the store', () => {
  for (const [title, run] of APPROVAL_CASES) test(title, () => within((store) => run({ store })));
});

test('B-4 what the boundary holds comes due in nothing', () =>
  within(async (store) => {
    const held = taskRow({ enrollment: 'held-legacy' });
    await mustPut(store, { write: 'task.insert', row: held });
    const row = approvalRow({ taskId: held.id, expiresAt: 50 });
    await mustPut(store, { write: 'approval.insert', row });
    assert.deepEqual(await read(store, 'approval.due', { now: 99, limit: 9 }), []);
    assert.equal(await read(store, 'approval.nextDue', {}), undefined);
    const task = taskRow({ id: idOf('task', 2), conversationId: idOf('conversation', 2) });
    await mustPut(store, { write: 'task.insert', row: task });
    const other = approvalRow({ id: idOf('approval', 2), taskId: task.id, expiresAt: 60 });
    await mustPut(store, { write: 'approval.insert', row: other });
    const due = await read(store, 'approval.due', { now: 99, limit: 9 });
    assert.deepEqual(field(due, 'id'), [other.id]);
    assert.deepEqual(await read(store, 'approval.nextDue', {}), { at: 60 });
  }));

test('V21 open approvals are looked for where only they stand, a conversation in its own', () => {
  const [ofConversation, open] = approvalReads['approval.list'].cases;
  const args = { conversationId: '', state: '', before: ABOVE_ALL, limit: 1 };
  const states = ['', 'open', 'approved', 'denied', 'expired'];
  assert.deepEqual(
    states.filter((state) => open?.when({ ...args, state })),
    ['open'],
  );
  assert.equal(ofConversation?.when(args), false);
  assert.equal(ofConversation?.when({ ...args, conversationId: idOf('conversation', 1) }), true);
});
