// Scripts of units as data, for tests that run one script on two stores. Ids come from small pools, so
// that units meet: some are valid, some are stale, some collide.
import fc from 'fast-check';
import type { ReadCall, Write } from '../../src/ports/store.ts';
import {
  approvalRow,
  auditRow,
  boundaryRow,
  conversationRow,
  eventRow,
  executionRow,
  hostRow,
  idempotencyRow,
  idOf,
  limiterRow,
  messageRow,
  outboxRow,
  receiptRow,
  reportRow,
  runRow,
  sessionRow,
  stepRow,
  stormRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { allReads } from './store-reads.ts';
import { maintenanceWrites } from './store-script-maintenance.ts';
import {
  conversationId,
  few,
  hostId,
  maybe,
  messageId,
  seq,
  sessionId,
  taskId,
  text,
  time,
  turnId,
  two,
  write,
} from './store-script-parts.ts';

export interface ScriptedUnit {
  readonly reads: readonly ReadCall[];
  readonly writes: readonly Write[];
}

const conversationWrites = [
  write(
    { n: two, address: two, channel: fc.constantFrom('api', 'terminal') },
    ({ n, address, channel }) => ({
      write: 'conversation.insert',
      row: conversationRow({ id: idOf('conversation', n), address: `a${address}`, channel }),
    }),
  ),
  write(
    { id: conversationId, from: fc.integer({ min: 0, max: 3 }), by: two, turn: maybe(turnId) },
    ({ id, from, by, turn }) => ({
      write: 'conversation.advance',
      id,
      expectedSeq: from,
      seq: from + by,
      token: from,
      turnId: turn,
    }),
  ),
  write({ n: few, conversationId, firstSeq: seq, endedAt: maybe(time) }, ({ n, ...over }) => ({
    write: 'session.insert',
    row: sessionRow({ id: idOf('session', n), ...over }),
  })),
  write({ id: sessionId, endedAt: time }, (call) => ({ write: 'session.end', ...call })),
  write({ id: conversationId, sessionId }, (call) => ({ write: 'conversation.session', ...call })),
  write({ id: conversationId, model: maybe(text) }, (call) => ({
    write: 'conversation.model',
    ...call,
  })),
  write({ conversationId, seq, taskId: maybe(taskId), data: maybe(text), at: time }, (over) => ({
    write: 'event.insert',
    row: eventRow(over),
  })),
];

const inboxWrites = [
  write(
    {
      conversationId,
      seq,
      kind: fc.constantFrom('genuine', 'generated', 'command'),
      taskId: maybe(taskId),
      text,
      at: time,
      externalId: seq.map((n) => `external-${n}`),
    },
    (over) => ({ write: 'message.insert', row: messageRow(over) }),
  ),
  write({ id: messageId, taskId, turnId, claimedSeq: seq }, (call) => ({
    write: 'message.claim',
    ...call,
  })),
  write({ id: messageId, answerId: maybe(seq) }, ({ id, answerId }) => ({
    write: 'message.done',
    id,
    answerId: answerId === null ? null : idOf('outbox', answerId),
  })),
  write({ id: messageId, taskId }, (call) => ({ write: 'message.bind', ...call })),
  write({ id: messageId }, (call) => ({ write: 'message.hold', ...call })),
  write({ scope: text, order: text, outcome: text, at: time }, (over) => ({
    write: 'receipt.insert',
    row: receiptRow(over),
  })),
  write({ scope: text, at: time }, (over) => ({
    write: 'idempotency.insert',
    row: idempotencyRow(over),
  })),
  write({ scope: text, at: time, before: time }, ({ before, ...over }) => ({
    write: 'idempotency.replace',
    row: idempotencyRow(over),
    before,
  })),
];

const taskState = fc.constantFrom('active', 'waiting', 'blocked');
const taskEnd = fc.constantFrom('completed', 'failed', 'expired');
const enrollment = fc.constantFrom('current', 'unmarked', 'held-legacy');
const taskWrites = [
  write(
    {
      id: taskId,
      conversationId,
      enrollment,
      state: taskState,
      mandateText: text,
      dueAt: maybe(time),
    },
    (over) => ({ write: 'task.insert', row: taskRow(over) }),
  ),
  write(
    {
      id: taskId,
      version: few,
      state: taskState,
      sessionId,
      enrollment,
      waitKind: fc.constantFrom('quota', 'provider', 'assessment', null),
      reason: fc.constantFrom('interrupted', null),
      deadline: maybe(time),
      orderAt: maybe(time),
      recoveryState: fc.constantFrom('none', 'needed', 'granted'),
      recoveryNextAt: maybe(time),
      recoveryAttempts: few,
      recoveryOutcome: fc.constantFrom('reserved', 'continue', null),
      recoveryGrantedAt: maybe(time),
      waitId: fc.constantFrom('a', 'b', null),
      waitQuestion: maybe(text),
      dueAt: maybe(time),
      checkpoint: maybe(text),
      quotaWaits: few,
      changedAt: time,
    },
    (over) => ({
      write: 'task.save',
      row: taskRow({ ...over, version: over.version + 1, mandateText: 'never saved' }),
    }),
  ),
  write({ id: taskId, version: few, state: taskEnd, endedAt: time }, (over) => ({
    write: 'task.save',
    row: taskRow({ ...over, version: over.version + 1 }),
  })),
  write({ n: few, taskId, conversationId }, ({ n, ...over }) => ({
    write: 'run.insert',
    row: runRow({ id: idOf('run', n), ...over }),
  })),
  write(
    { n: few, state: fc.constantFrom('completed', 'failed'), endedAt: time },
    ({ n, ...end }) => ({
      write: 'run.end',
      id: idOf('run', n),
      outcomeCode: null,
      outcomeId: null,
      ...end,
    }),
  ),
];

const outboxState = fc.constantFrom('pending', 'uncertain', 'delivered');
const turnWrites = [
  write(
    {
      id: turnId,
      conversationId,
      sessionId,
      taskId,
      hostId,
      authority: fc.constantFrom('admin', 'own'),
      firstSeq: seq,
      startedAt: time,
    },
    (over) => ({ write: 'turn.insert', row: turnRow(over) }),
  ),
  write({ id: turnId }, ({ id }) => ({ write: 'turn.stopping', id })),
  write({ id: turnId, endedAt: time }, (call) => ({ write: 'turn.end', end: 'stopped', ...call })),
  write(
    {
      conversationId,
      seq,
      turnId,
      taskId,
      kind: fc.constantFrom('model', 'tool'),
      model: fc.constantFrom(null, 'big', 'small'),
      inputTokens: maybe(time),
      input: maybe(text),
    },
    (over) => ({ write: 'step.insert', row: stepRow(over) }),
  ),
  write({ turnId, seq: fc.constantFrom(3, 5, 7), tries: few }, (call) => ({
    write: 'step.retry',
    ...call,
  })),
  write({ conversationId, seq, output: text, cost: maybe(time) }, (over) => ({
    write: 'step.finish',
    row: stepRow({ ...over, state: 'finished', finishedSeq: over.seq + 2, finishedId: 'evt_f' }),
  })),
  write({ conversationId, seq, state: outboxState, key: seq, text }, ({ key, ...over }) => ({
    write: 'outbox.insert',
    row: outboxRow({ ...over, key: `key:${key}` }),
  })),
  write({ id: hostId, aliveUntil: time }, (over) => ({ write: 'host.insert', row: hostRow(over) })),
  write({ id: hostId, aliveUntil: time }, (call) => ({ write: 'host.renew', ...call })),
  write({ id: hostId, stoppedAt: time, end: fc.constantFrom('clean', 'lost') }, (call) => ({
    write: 'host.stop',
    ...call,
  })),
];

const approvalState = fc.constantFrom('approved', 'denied', 'expired');
const account = fc.constantFrom('a', 'b');
const orderWrites = [
  write({ n: few, conversationId, taskId, shown: text, expiresAt: time }, ({ n, ...over }) => ({
    write: 'approval.insert',
    row: approvalRow({ id: idOf('approval', n), ...over }),
  })),
  write({ n: few, state: approvalState, decidedAt: time }, ({ n, ...over }) => ({
    write: 'approval.decide',
    row: approvalRow({ id: idOf('approval', n), decidedBy: 'host', ...over }),
  })),
  write({ account, until: maybe(time) }, (over) => ({
    write: 'limiter.insert',
    row: limiterRow(over),
  })),
  write({ account, version: few, code: maybe(text), probeUntil: maybe(time) }, (over) => ({
    write: 'limiter.save',
    row: limiterRow({ ...over, version: over.version + 1 }),
  })),
  write({ seq: few, after: text }, (over) => ({ write: 'audit.insert', row: auditRow(over) })),
];

const executionState = fc.constantFrom('ready', 'running', 'completed');
const recoveryWrites = [
  write(
    { n: few, taskId: maybe(taskId), enrollment, state: executionState, hostId: maybe(hostId) },
    ({ n, ...over }) => ({
      write: 'execution.insert',
      row: executionRow({ id: idOf('execution', n), ...over }),
    }),
  ),
  write(
    { n: few, version: few, enrollment, state: executionState, changedAt: time },
    ({ n, version, ...over }) => ({
      write: 'execution.save',
      row: executionRow({
        id: idOf('execution', n),
        version: version + 1,
        endedAt: over.state === 'completed' ? over.changedAt : null,
        ...over,
      }),
    }),
  ),
  write({ n: two, startedAt: time }, ({ n, ...over }) => ({
    write: 'boundary.insert',
    row: boundaryRow({ id: idOf('boundary', n), ...over }),
  })),
  write({ n: two, held: seq, kept: seq, workersHeld: seq }, ({ n, ...counts }) => ({
    write: 'boundary.add',
    id: idOf('boundary', n),
    ...counts,
  })),
  write({ n: two, endedAt: time }, ({ n, endedAt }) => ({
    write: 'boundary.end',
    id: idOf('boundary', n),
    endedAt,
  })),
  write({ n: two, toldAt: time }, ({ n, toldAt }) => ({
    write: 'boundary.told',
    id: idOf('boundary', n),
    toldAt,
  })),
  write({ n: two, since: time }, ({ n, ...over }) => ({
    write: 'storm.insert',
    row: stormRow({ id: idOf('storm', n), ...over }),
  })),
  write({ n: two, lastAt: time }, ({ n, ...call }) => ({
    write: 'storm.seen',
    id: idOf('storm', n),
    ...call,
  })),
  write({ n: two, endedAt: time, endedBy: text }, ({ n, ...call }) => ({
    write: 'storm.end',
    id: idOf('storm', n),
    ...call,
  })),
  write({ n: few, at: time }, ({ n, ...over }) => ({
    write: 'report.insert',
    row: reportRow({ id: idOf('report', n), ...over }),
  })),
  write(
    { conversationId, seq, taskId, at: time, type: fc.constantFrom('task.held', 'task.enrolled') },
    (over) => ({ write: 'event.insert', row: eventRow(over) }),
  ),
];

const anyWrite = fc.oneof(
  ...conversationWrites,
  ...inboxWrites,
  ...taskWrites,
  ...turnWrites,
  ...orderWrites,
  ...recoveryWrites,
  ...maintenanceWrites,
);

/** What most scripts start from, so that guards find something to agree with. */
const GROWN: ScriptedUnit = {
  reads: [],
  writes: [
    { write: 'host.insert', row: hostRow() },
    { write: 'conversation.insert', row: conversationRow({ address: 'a1' }) },
    { write: 'task.insert', row: taskRow() },
    { write: 'task.insert', row: taskRow({ id: idOf('task', 2), state: 'waiting' }) },
    { write: 'turn.insert', row: turnRow({ firstSeq: 2 }) },
    { write: 'run.insert', row: runRow() },
    { write: 'session.insert', row: sessionRow() },
    { write: 'approval.insert', row: approvalRow() },
    { write: 'limiter.insert', row: limiterRow({ account: 'a' }) },
    { write: 'execution.insert', row: executionRow() },
    { write: 'boundary.insert', row: boundaryRow() },
    { write: 'storm.insert', row: stormRow() },
    { write: 'operation.insert', row: operationRow() },
    { write: 'outbox.insert', row: outboxRow() },
    { write: 'task.insert', row: taskRow({ id: idOf('task', 3), enrollment: 'unmarked' }) },
    ...[1, 2, 3].map((n): Write => ({ write: 'message.insert', row: messageRow({ seq: n }) })),
    ...[3, 5, 7].map((n): Write => ({ write: 'step.insert', row: stepRow({ seq: n }) })),
    ...[1, 2, 4].map((n): Write => ({ write: 'event.insert', row: eventRow({ seq: n }) })),
  ],
};

const drawn = fc.array(
  fc.record({
    reads: fc.array(fc.constantFrom(...allReads()), { maxLength: 2 }),
    writes: fc.array(anyWrite, { minLength: 1, maxLength: 2 }),
  }),
  { minLength: 4, maxLength: 12 },
);

/** Scripts of up to thirteen units. */
export const scripts: fc.Arbitrary<readonly ScriptedUnit[]> = fc
  .tuple(fc.integer({ min: 0, max: 3 }), drawn)
  .map(([start, units]) => (start === 0 ? units : [GROWN, ...units]));
