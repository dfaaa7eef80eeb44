// Operations, fences and seeds that could not be as they say, or do not fit one another: a fence comes in with
// its operation and its counts, or nothing comes in.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { WHOLE_MAX } from '../../src/core/archive/field.ts';
import type { Archived, ArchiveKind, ArchiveRecords } from '../../src/core/archive/record.ts';
import { judgeAttempt } from '../../src/core/maintenance/decide.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { idOf, sessionRow } from '../../src/testing/store-rows.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { bring, fileOf, NOW, recordsIn, sqlitePlace, take } from '../support/archive.ts';
import {
  changed,
  closeTarget,
  nothingStored,
  openTarget,
  RECORDS,
  refuses,
} from '../support/import-target.ts';

before(openTarget);
after(closeTarget);

const LONG = idOf('conversation', 3);
const [OLD, NEW] = [idOf('session', 3), idOf('session', 4)];
const OPEN = idOf('operation', 2);

function placeOf(id: string): number {
  return RECORDS.findIndex(({ record }) => 'id' in record && record.id === id);
}

/** The records with these fields of these records, by their ids. */
function withFields(fields: Readonly<Record<string, object>>): readonly Archived[] {
  return RECORDS.map((one) => {
    const over = 'id' in one.record ? fields[one.record.id] : undefined;
    return over === undefined ? one : ({ ...one, record: { ...one.record, ...over } } as Archived);
  });
}

/** The records with these fields, and with another one at the end of its kind. */
function withMore(
  more: Archived,
  fields: Readonly<Record<string, object>> = {},
): readonly Archived[] {
  const records = withFields(fields);
  const at = records.findLastIndex(({ kind }) => kind === more.kind) + 1;
  return [...records.slice(0, at), more, ...records.slice(at)];
}

function recordOf<K extends ArchiveKind>(records: readonly Archived[], kind: K, id: string) {
  const found = records.find((one) => 'id' in one.record && one.record.id === id);
  assert.ok(found?.kind === kind);
  return found.record as ArchiveRecords[K];
}

const WAITS = { state: 'waiting', nextAttemptAt: 9_000 };
const BLOCKED = { state: 'blocked', nextAttemptAt: null, noticeId: null, noticeAt: null };
const EXHAUSTED = { ...BLOCKED, reason: 'exhausted' };
const RUNS = { state: 'running', nextAttemptAt: 9_000, fault: null };
const HANDOVER = {
  kind: 'handover',
  step: 'rotate',
  nextSessionId: null,
  work: workOf({ doneSeq: 45 }),
};

