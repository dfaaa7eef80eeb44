import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Write } from '../../ports/store.ts';
import { conversationRow, idOf, runRow } from '../../testing/store-rows.ts';
import { Ledger } from '../session/ledger.ts';
import {
  prepareNotice,
  queueNotice,
  queueText,
  releaseNotice,
  tellRuns,
  withdrawNotice,
  type NoticeOrder,
} from './queue.ts';

const NOW = 5_000;
const HERE = idOf('conversation', 1);
const NOTICE: NoticeOrder = {
  conversationId: HERE,
  key: 'notice:task_1:5',
  level: 'blocked',
  code: 'no_progress',
  params: { request: 'count' },
  subjectId: 'task_1',
  taskId: idOf('task', 1),
  runId: idOf('run', 1),
};
const { taskId, runId, subjectId, key } = NOTICE;

/** What was written in a conversation whose last place is 7; the ids are numbered as they are taken. */
function written(act: (ledger: Ledger) => void): { readonly [K in Write['write']]?: unknown } {
  let taken = 0;
  const ids = { next: (kind: Parameters<typeof idOf>[0]) => idOf(kind, (taken += 1)) };
  const at = { now: NOW, ids } as unknown as Ledger['at'];
  const ledger = new Ledger(conversationRow({ id: HERE, seq: 7 }), at, 'key:anna');
  act(ledger);
  return Object.fromEntries(ledger.close().map((one) => [one.write, one]));
}

/** An event at the first free place. */
function eventOf(type: string, of: object, data: object): unknown {
  const nobody = { taskId: null, turnId: null, runId: null };
  const still = { fromState: null, toState: null, reason: null };
  const row = { conversationId: HERE, seq: 8, type, at: NOW, by: 'key:anna', ...nobody, ...still };
  return { write: 'event.insert', row: { ...row, ...of, data: JSON.stringify(data) } };
}

function sameEvent(write: unknown, wanted: unknown): void {
  const { row, ...rest } = write as { readonly row: { readonly id: string } };
  const { id, ...without } = row;
  assert.match(id, /^evt_/);
  assert.deepEqual({ ...rest, row: without }, wanted);
}

describe('O-1: host speech', () => {
  const id = idOf('outbox', 1);
  const entry = {
    id,
    conversationId: HERE,
    seq: 8,
    key,
    kind: 'notice',
    level: 'blocked',
    text: null,
    code: 'no_progress',
    params: '{"request":"count"}',
    subjectId,
    taskId,
    runId,
    at: NOW,
  };

  test('O-3 O-6 leaves with the transition that caused it, under the key of that', () => {
    let given: unknown;
    const done = written((ledger) => {
      given = queueNotice(ledger, NOTICE);
    });
    assert.equal(given, id);
    const row = { ...entry, state: 'delivered', deliveredAt: NOW };
    assert.deepEqual(done['outbox.insert'], { write: 'outbox.insert', row });
    const data = { outboxId: id, level: 'blocked', code: 'no_progress' };
    sameEvent(done['event.insert'], eventOf('notice.queued', { taskId, runId }, data));
  });

  test('M-10 that is prepared has not left and belongs to nobody yet', () => {
    let given: unknown;
    const done = written((ledger) => {
      given = prepareNotice(ledger, NOTICE);
    });
    assert.equal(given, id);
    const row = { ...entry, state: 'pending', deliveredAt: null };
    assert.deepEqual(done['outbox.insert'], { write: 'outbox.insert', row });
    const data = { outboxId: id, level: 'blocked', code: 'no_progress' };
    sameEvent(done['event.insert'], eventOf('notice.prepared', {}, data));
  });

  test('O-2 that is released leaves at its place from there on, with what is then known', () => {
    const params = { request: 'sum' };
    const done = written((ledger) => releaseNotice(ledger, { ...NOTICE, id, params }, []));
    const release = { write: 'outbox.release', id, seq: 8, at: NOW, params: '{"request":"sum"}' };
    assert.deepEqual(done['outbox.release'], release);
    const data = { outboxId: id, level: 'blocked', code: 'no_progress' };
    sameEvent(done['event.insert'], eventOf('notice.queued', {}, data));
  });

  test('A-2 that is released is told to each run of its conversation', () => {
    const run = runRow({ id: idOf('run', 3), taskId: idOf('task', 3) });
    const of = { taskId: run.taskId, runId: run.id };
    const told = written((ledger) => tellRuns(ledger, id, [run]));
    sameEvent(told['event.insert'], eventOf('run.told', of, { outboxId: id }));
    const released = written((ledger) => releaseNotice(ledger, { ...NOTICE, id }, [run]));
    const { row } = released['event.insert'] as { readonly row: { readonly type: string } };
    assert.equal(row.type, 'run.told');
  });

  test('M-10 that is withdrawn never leaves', () => {
    const done = written((ledger) => withdrawNotice(ledger, id));
    assert.deepEqual(done['outbox.withdraw'], { write: 'outbox.withdraw', id });
    sameEvent(done['event.insert'], eventOf('notice.withdrawn', {}, { outboxId: id }));
  });
});

describe('O-1: words', () => {
  const id = idOf('outbox', 1);
  const order = { conversationId: HERE, key, text: 'It is done.', subjectId, taskId, runId };

  for (const [kind, type, of, data] of [
    ['reply', 'reply.queued', { taskId, runId }, { outboxId: id }],
    ['answer', 'command.answered', {}, { messageId: subjectId, outboxId: id }],
  ] as const)
    test(`O-3 of kind ${kind} leave with the transition that caused them`, () => {
      let given: unknown;
      const done = written((ledger) => {
        given = queueText(ledger, { ...order, kind });
      });
      assert.equal(given, id);
      const row = { id, seq: 8, ...order, kind, level: null, code: null, params: null };
      const left = { state: 'delivered', at: NOW, deliveredAt: NOW };
      assert.deepEqual(done['outbox.insert'], { write: 'outbox.insert', row: { ...row, ...left } });
      sameEvent(done['event.insert'], eventOf(type, of, data));
    });
});
