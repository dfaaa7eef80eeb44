import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IdKind } from '../../kernel/ids.ts';
import {
  approvalRow,
  conversationRow,
  eventRow,
  executionRow,
  idOf,
  messageRow,
  outboxRow,
  receiptRow,
  runRow,
  sessionRow,
  stepRow,
  turnRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { readLine } from './line.ts';
import { EXPORT_VERSION } from './record.ts';

const ROWS = {
  conversation: conversationRow(),
  session: sessionRow(),
  operation: operationRow(),
  run: runRow(),
  turn: turnRow(),
  message: messageRow(),
  step: stepRow(),
  event: eventRow(),
  approval: approvalRow(),
  outbox: outboxRow(),
  execution: executionRow(),
  receipt: receiptRow(),
};
type Kind = keyof typeof ROWS;

/** What is wrong with a record of this kind that holds this besides; undefined when it is taken. */
function problemWith(kind: Kind, over: object): string | undefined {
  const line = JSON.stringify({ kind, record: { ...ROWS[kind], ...over } });
  const read = readLine(line, EXPORT_VERSION);
  return 'problem' in read ? read.problem : undefined;
}

const ENDS = ['answered', 'waited', 'continued', 'parked', 'yielded', 'blocked', 'failed'] as const;

const WORDS: readonly (readonly [kind: Kind, field: string, words: readonly string[]])[] = [
  ['conversation', 'fence', ['none', 'shut', 'blocked', 'passed']],
  ['operation', 'kind', ['compact', 'handover']],
  ['operation', 'isTold', ['yes', 'no']],
  ['turn', 'end', [...ENDS, 'invalid', 'stopped', 'interrupted']],
  ['message', 'kind', ['genuine', 'generated', 'command']],
  ['message', 'state', ['unclaimed', 'claimed', 'done', 'held']],
  ['step', 'kind', ['model', 'tool']],
  ['approval', 'kind', ['call', 'uncertain']],
  ['approval', 'approver', ['any', 'other']],
  ['outbox', 'kind', ['reply', 'notice', 'answer']],
  ['outbox', 'level', ['info', 'waiting', 'blocked', 'escalation']],
];

const IDS: readonly (readonly [kind: Kind, field: string, of: IdKind, orNull: boolean])[] = [
  ['session', 'previousId', 'session', true],
  ['session', 'nextId', 'session', true],
  ['run', 'id', 'run', false],
  ['run', 'conversationId', 'conversation', false],
  ['run', 'taskId', 'task', false],
  ['run', 'outcomeId', 'outbox', true],
  ['turn', 'id', 'turn', false],
  ['turn', 'runId', 'run', true],
  ['turn', 'hostId', 'host', false],
  ['message', 'id', 'message', false],
  ['message', 'runId', 'run', true],
  ['message', 'turnId', 'turn', true],
  ['step', 'id', 'event', false],
  ['step', 'runId', 'run', true],
  ['step', 'finishedId', 'event', true],
  ['event', 'id', 'event', false],
  ['event', 'taskId', 'task', true],
  ['event', 'turnId', 'turn', true],
  ['event', 'runId', 'run', true],
  ['approval', 'id', 'approval', false],
  ['approval', 'stepId', 'event', false],
  ['approval', 'runId', 'run', true],
  ['outbox', 'id', 'outbox', false],
  ['outbox', 'taskId', 'task', true],
  ['outbox', 'runId', 'run', true],
  ['execution', 'id', 'execution', false],
  ['execution', 'conversationId', 'conversation', true],
  ['execution', 'taskId', 'task', true],
  ['execution', 'hostId', 'host', true],
];

const NEVER_NULL: readonly (readonly [kind: Kind, fields: readonly string[]])[] = [
  ['session', ['firstSeq', 'startedAt', 'cutSeq', 'conversationId']],
  ['operation', ['state', 'kind', 'isTold']],
  ['message', ['bodyHash', 'channel', 'text', 'principal', 'kind']],
  ['event', ['type']],
  ['approval', ['shown', 'expiresAt', 'tool']],
  ['outbox', ['key']],
  ['receipt', ['scope', 'order', 'subjectId', 'outcome', 'at']],
];

describe('the shape of a record of an export', () => {
  for (const kind of Object.keys(ROWS) as Kind[])
    test(`takes a plain ${kind}`, () => assert.equal(problemWith(kind, {}), undefined));

  for (const [kind, field, words] of WORDS)
    test(`takes these words as ${field} of a ${kind} and no others`, () => {
      for (const word of words) assert.equal(problemWith(kind, { [field]: word }), undefined, word);
      for (const word of ['', 'other word']) assert.ok(problemWith(kind, { [field]: word }));
    });

  for (const [kind, field, of, orNull] of IDS)
    test(`takes the id of a ${of} as ${field} of a ${kind}, and of nothing else`, () => {
      assert.equal(problemWith(kind, { [field]: idOf(of, 3) }), undefined);
      assert.ok(problemWith(kind, { [field]: idOf('receipt', 3) }));
      assert.ok(problemWith(kind, { [field]: 'anything' }));
      assert.equal(problemWith(kind, { [field]: null }) === undefined, orNull);
    });

  for (const [kind, fields] of NEVER_NULL)
    test(`is never without what a ${kind} always has`, () => {
      for (const field of fields) assert.ok(problemWith(kind, { [field]: null }), field);
    });
});
