import assert from 'node:assert/strict';
import type { ApprovalRecord } from '../core/approval/record.ts';
import type { ApprovalReads } from '../ports/approval.ts';
import type { Store } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { ABOVE_ALL, approvalRow, auditRow, idOf, receiptRow } from './store-rows.ts';

type ListArgs = ApprovalReads['approval.list']['args'];

/** Approvals, the log of admin actions, and receipts. */
export const APPROVAL_CASES: readonly Case[] = [
  [
    'an approval is kept whole, and answered once',
    async ({ store }) => {
      const row = approvalRow({ runId: idOf('run', 1), kind: 'uncertain', approver: 'other' });
      await mustPut(store, { write: 'approval.insert', row });
      await mustLose(store, { write: 'approval.insert', row });
      assert.deepEqual(await read(store, 'approval.byId', { id: row.id }), row);
      assert.equal(await read(store, 'approval.byId', { id: idOf('approval', 9) }), undefined);
      const end = { state: 'approved', decidedBy: 'admin:terminal', decidedAt: 5_000 } as const;
      const touched = { ...row, ...end, shown: '{}', input: '{}', tool: 'x', expiresAt: 1 };
      await mustPut(store, { write: 'approval.decide', row: touched });
      await mustLose(store, { write: 'approval.decide', row: { ...touched, state: 'denied' } });
      await mustLose(store, {
        write: 'approval.decide',
        row: approvalRow({ id: idOf('approval', 9) }),
      });
      assert.deepEqual(await read(store, 'approval.byId', { id: row.id }), { ...row, ...end });
    },
  ],
  [
    'open approvals of a task and of a conversation come from the oldest',
    async ({ store }) => {
      await putApprovals(store);
      const ofTask = async (task: number): Promise<string[]> =>
        field(await read(store, 'approval.openOfTask', { taskId: idOf('task', task) }), 'id');
      assert.deepEqual(await ofTask(1), ids(1, 5));
      assert.deepEqual(await ofTask(2), ids(2, 4));
      assert.deepEqual(await ofTask(3), []);
      const of = async (conversation: number, limit: number): Promise<string[]> => {
        const conversationId = idOf('conversation', conversation);
        return field(await read(store, 'approval.openOf', { conversationId, limit }), 'id');
      };
      assert.deepEqual(await of(1, 9), ids(1, 2, 5));
      assert.deepEqual(await of(1, 2), ids(1, 2));
      assert.deepEqual(await of(2, 9), ids(4));
    },
  ],
  ['approvals are listed from the newest by state and conversation, page by page', lists],
  [
    'approvals come due by their expiry, the longest due first, until they are answered',
    async ({ store }) => {
      assert.equal(await read(store, 'approval.nextDue', {}), undefined);
      await putApprovals(store);
      const due = async (now: number, limit = 9): Promise<string[]> =>
        field(await read(store, 'approval.due', { now, limit }), 'id');
      assert.deepEqual(await due(49), []);
      assert.deepEqual(await due(50), ids(5));
      assert.deepEqual(await due(99), ids(5, 2, 4, 1));
      assert.deepEqual(await due(99, 2), ids(5, 2));
      assert.deepEqual(await read(store, 'approval.nextDue', {}), { at: 50 });
      const row = approvalRow({ id: idOf('approval', 5), state: 'expired', decidedAt: 50 });
      await mustPut(store, { write: 'approval.decide', row });
      assert.deepEqual(await due(99), ids(2, 4, 1));
      assert.deepEqual(await read(store, 'approval.nextDue', {}), { at: 60 });
    },
  ],
  [
    'entries of the audit log are appended, one for each number, and read on in order',
    async ({ store }) => {
      assert.equal(await read(store, 'audit.last', {}), undefined);
      const rows = [1, 2, 3].map((seq) => auditRow({ seq, previousHash: `h${seq - 1}` }));
      for (const row of rows) await mustPut(store, { write: 'audit.insert', row });
      await mustLose(store, { write: 'audit.insert', row: auditRow({ seq: 3, hash: 'other' }) });
      assert.deepEqual(await read(store, 'audit.last', {}), rows[2]);
      assert.deepEqual(await read(store, 'audit.after', { after: 0, limit: 9 }), rows);
      assert.deepEqual(await read(store, 'audit.after', { after: 1, limit: 1 }), [rows[1]]);
      assert.deepEqual(await read(store, 'audit.after', { after: 3, limit: 9 }), []);
    },
  ],
  ['of two units that append the next entry one is lost, and finds the other', chained],
  [
    'a receipt is used once and tells its first outcome',
    async ({ store }) => {
      const row = receiptRow();
      await mustPut(store, { write: 'receipt.insert', row });
      const other = receiptRow({ order: 'task.stop', outcome: '{}' });
      await mustLose(store, { write: 'receipt.insert', row: other });
      assert.deepEqual(await read(store, 'receipt.byScope', { scope: row.scope }), row);
      assert.equal(await read(store, 'receipt.byScope', { scope: 'other' }), undefined);
      await mustPut(store, { write: 'receipt.insert', row: { ...other, scope: 'key:ops rcpt-1' } });
    },
  ],
];

