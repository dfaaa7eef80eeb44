import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  approvalRow,
  auditRow,
  conversationRow,
  eventRow,
  executionRow,
  idOf,
  messageRow,
  outboxRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { nextEntry } from '../audit/chain.ts';
import type { AuditRecord } from '../audit/record.ts';
import { WHOLE_MAX } from './field.ts';
import { ArchiveJudge, type KeyIndex, type Known, type Need } from './judge.ts';
import type { Archived } from './record.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The index of a file, in memory. */
function openIndex(): KeyIndex {
  const keys = new Map<string, Known>();
  const needs: Need[] = [];
  return {
    add(key, known) {
      const before = keys.get(key);
      if (before === undefined) keys.set(key, known);
      return before;
    },
    get: (key) => keys.get(key),
    later: (need) => void needs.push(need),
    unmet: () =>
      needs.find(({ key, home }) => {
        const found = keys.get(key);
        return found === undefined || (home !== '' && found.home !== home);
      }),
  };
}

/** The line and the problem of the first record that does not fit, or of the end. */
function judged(records: readonly Archived[]): readonly [line: number, problem: string] | 'sound' {
  const judge = new ArchiveJudge({ digest, index: openIndex() });
  for (const [at, one] of records.entries()) {
    const problem = judge.take(one, at + 2);
    if (problem !== undefined) return [at + 2, problem];
  }
  const end = judge.end();
  return end === undefined ? 'sound' : [end.line, end.problem];
}

const [HERE, THERE] = [idOf('conversation', 1), idOf('conversation', 2)];
const TASK = taskRow({ mandateHash: digest('Tell the time.') });
const STEP = stepRow();

const conversation = (over: Parameters<typeof conversationRow>[0] = {}): Archived => {
  return { kind: 'conversation', record: conversationRow({ seq: 40, token: 3, ...over }) };
};
const session = (over: Parameters<typeof sessionRow>[0] = {}): Archived => {
  return { kind: 'session', record: sessionRow(over) };
};
const task = (over: Parameters<typeof taskRow>[0] = {}): Archived => {
  return { kind: 'task', record: { ...TASK, ...over } };
};
const message = (over: Parameters<typeof messageRow>[0] = {}): Archived => {
  return { kind: 'message', record: messageRow(over) };
};
const step = (over: Parameters<typeof stepRow>[0] = {}): Archived => {
  return { kind: 'step', record: { ...STEP, ...over } };
};

/** A conversation with one task, one turn and one step of it. */
const SMALL: readonly Archived[] = [
  conversation({ turnId: idOf('turn', 1) }),
  session(),
  task(),
  { kind: 'turn', record: turnRow() },
  step(),
];
/** Another conversation, with a session. */
const OTHER: readonly Archived[] = [
  conversation({ id: THERE, address: 'there', sessionId: idOf('session', 2) }),
  session({ id: idOf('session', 2), conversationId: THERE }),
];

/** The small file with the other conversation, and these behind it in the order of kinds. */
function withOther(...more: readonly Archived[]): readonly Archived[] {
  const [first, ...rest] = SMALL;
  const [second, ...others] = OTHER;
  assert.ok(first !== undefined && second !== undefined);
  return [first, second, rest[0] ?? first, ...others, ...rest.slice(1), ...more];
}

