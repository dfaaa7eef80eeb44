// Scripts of units as data, for tests that run one script on two stores. Ids come from small pools, so
// that units meet: some are valid, some are stale, some collide.
import fc from 'fast-check';
import type { ReadCall, Write } from '../../src/ports/store.ts';
import {
  ABOVE_ALL,
  approvalRow,
  auditRow,
  conversationRow,
  eventRow,
  hostRow,
  idempotencyRow,
  idOf,
  limiterRow,
  messageRow,
  outboxRow,
  receiptRow,
  runRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';

export interface ScriptedUnit {
  readonly reads: readonly ReadCall[];
  readonly writes: readonly Write[];
}

const few = fc.integer({ min: 1, max: 3 });
const two = fc.integer({ min: 1, max: 2 });
const seq = fc.integer({ min: 1, max: 12 });
const time = fc.integer({ min: 0, max: 2 ** 45 });
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one, { nil: null });
const text = fc.string({ unit: 'binary', maxLength: 12 });
const conversationId = two.map((n) => idOf('conversation', n));
const taskId = few.map((n) => idOf('task', n));
const turnId = few.map((n) => idOf('turn', n));
const hostId = two.map((n) => idOf('host', n));
const sessionId = two.map((n) => idOf('session', n));
const messageId = seq.map((n) => idOf('message', n));

/** A write with these parts, made of independent draws. */
function write<T>(
  parts: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (drawn: T) => Write,
): fc.Arbitrary<Write> {
  return fc.record(parts).map((drawn) => make(drawn as T));
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
const taskEnd = fc.constantFrom('completed', 'failed', 'stopped');
const taskWrites = [
  write(
    { id: taskId, conversationId, state: taskState, mandateText: text, dueAt: maybe(time) },
    (over) => ({ write: 'task.insert', row: taskRow(over) }),
  ),
  write(
    {
      id: taskId,
      version: few,
      state: taskState,
      sessionId,
      waitKind: fc.constantFrom('quota', 'provider'),
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
  write({ conversationId, seq, key: seq, text }, ({ key, ...over }) => ({
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

const anyWrite = fc.oneof(
  ...conversationWrites,
  ...inboxWrites,
  ...taskWrites,
  ...turnWrites,
  ...orderWrites,
);

/** Every read but those by id, with arguments that find what the scripts write. */
export function allReads(): readonly ReadCall[] {
  const limit = 5;
  const all = { before: ABOVE_ALL, limit };
  const any = { state: '', enrollment: '', conversationId: '' };
  const global: readonly ReadCall[] = [
    { read: 'conversation.list', args: all },
    { read: 'message.openCommands', args: { limit } },
    { read: 'inbox.due', args: { generatedSince: 0, limit } },
    { read: 'inbox.due', args: { generatedSince: 2 ** 44, limit } },
    { read: 'task.list', args: { ...any, ...all } },
    { read: 'task.list', args: { ...any, ...all, state: 'active' } },
    { read: 'task.list', args: { ...any, ...all, state: 'failed' } },
    { read: 'task.list', args: { ...any, before: idOf('task', 2), limit, state: 'completed' } },
    { read: 'task.open', args: { limit } },
    { read: 'task.due', args: { now: 2 ** 44, limit } },
    { read: 'task.nextDue', args: {} },
    { read: 'task.waitingFor', args: { kind: 'quota', id: 'a', limit } },
    { read: 'task.waitingFor', args: { kind: 'provider', id: 'b', limit } },
    { read: 'turn.newest', args: {} },
    { read: 'approval.list', args: { state: '', conversationId: '', ...all } },
    { read: 'approval.list', args: { state: 'open', conversationId: '', ...all } },
    { read: 'approval.openOfTask', args: { taskId: idOf('task', 1) } },
    { read: 'approval.due', args: { now: 2 ** 44, limit } },
    { read: 'approval.nextDue', args: {} },
    { read: 'limiter.byAccount', args: { account: 'a' } },
    { read: 'limiter.list', args: { limit } },
    { read: 'audit.last', args: {} },
    { read: 'audit.after', args: { after: 1, limit } },
    { read: 'receipt.byScope', args: { scope: '' } },
    {
      read: 'usage.ofRange',
      args: { from: idOf('turn', 1), to: idOf('turn', 3) },
    },
    { read: 'usage.byTask', args: { from: idOf('turn', 1), to: ABOVE_ALL, limit: 2 } },
    { read: 'task.nearest', args: { from: `task_ZZZZ${idOf('task', 2).slice(9)}`, limit } },
    { read: 'outbox.list', args: { conversationId: '', state: '', ...all } },
    { read: 'run.list', args: all },
    { read: 'host.list', args: { limit } },
    { read: 'turn.openOf', args: { hostId: idOf('host', 1), limit } },
    { read: 'turn.openElsewhere', args: { except: idOf('host', 1), deadBefore: 5_000, limit } },
    { read: 'run.ofTask', args: { taskId: idOf('task', 1) } },
  ];
  return [...global, ...[1, 2].flatMap((n) => readsOf(n))];
}

function readsOf(number: number): readonly ReadCall[] {
  const conversation = idOf('conversation', number);
  const task = idOf('task', 1);
  const session = { conversationId: conversation, sessionId: idOf('session', number) };
  const page = { conversationId: conversation, after: 2, limit: 5 };
  const of = { conversationId: conversation, taskId: task };
  const turn = { conversationId: conversation, turnId: idOf('turn', 1) };
  return [
    { read: 'conversation.byId', args: { id: conversation } },
    { read: 'conversation.byAddress', args: { channel: 'terminal', address: `a${number}` } },
    { read: 'event.after', args: page },
    { read: 'event.ofTask', args: { ...of, limit: 5 } },
    { read: 'event.seqOf', args: { conversationId: conversation, id: idOf('event', 4) } },
    {
      read: 'message.claimable',
      args: { conversationId: conversation, generatedSince: 0, limit: 5 },
    },
    {
      read: 'message.claimable',
      args: { conversationId: conversation, generatedSince: 2 ** 44, limit: 5 },
    },
    { read: 'message.ofTurn', args: turn },
    { read: 'message.openOfTask', args: of },
    { read: 'message.claimedAfter', args: page },
    { read: 'task.openOf', args: { conversationId: conversation, limit: 5 } },
    {
      read: 'task.list',
      args: {
        state: '',
        enrollment: '',
        before: ABOVE_ALL,
        limit: 2,
        conversationId: conversation,
      },
    },
    { read: 'turn.ofConversation', args: { conversationId: conversation } },
    { read: 'step.lastOf', args: turn },
    { read: 'step.open', args: { conversationId: conversation } },
    { read: 'step.after', args: page },
    { read: 'step.before', args: { ...session, before: 9, limit: 5 } },
    { read: 'message.ofSession', args: { ...session, after: 2, limit: 5 } },
    { read: 'message.unbound', args: { conversationId: conversation, limit: 5 } },
    { read: 'session.byId', args: { id: session.sessionId } },
    { read: 'approval.openOf', args: { conversationId: conversation, limit: 5 } },
    {
      read: 'approval.list',
      args: { state: 'denied', before: ABOVE_ALL, limit: 5, conversationId: conversation },
    },
    { read: 'step.ofTask', args: { ...of, limit: 5 } },
    { read: 'step.usageOf', args: of },
    { read: 'outbox.after', args: page },
    {
      read: 'outbox.list',
      args: { state: '', before: ABOVE_ALL, limit: 5, conversationId: conversation },
    },
  ];
}

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