/** The second operation with these fields, and what is said of it. */
const ALONE: Readonly<Record<string, readonly (readonly [over: object, problem: RegExp])[]>> = {
  'a step, a state or an end that it cannot have': [
    [{ step: 'seed' }, /step of the operation does not fit its kind/],
    [{ state: 'blocked', reason: null }, /reason of the operation does not fit its state/],
    [{ reason: 'exhausted' }, /reason of the operation does not fit its state/],
    [{ endedAt: 5_000 }, /endedAt of the operation does not fit/],
    [{ state: 'done', nextAttemptAt: null }, /endedAt of the operation does not fit/],
    [{ state: 'lost' }, /state of the operation has to be one of/],
  ],
  'counters that nothing can count': [
    [{ failures: -1 }, /failures of the operation has to be a whole number/],
    [{ attempts: 2 ** 53 - 1 }, /attempts of the operation has to be a whole number/],
    [{ epoch: 0 }, /epoch of the operation has to be a whole number from 1/],
    [{ version: WHOLE_MAX + 1 }, /version of the operation has to be/],
    [{ window: 0 }, /window of the operation has to be a whole number from 1/],
    [{ failures: 3 }, /failures of the operation are more than its lifetimeFailures/],
    [{ inputTokens: WHOLE_MAX, cost: WHOLE_MAX }, /more tokens and money than can be counted/],
  ],
  'no instant at which anybody looks at it, or one too many': [
    [{ nextAttemptAt: null }, /nextAttemptAt of the operation does not say when/],
    [{ ...EXHAUSTED, nextAttemptAt: 9_000 }, /nextAttemptAt and is not tried again/],
    [{ ...RUNS, attemptAt: 8_000 }, /hostId of the operation does not fit its attemptAt/],
    [{ attemptAt: 8_000, hostId: idOf('host', 1) }, /a try that is out and is not at one/],
    [
      { ...RUNS, attemptAt: 8_000, hostId: idOf('host', 1) },
      /has a nextAttemptAt and is not tried again/,
    ],
    [
      { ...EXHAUSTED, noticeId: idOf('outbox', 50), noticeAt: 5 },
      /no notice that is still to leave/,
    ],
    [{ noticeId: null }, /no notice that is still to leave/],
  ],
  'a fault or a work that is not what it claims': [
    [{ fault: '7' }, /fault of the operation has to be the text of a JSON object/],
    [{ fault: '{"code":7,"said":""}' }, /fault of the operation is not what/],
    [{ fault: '{"code":"eio"}' }, /fault of the operation is not what/],
    [{ fault: '{"code":"","said":"","operationId":"mop_X"}' }, /fault of the operation is not/],
    [{ fault: '{"code":"","said":"","isMixed":"yes"}' }, /fault of the operation is not what/],
    [{ fault: null }, /its fault does not say why/],
    [{ ...BLOCKED, reason: 'base_too_large' }, /fault of the operation is not what/],
    [{ ...BLOCKED, reason: 'base_too_large', fault: '{"window":-1}' }, /fault of the operation/],
    ...['/approve appr_X', '/stop', '/stop all `/admit`', 7].map(
      (ends) => [tooLarge({ ends }), /fault of the operation is not what its reason has/] as const,
    ),
    [tooLarge({ operationId: 'mop_X' }), /fault of the operation is not what its reason has/],
    [{ work: '[]' }, /work of the operation has to be the text of a JSON object/],
    [{ work: workOf({ doneSeq: 46 }) }, /work of the operation is not how far/],
    [{ work: workOf({ doneSeq: undefined }) }, /work of the operation is not how far/],
    [{ work: workOf({ conditions: [{ at: -1, text: 'x' }] }) }, /work of the operation is not/],
    [{ work: workOf({ summary: { text: 'x' } }) }, /work of the operation is not how far/],
    [{ work: workOf({ cutSeq: 61 }) }, /cutSeq in the work of the operation lies beyond the 60/],
  ],
  'a session that is not the one that it is to be': [
    [{ sessionId: idOf('session', 1) }, /session .*, which is of another conversation/],
    [{ nextSessionId: NEW }, /compacts and has a nextSessionId/],
    [HANDOVER, /hands over and has no nextSessionId/],
    [{ ...HANDOVER, step: 'archive-link', work: null }, /is behind its summary and its work/],
    [{ ...HANDOVER, step: 'archive-link', work: workOf({}) }, /is behind its summary and its/],
    [
      { ...HANDOVER, nextSessionId: OLD },
      /does not say that it goes on from the session of the op/,
    ],
    [{ ...HANDOVER, nextSessionId: idOf('session', 9) }, /session .*, which is not in the file/],
    [{ ...HANDOVER, nextSessionId: idOf('session', 1) }, /session .* of another conversation/],
  ],
};

function tooLarge(over: object): object {
  const sizes = { window: 1, reserve: 1, instructions: 1, tools: 1, seed: 1, message: 1 };
  const fault = JSON.stringify({ ...sizes, ...over });
  return { ...BLOCKED, reason: 'base_too_large', fault };
}

function workOf(over: object): string {
  return JSON.stringify({ cutSeq: 45, doneSeq: 40, summary: 'x', conditions: [], ...over });
}

describe('a file is refused whole with an operation that has', () => {
  for (const [title, cases] of Object.entries(ALONE)) {
    test(title, async () => {
      const at = placeOf(OPEN);
      for (const [over, problem] of cases)
        await refuses(fileOf(changed(at, over)), { line: at + 2, problem }, JSON.stringify(over));
      await nothingStored();
    });
  }
});

