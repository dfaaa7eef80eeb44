import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalRow, conversationRow, idOf } from '../../testing/store-rows.ts';
import { Ledger } from '../session/ledger.ts';
import { withdraw } from './close.ts';

const at = { now: 5_000, ids: { next: () => idOf('event', 1) } } as unknown as Ledger['at'];

test('E-4 what was asked of a task that has ended can no longer be answered', () => {
  const ledger = new Ledger(conversationRow({ seq: 7 }), at, 'key:anna');
  const open = [1, 2].map((n) => approvalRow({ id: idOf('approval', n), runId: idOf('run', n) }));
  withdraw(ledger, open, idOf('host', 1));
  const end = { state: 'denied', decidedBy: `host:${idOf('host', 1)}`, decidedAt: 5_000 };
  const [, ...writes] = ledger.close();
  assert.deepEqual(
    writes.filter(({ write }) => write === 'approval.decide'),
    open.map((row) => ({ write: 'approval.decide', row: { ...row, ...end } })),
  );
  const events = writes.filter(({ write }) => write === 'event.insert');
  assert.equal(events.length, 2);
  for (const [place, { id: approvalId, taskId, turnId, runId }] of open.entries())
    assert.partialDeepStrictEqual(events[place], {
      row: {
        type: 'approval.decided',
        taskId,
        turnId,
        runId,
        data: JSON.stringify({ approvalId, state: 'denied' }),
      },
    });
});

test('E-4 where nothing was asked nothing is withdrawn', () => {
  const ledger = new Ledger(conversationRow(), at, 'key:anna');
  withdraw(ledger, [], idOf('host', 1));
  assert.equal(ledger.close().length, 1);
});