describe('the records of a file', () => {
  test('are taken and counted when they fit', () => {
    const judge = new ArchiveJudge({ digest, index: openIndex() });
    for (const [at, one] of SMALL.entries()) assert.equal(judge.take(one, at + 2), undefined);
    assert.equal(judge.end(), undefined);
    assert.equal(judge.total, 5);
    const { conversation: first, step: last, run } = judge.counts;
    assert.deepEqual([first, last, run], [1, 1, 0]);
    assert.equal(judged(withOther()), 'sound');
  });

  test('stand in the order of their kinds', () => {
    const again = conversation({ id: THERE, address: 'there' });
    assert.deepEqual(judged([...SMALL.slice(0, 3), again]), [
      5,
      'A conversation may not stand behind a task.',
    ]);
    assert.deepEqual(judged(SMALL.slice(1, 2)), [
      2,
      `It refers to the conversation ${HERE}, which is not in the file.`,
    ]);
  });

  test('V1 O-1 have no key twice', () => {
    const twice = (one: Archived, again: object, key: string): void => {
      const copy = { kind: one.kind, record: { ...one.record, ...again } } as Archived;
      const at = SMALL.length + 2;
      const file = [...SMALL, one, copy];
      const says = `The ${one.kind} has the ${key} of line ${at}.`;
      assert.deepEqual(judged(file), [at + 1, says]);
    };
    const event: Archived = { kind: 'event', record: eventRow() };
    twice(event, { seq: 9 }, 'id');
    const outbox: Archived = { kind: 'outbox', record: outboxRow() };
    twice(outbox, { seq: 9 }, 'id');
    twice(outbox, { id: idOf('outbox', 9), seq: 9 }, 'key');
    assert.deepEqual(
      judged([
        ...SMALL.slice(0, 4),
        message(),
        message({ id: idOf('message', 2), seq: 2, externalId: 'external-1' }),
      ]),
      [7, 'The message has the channel and externalId of line 6.'],
    );
  });

  test('refer to what is in the file', () => {
    const gone = idOf('turn', 9);
    const says = `It refers to the turn ${gone}, which is not in the file.`;
    assert.deepEqual(judged([...SMALL.slice(0, 4), step({ turnId: gone })]), [6, says]);
    const ahead = conversation({ turnId: gone });
    assert.deepEqual(judged([ahead, ...SMALL.slice(1, 3)]), [2, says], 'it stands further down');
    const approval = idOf('approval', 9);
    const wait = {
      state: 'waiting',
      waitKind: 'approval',
      waitId: approval,
      waitUntil: 9,
    } as const;
    const waiting = task({ ...wait, reason: 'awaits_approval' });
    assert.deepEqual(judged([conversation(), session(), waiting]), [
      4,
      `It refers to the approval ${approval}, which is not in the file.`,
    ]);
    const answer = task({ ...wait, waitKind: 'answer', reason: 'awaits_answer' });
    assert.equal(judged([conversation(), session(), answer]), 'sound', 'it names no approval');
  });

  test('refer to what is of their own conversation', () => {
    const foreign = message({ conversationId: THERE, taskId: TASK.id });
    const says = `It refers to the task ${TASK.id}, which is of another conversation.`;
    assert.deepEqual(judged([...withOther().slice(0, 6), foreign]), [8, says]);
    const at = { conversationId: THERE, answerId: idOf('outbox', 5), state: 'done' } as const;
    const answered = [
      ...withOther().slice(0, 6),
      message({ ...at, kind: 'command' }),
      { kind: 'outbox', record: outboxRow() } as const,
    ];
    assert.deepEqual(judged(answered), [
      8,
      `It refers to the outbox ${idOf('outbox', 5)}, which is of another conversation.`,
    ]);
    const free: Archived = {
      kind: 'execution',
      record: executionRow({
        taskId: null,
        conversationId: null,
        mandateHash: null,
        endedAt: null,
      }),
    };
    assert.equal(judged([...SMALL, free]), 'sound', 'a worker of no task has none');
  });

  test('lie within their conversation', () => {
    const beyond = (name: string): string => `The ${name} lies beyond the 40 of its conversation.`;
    assert.equal(judged([...SMALL.slice(0, 4), step({ seq: 40 })]), 'sound');
    assert.deepEqual(judged([...SMALL.slice(0, 4), step({ seq: 41 })]), [6, beyond('seq')]);
    const done = { state: 'finished', finishedId: idOf('event', 9), finishedAt: 9 } as const;
    const far = step({ ...done, finishedSeq: 41 });
    assert.deepEqual(judged([...SMALL.slice(0, 4), far]), [6, beyond('finishedSeq')]);
    assert.deepEqual(judged([conversation(), session({ firstSeq: 41 })]), [3, beyond('firstSeq')]);
  });

  test('T-5 have mandates of the words whose hash they hold', () => {
    const says = 'The mandateHash of the task is not the SHA-256 of its mandateText.';
    const paid = task({ mandateText: 'Pay everybody.' });
    assert.deepEqual(judged([conversation(), session(), paid]), [4, says]);
  });

  test('are judged for themselves and with one another', () => {
    const odd = task({ endedAt: 5 });
    assert.deepEqual(judged([conversation(), session(), odd]), [
      4,
      'The task has an endedAt and has not ended.',
    ]);
    const open: Archived = { kind: 'turn', record: turnRow({ token: 4 }) };
    assert.deepEqual(judged([...SMALL.slice(0, 3), open]), [
      5,
      'The token of the turn is above the 3 of its conversation.',
    ]);
    const approval: Archived = { kind: 'approval', record: approvalRow() };
    const answered = message({
      kind: 'generated',
      channel: 'approval',
      externalId: idOf('approval', 1),
      taskId: TASK.id,
    });
    assert.deepEqual(judged([...SMALL.slice(0, 4), answered, step(), approval]), [
      8,
      'The approval is open and the message of line 6 says what was answered.',
    ]);
  });

  test('V15 use no more than can be counted', () => {
    const used = (inputTokens: number, outputTokens: number, cost: number): unknown => {
      const more = step({
        id: idOf('event', 4),
        seq: 4,
        ordinal: 2,
        callId: 'c',
        inputTokens,
        outputTokens,
        cost,
      });
      return judged([
        ...SMALL.slice(0, 4),
        step({ inputTokens: 1, outputTokens: 1, cost: 1 }),
        more,
      ]);
    };
    assert.equal(used(WHOLE_MAX - 5, 1, 1), 'sound');
    const says = 'Up to this step more tokens and money than can be counted were used.';
    assert.deepEqual(used(WHOLE_MAX - 4, 1, 1), [7, says]);
    assert.deepEqual(used(1, WHOLE_MAX - 4, 1), [7, says]);
    assert.deepEqual(used(1, 1, WHOLE_MAX - 4), [7, says]);
  });

  test('X-10 hold a whole log of admin actions', () => {
    const entries: AuditRecord[] = [];
    const { at, principal, channel, action, subjectId } = auditRow();
    for (const count of [1, 2, 3]) {
      const entry = { at, principal, channel, action, subjectId };
      const change = { before: { count: count - 1 }, after: { count } };
      entries.push(nextEntry(entries.at(-1), { ...entry, ...change }, digest));
    }
    const log = (...records: readonly (AuditRecord | undefined)[]): unknown =>
      judged([
        ...SMALL,
        ...records.flatMap((record): Archived[] => (record ? [{ kind: 'audit', record }] : [])),
      ]);
    const [first, second, third] = entries;
    const broken = (seq: number): string =>
      `The log of admin actions is broken here: this is not its entry ${seq} as it was written.`;
    assert.equal(log(first, second, third), 'sound');
    assert.deepEqual(log(second), [7, broken(1)]);
    assert.deepEqual(log(first, third), [8, broken(2)]);
    assert.ok(second !== undefined);
    assert.deepEqual(log(first, { ...second, principal: 'key:ben' }), [8, broken(2)]);
  });
});