function seedOf(over: object): string {
  return JSON.stringify({ summary: 'x', conditions: [], sinceSeq: 9, reported: null, ...over });
}

/** Fields by the ids of their records, whose line is named, and what is said of it. */
type Case = readonly [fields: Readonly<Record<string, object>>, at: string, problem: RegExp];

const NONE = { fence: 'none', operationId: null };
const OVER = { nextAttemptAt: null, noticeId: null, noticeAt: null, endedAt: 9_000 };

const TOGETHER: Readonly<Record<string, readonly Case[]>> = {
  'M-8: a fence without its operation, or an operation without its fence': [
    [
      { [LONG]: { fence: 'shut', operationId: null } },
      LONG,
      /fence .* does not fit its operationId/,
    ],
    [{ [LONG]: { fence: 'none' } }, LONG, /fence of the conversation does not fit/],
    [{ [LONG]: NONE }, OPEN, /is not over and its conversation does not name it/],
    [
      { [LONG]: { operationId: idOf('operation', 1) } },
      idOf('operation', 1),
      /is done and the fence/,
    ],
    [
      { [LONG]: { fence: 'passed' } },
      OPEN,
      /is waiting and the fence of its conversation is passed/,
    ],
    [{ [LONG]: { fence: 'blocked' } }, OPEN, /is waiting and the fence of its conv.* is blocked/],
    [{ [OPEN]: EXHAUSTED }, OPEN, /is blocked and the fence of its conversation is shut/],
    [{ [OPEN]: { ...OVER, state: 'done', fault: null } }, OPEN, /is done and the fence .* is shut/],
    [{ [OPEN]: { ...OVER, state: 'dropped' } }, OPEN, /is dropped and the fence .* is shut/],
    [
      {
        [idOf('conversation', 1)]: { fence: 'shut', operationId: idOf('operation', 9) },
      },
      idOf('conversation', 1),
      /operation mop_\w+, which is not in the file/,
    ],
    [
      {
        [idOf('conversation', 1)]: { fence: 'passed', operationId: idOf('operation', 1) },
      },
      idOf('conversation', 1),
      /operation mop_\w+, which is of another conversation/,
    ],
  ],
  'M-16: sessions that do not say the same of one another': [
    [{ [OLD]: { nextId: null } }, NEW, /goes on from the session .*, which does not say so/],
    [{ [NEW]: { previousId: null } }, idOf('operation', 1), /does not say that it goes on from/],
    [{ [OLD]: { nextId: idOf('session', 9) } }, OLD, /goes on in the session .*, which does not/],
    [{ [OLD]: { nextId: OLD } }, OLD, /goes on from itself/],
    [
      { [OLD]: { previousId: NEW, nextId: null, firstSeq: 40 } },
      NEW,
      /does not begin behind the one that it goes on from/,
    ],
    [{ [NEW]: { firstSeq: 1 } }, NEW, /does not begin behind the one that it goes on from/],
    [{ [NEW]: { nextId: idOf('session', 1) } }, NEW, /does not begin behind/],
  ],
  'a seed that is none, or a cut that nothing stands for': [
    [{ [NEW]: { seed: '{"summary":"x"}' } }, NEW, /seed of the session is not a summary/],
    ...[
      { conditions: ['x'] },
      { sinceSeq: -1 },
      { reported: { tokens: 1 } },
      { summary: 7 },
      { window: 0 },
    ].map(
      (over) =>
        [{ [NEW]: { seed: seedOf(over) } }, NEW, /seed of the session is not a summary/] as const,
    ),
    [{ [NEW]: { seed: seedOf({ sinceSeq: 61 }) } }, NEW, /sinceSeq in the seed .* beyond the 60/],
    [{ [NEW]: { seed: 'x' } }, NEW, /seed of the session has to be the text of a JSON object/],
    [{ [NEW]: { seed: null, cutSeq: 40 } }, NEW, /no seed and a cut or compactions/],
    [{ [NEW]: { cutSeq: 61 } }, NEW, /cutSeq lies beyond the 60 of its conversation/],
    [{ [NEW]: { cutSeq: -1 } }, NEW, /cutSeq of the session has to be a whole number/],
  ],
};