function ids(...numbers: number[]): string[] {
  return numbers.map((number) => idOf('approval', number));
}

async function putApprovals(store: Store): Promise<void> {
  const second = { taskId: idOf('task', 2) } as const;
  const rows: Partial<ApprovalRecord>[] = [
    { expiresAt: 80 },
    { expiresAt: 60, ...second },
    { expiresAt: 10, state: 'approved' },
    { expiresAt: 60, ...second, conversationId: idOf('conversation', 2) },
    { expiresAt: 50 },
    { expiresAt: 20, state: 'denied', conversationId: idOf('conversation', 2) },
  ];
  for (const [place, row] of rows.entries()) {
    const id = idOf('approval', place + 1);
    await mustPut(store, { write: 'approval.insert', row: approvalRow({ ...row, id }) });
  }
}

async function lists({ store }: Opened): Promise<void> {
  await putApprovals(store);
  const list = async (over: Partial<ListArgs>): Promise<string[]> => {
    const args = { state: '', conversationId: '', before: ABOVE_ALL, limit: 9, ...over };
    return field(await read(store, 'approval.list', args), 'id');
  };
  const elsewhere = idOf('conversation', 2);
  assert.deepEqual(await list({}), ids(6, 5, 4, 3, 2, 1));
  assert.deepEqual(await list({ limit: 2 }), ids(6, 5));
  assert.deepEqual(await list({ before: idOf('approval', 3) }), ids(2, 1));
  assert.deepEqual(await list({ state: 'open' }), ids(5, 4, 2, 1));
  assert.deepEqual(await list({ state: 'open', before: idOf('approval', 5), limit: 2 }), ids(4, 2));
  assert.deepEqual(await list({ state: 'denied' }), ids(6));
  assert.deepEqual(await list({ conversationId: elsewhere }), ids(6, 4));
  assert.deepEqual(await list({ conversationId: elsewhere, state: 'open' }), ids(4));
  assert.deepEqual(await list({ conversationId: elsewhere, state: 'expired' }), []);
}

async function chained({ store }: Opened): Promise<void> {
  const append = async (subjectId: string): Promise<void> => {
    const { kind } = await store.commit({
      name: 'test.append',
      reads: { last: { read: 'audit.last', args: {} } },
      decide: ({ last }) => ({
        verdict: null,
        writes: [
          {
            write: 'audit.insert',
            row: auditRow({
              seq: (last?.seq ?? 0) + 1,
              previousHash: last?.hash ?? '',
              hash: `of ${subjectId}`,
              subjectId,
            }),
          },
        ],
      }),
    });
    if (kind === 'lost') await append(subjectId);
  };
  const subjects = Array.from({ length: 8 }, (_, n) => `subject ${n}`);
  await Promise.all(subjects.map((subject) => append(subject)));
  const rows = await read(store, 'audit.after', { after: 0, limit: 9 });
  assert.deepEqual(field(rows, 'seq'), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(field(rows, 'previousHash'), ['', ...field(rows, 'hash').slice(0, -1)]);
  assert.deepEqual(field(rows, 'subjectId').toSorted(), subjects);
}