describe('M-16 sessions of a file that go on from one another', () => {
  const [FIRST, SECOND] = [idOf('session', 1), idOf('session', 2)];
  const file = (
    first: Parameters<typeof sessionRow>[0],
    second: Parameters<typeof sessionRow>[0],
    sessionId = SECOND,
  ): readonly Archived[] => [
    conversation({ sessionId }),
    session(first),
    session({ id: SECOND, firstSeq: 5, ...second }),
  ];

  test('say so both', () => {
    const ended = { nextId: SECOND, endedAt: 5 };
    assert.equal(judged(file(ended, { previousId: FIRST })), 'sound');
    assert.deepEqual(judged(file({ endedAt: 5 }, { previousId: FIRST })), [
      4,
      `It goes on from the session ${FIRST}, which does not say so.`,
    ]);
    assert.deepEqual(judged(file(ended, {})), [
      3,
      `It goes on in the session ${SECOND}, which does not say so.`,
    ]);
  });

  test('while the conversation is still in the first, by an operation that is not over', () => {
    const before = file({ nextId: SECOND }, { previousId: FIRST }, FIRST);
    const nobody =
      'It goes on from the session that its conversation is in, and no operation goes over to it.';
    assert.deepEqual(judged(before), [4, nobody]);
    const operationId = idOf('operation', 1);
    const work = JSON.stringify({ cutSeq: 9, doneSeq: 9, summary: 'x', conditions: [] });
    const goes = { kind: 'handover', step: 'rotate', nextSessionId: SECOND, work } as const;
    const shut = conversation({ sessionId: FIRST, fence: 'shut', operationId });
    const operation: Archived = { kind: 'operation', record: operationRow(goes) };
    assert.equal(judged([shut, ...before.slice(1), operation]), 'sound');
    const done = { state: 'done', endedAt: 9, nextAttemptAt: null } as const;
    const passed = conversation({ sessionId: FIRST, fence: 'passed', operationId });
    const over: Archived = { kind: 'operation', record: operationRow({ ...goes, ...done }) };
    assert.deepEqual(judged([passed, ...before.slice(1), over]), [4, nobody]);
  });
});