describe('a file is refused whole that has', () => {
  for (const [title, cases] of Object.entries(TOGETHER)) {
    test(title, async () => {
      for (const [fields, id, problem] of cases) {
        const file = fileOf(withFields(fields));
        await refuses(file, { line: placeOf(id) + 2, problem }, JSON.stringify(fields));
      }
      await nothingStored();
    });
  }

  test('M-8: a second open operation of one conversation', async () => {
    const over = { conversationId: LONG, sessionId: NEW, id: idOf('operation', 3) };
    const records = withMore({ kind: 'operation', record: operationRow(over) });
    const problem = /is not over and its conversation does not name it/;
    await refuses(fileOf(records), { line: placeOf(OPEN) + 3, problem });
    await nothingStored();
  });

  test('a fenced conversation with a turn', async () => {
    const [first, turn] = [idOf('conversation', 2), idOf('turn', 2)];
    const id = idOf('operation', 3);
    const operation = operationRow({ id, conversationId: first, sessionId: idOf('session', 2) });
    const records = withMore({ kind: 'operation', record: operation }).map((one) =>
      one.record === RECORDS[placeOf(first)]?.record
        ? ({ ...one, record: { ...one.record, fence: 'shut', operationId: id } } as Archived)
        : one,
    );
    assert.equal(recordOf(records, 'conversation', first).turnId, turn);
    const problem = /is not over and its conversation has a turn/;
    await refuses(fileOf(records), { line: placeOf(OPEN) + 3, problem });
    await nothingStored();
  });

  test('a name of a version that an operation has not had, or a receipt of none', async () => {
    const at = placeOf(idOf('outbox', 50));
    const key = (rest: string) => ({ key: `notice:${rest}` });
    for (const [over, problem] of [
      [key(`${OPEN}:6`), /names a version above the 5 of its operation/],
      [key(`${idOf('operation', 9)}:1`), /operation .*, which is not in the file/],
      [{ key: `kept:${OPEN}:2` }, /names an epoch above the 1 of its operation/],
    ] as const)
      await refuses(fileOf(changed(at, over)), { line: at + 2, problem });
    const receipt = RECORDS.findIndex(({ kind }) => kind === 'receipt');
    const none = { order: 'operation.admit', subjectId: idOf('operation', 9) };
    const problem = /about the operation .*, which is not in the file/;
    await refuses(fileOf(changed(receipt, none)), { line: receipt + 2, problem });
    const hostile = { ...none, subjectId: OPEN, outcome: '{"outcome":{"epoch":-1}}' };
    await refuses(fileOf(changed(receipt, hostile)), {
      line: receipt + 2,
      problem: /epoch in the outcome of the receipt has to be/,
    });
    await nothingStored();
  });
});

