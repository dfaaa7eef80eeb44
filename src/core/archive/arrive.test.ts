import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import {
  executionRow,
  idOf,
  messageRow,
  outboxRow,
  runRow,
  taskRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { arrive, isUnanswered } from './arrive.ts';
import type { Archived } from './record.ts';

const NOW = 1_800_000_000_000;
const FAR = NOW + 10 * LIMITS.recoveryRetryMaxMs;

describe('B-2 what an import brings', () => {
  test('loses its mark, so that the boundary judges it', () => {
    const task = taskRow({ enrollment: 'current' });
    assert.deepEqual(arrive({ kind: 'task', record: task }, NOW), {
      kind: 'task',
      record: { ...task, enrollment: 'unmarked' },
    });
    const worker = executionRow({ enrollment: 'current' });
    assert.deepEqual(arrive({ kind: 'execution', record: worker }, NOW), {
      kind: 'execution',
      record: { ...worker, enrollment: 'unmarked' },
    });
  });

  test('R-5 brings no permission to go on, and no longer wait than a provider may ask', () => {
    const arrived = (over: Parameters<typeof taskRow>[0]): unknown => {
      const { record } = arrive({ kind: 'task', record: taskRow(over) }, NOW);
      const { recoveryState, recoveryGrantedAt, recoveryNextAt } = record as typeof over & object;
      return [recoveryState, recoveryGrantedAt, recoveryNextAt];
    };
    assert.deepEqual(
      arrived({ recoveryState: 'granted', recoveryGrantedAt: 5, recoveryNextAt: 6 }),
      ['needed', null, 6],
    );
    assert.deepEqual(arrived({ recoveryState: 'followed' }), ['followed', null, null]);
    const most = NOW + LIMITS.recoveryRetryMaxMs;
    assert.deepEqual(arrived({ recoveryNextAt: FAR }), ['none', null, most]);
    assert.deepEqual(arrived({ recoveryState: 'granted', recoveryNextAt: FAR }), [
      'needed',
      null,
      most,
    ]);
  });

  test('M-10 brings no notice of another host, and keeps its counts', () => {
    const notice = { noticeId: idOf('outbox', 5), noticeAt: 9 } as const;
    const operation = operationRow({ ...notice, nextAttemptAt: FAR, failures: 3 });
    assert.deepEqual(arrive({ kind: 'operation', record: operation }, NOW), {
      kind: 'operation',
      record: {
        ...operation,
        nextAttemptAt: NOW + LIMITS.recoveryRetryMaxMs,
        noticeId: null,
        noticeAt: null,
      },
    });
    const left = operationRow({ ...notice, noticeAt: null, nextAttemptAt: null });
    assert.deepEqual(arrive({ kind: 'operation', record: left }, NOW).record, left);
  });

  test('V12 may have left from where it was, and a command was for the host of the file', () => {
    const came = (one: Archived): unknown => {
      const { record } = arrive(one, NOW);
      return record === one.record ? 'the same' : (record as { readonly state: string }).state;
    };
    assert.equal(came({ kind: 'outbox', record: outboxRow({ state: 'pending' }) }), 'uncertain');
    assert.equal(came({ kind: 'outbox', record: outboxRow({ state: 'delivered' }) }), 'the same');
    const command = messageRow({ kind: 'command' });
    assert.equal(came({ kind: 'message', record: command }), 'done');
    assert.equal(came({ kind: 'message', record: messageRow() }), 'the same');
    assert.equal(came({ kind: 'run', record: runRow() }), 'the same');
    const isOpen = (over: Parameters<typeof messageRow>[0]): boolean =>
      isUnanswered({ kind: 'message', record: messageRow({ kind: 'command', ...over }) });
    assert.equal(isOpen({}), true);
    assert.equal(isOpen({ state: 'done' }), false);
    assert.equal(isUnanswered({ kind: 'run', record: runRow() }), false);
  });
});