describe('an operation arrives', () => {
  const arrived = async (
    t: Parameters<typeof sqlitePlace>[0],
    fields: Readonly<Record<string, object>>,
  ) => {
    const place = sqlitePlace(t);
    const outcome = await bring(fileOf(withFields(fields)), place.filling);
    assert.ok(outcome.kind === 'imported', JSON.stringify(outcome));
    const there = recordsIn(await take(place));
    return { there, operation: recordOf(there, 'operation', OPEN) };
  };

  test('M-15: with its counts: five failures leave two, seven leave none', async (t) => {
    const five = await arrived(t, { [OPEN]: { failures: 5, lifetimeFailures: 12, epoch: 2 } });
    assert.equal(five.operation.failures, 5);
    assert.equal(five.operation.lifetimeFailures, 12);
    assert.equal(five.operation.epoch, 2);
    assert.equal(judgeAttempt(five.operation, NOW), 'reserve');
    for (const failures of [7, 8, WHOLE_MAX]) {
      const lost = { failures, lifetimeFailures: failures };
      for (const state of [WAITS, { ...RUNS, noticeId: null, noticeAt: null }]) {
        const { operation } = await arrived(t, { [OPEN]: { ...state, ...lost } });
        assert.equal(operation.failures, failures);
        assert.equal(judgeAttempt(operation, NOW), 'exhausted');
      }
    }
  });

  test('M-15: with the try that was out, and blocked where it was blocked', async (t) => {
    const out = { ...RUNS, nextAttemptAt: null, attemptAt: 8_000, hostId: idOf('host', 1) };
    const tried = await arrived(t, { [OPEN]: out });
    assert.deepEqual([tried.operation.attemptAt, tried.operation.hostId], [8_000, out.hostId]);
    assert.equal(tried.operation.attempts, 2);
    const blocked = { [OPEN]: { ...EXHAUSTED, version: 6 }, [LONG]: { fence: 'blocked' } };
    const { operation, there } = await arrived(t, blocked);
    assert.deepEqual(operation, recordOf(withFields(blocked), 'operation', OPEN));
    assert.equal(recordOf(there, 'conversation', LONG).fence, 'blocked');
  });

  test('with a next try within a day, and without a notice that had still to leave', async (t) => {
    const { operation, there } = await arrived(t, { [OPEN]: { nextAttemptAt: 2 * NOW } });
    assert.equal(operation.nextAttemptAt, NOW + LIMITS.recoveryRetryMaxMs);
    assert.deepEqual([operation.noticeId, operation.noticeAt], [null, null]);
    assert.equal(recordOf(there, 'outbox', idOf('outbox', 50)).state, 'uncertain');
    const told = { noticeAt: null, isTold: 'yes' };
    const left = { state: 'delivered', deliveredAt: 8_000 };
    const sent = await arrived(t, { [OPEN]: told, [idOf('outbox', 50)]: left });
    assert.equal(sent.operation.noticeId, idOf('outbox', 50));
    const gone = await arrived(t, { [idOf('outbox', 50)]: { state: 'stale' }, [OPEN]: told });
    assert.equal(recordOf(gone.there, 'outbox', idOf('outbox', 50)).state, 'stale');
  });

  test('M-18: with the sizes of what does not fit, and what ends it', async (t) => {
    for (const over of [{}, { ends: '/stop all' }, { ends: `/stop ${idOf('task', 1)}` }]) {
      const fields = { [OPEN]: tooLarge(over), [LONG]: { fence: 'blocked' } };
      const { operation } = await arrived(t, fields);
      assert.deepEqual(operation, recordOf(withFields(fields), 'operation', OPEN));
    }
  });

  test('M-16: between two sessions, before its conversation has gone over', async (t) => {
    const ids = { id: idOf('session', 5), conversationId: LONG, previousId: NEW };
    const next = sessionRow({ ...ids, firstSeq: 55 });
    const linked = { [NEW]: { nextId: next.id } };
    const goesOver = { [OPEN]: { ...HANDOVER, nextSessionId: next.id }, ...linked };
    const place = sqlitePlace(t);
    const file = fileOf(withMore({ kind: 'session', record: next }, goesOver));
    const outcome = await bring(file, place.filling);
    assert.equal(outcome.kind, 'imported', JSON.stringify(outcome));
    const without = fileOf(withMore({ kind: 'session', record: next }, linked));
    const line = placeOf(NEW) + 3;
    await refuses(without, { line, problem: /and no operation goes over to it/ });
    const gone = { kind: 'session', record: { ...next, endedAt: 9 } } as const;
    const ended = fileOf(withMore(gone, goesOver));
    await refuses(ended, { line: placeOf(OPEN) + 3, problem: /follows has ended and the op/ });
    await nothingStored();
  });

  test('M-19: done, and passed by no turn yet', async (t) => {
    const done = { ...OVER, state: 'done', fault: null, work: null };
    const { there } = await arrived(t, { [OPEN]: done, [LONG]: { fence: 'passed' } });
    const { fence, operationId } = recordOf(there, 'conversation', LONG);
    assert.deepEqual([fence, operationId], ['passed', OPEN]);
  });
});
