// Whole records with plain values, for tests that care about a few of them.
import type { ApprovalRecord } from '../core/approval/record.ts';
import type { AuditRecord } from '../core/audit/record.ts';
import type { BoundaryRecord } from '../core/boundary/record.ts';
import type { LimiterRecord } from '../core/budget/record.ts';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { IdempotencyRecord, MessageRecord, ReceiptRecord } from '../core/inbox/record.ts';
import type { HostRecord } from '../core/lease/record.ts';
import type { OutboxRecord } from '../core/outbox/record.ts';
import type { ReportRecord, StormRecord } from '../core/recovery/record.ts';
import type { RunRecord } from '../core/run/record.ts';
import type { ConversationRecord, EventRecord, SessionRecord } from '../core/session/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../core/turn/record.ts';
import { ID_PREFIX, idBody, type Id, type IdKind } from '../kernel/ids.ts';

/** The id of a kind with this number: equal numbers give equal ids, and they sort by number. */
export function idOf<K extends IdKind>(kind: K, number: number): Id<K> {
  return `${ID_PREFIX[kind]}${idBody(1_000_000, number)}`;
}

/** A text above every id, to list from the newest. */
export const ABOVE_ALL = '~';

export function hostRow(over: Partial<HostRecord> = {}): HostRecord {
  return {
    id: idOf('host', 1),
    pid: 4711,
    startedAt: 1_000,
    aliveUntil: 16_000,
    stoppedAt: null,
    end: null,
    ...over,
  };
}

export function conversationRow(over: Partial<ConversationRecord> = {}): ConversationRecord {
  return {
    id: idOf('conversation', 1),
    agent: 'main',
    channel: 'terminal',
    address: 'home',
    sessionId: idOf('session', 1),
    model: null,
    seq: 0,
    token: 0,
    turnId: null,
    createdAt: 1_000,
    fence: 'none',
    operationId: null,
    ...over,
  };
}

export function sessionRow(over: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: idOf('session', 1),
    conversationId: idOf('conversation', 1),
    firstSeq: 1,
    startedAt: 1_000,
    endedAt: null,
    previousId: null,
    nextId: null,
    cutSeq: 0,
    compactions: 0,
    seed: null,
    ...over,
  };
}

export function messageRow(over: Partial<MessageRecord> = {}): MessageRecord {
  const seq = over.seq ?? 1;
  return {
    id: idOf('message', seq),
    conversationId: idOf('conversation', 1),
    seq,
    channel: 'terminal',
    externalId: `external-${seq}`,
    kind: 'genuine',
    principal: 'admin:terminal',
    authority: 'admin',
    text: 'Wie spät ist es? 🕰',
    bodyHash: 'b'.repeat(64),
    replyTo: null,
    state: 'unclaimed',
    taskId: null,
    runId: null,
    turnId: null,
    claimedSeq: null,
    answerId: null,
    at: 1_000 + seq,
    ...over,
  };
}

export function idempotencyRow(over: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    scope: 'key:ops key-1',
    fingerprint: 'f'.repeat(64),
    subjectId: idOf('message', 1),
    at: 1_000,
    ...over,
  };
}

export function taskRow(over: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: idOf('task', 1),
    conversationId: idOf('conversation', 1),
    sessionId: idOf('session', 1),
    agent: 'main',
    enrollment: 'current',
    state: 'active',
    reason: null,
    version: 1,
    mandateText: 'Tell the time.',
    mandatePrincipal: 'admin:terminal',
    mandateAuthority: 'admin',
    mandateOrigin: 'terminal',
    mandateAt: 1_000,
    mandateHash: 'a'.repeat(64),
    waitKind: null,
    waitId: null,
    waitUntil: null,
    waitQuestion: null,
    deadline: 9_000_000,
    dueAt: null,
    checkpoint: null,
    turnsLimit: 50,
    turnsUsed: 0,
    tokensLimit: 2_000_000,
    tokensUsed: 0,
    costLimit: 20_000_000,
    costUsed: 0,
    continuationsLimit: 20,
    continuationsUsed: 0,
    correctionsUsed: 0,
    quotaWaits: 0,
    orderAt: null,
    recoveryState: 'none',
    recoveryEpoch: 0,
    recoveryAttempts: 0,
    recoveryLifetimeAttempts: 0,
    recoveryNextAt: null,
    recoveryOutcome: null,
    recoveryGrantedAt: null,
    createdAt: 1_000,
    changedAt: 1_000,
    endedAt: null,
    outcomeData: null,
    ...over,
  };
}

export function turnRow(over: Partial<TurnRecord> = {}): TurnRecord {
  return {
    id: idOf('turn', 1),
    conversationId: idOf('conversation', 1),
    sessionId: idOf('session', 1),
    taskId: idOf('task', 1),
    runId: null,
    token: 1,
    authority: 'admin',
    hostId: idOf('host', 1),
    state: 'running',
    end: null,
    firstSeq: 2,
    startedAt: 2_000,
    endedAt: null,
    ...over,
  };
}

export function stepRow(over: Partial<StepRecord> = {}): StepRecord {
  const seq = over.seq ?? 3;
  return {
    conversationId: idOf('conversation', 1),
    seq,
    turnId: idOf('turn', 1),
    taskId: idOf('task', 1),
    runId: null,
    ordinal: seq - 2,
    kind: 'tool',
    state: 'started',
    tries: 1,
    id: idOf('event', seq),
    startedAt: 2_000 + seq,
    tool: 'shell',
    callId: `call-${seq}`,
    repeatable: 'no',
    input: '{"command":"date"}',
    output: null,
    errorCode: null,
    provider: null,
    model: null,
    inputTokens: null,
    outputTokens: null,
    cost: null,
    finishedId: null,
    finishedSeq: null,
    finishedAt: null,
    ...over,
  };
}

export function eventRow(over: Partial<EventRecord> = {}): EventRecord {
  const seq = over.seq ?? 1;
  return {
    conversationId: idOf('conversation', 1),
    seq,
    id: idOf('event', seq),
    type: 'message.accepted',
    at: 1_000 + seq,
    by: 'admin:terminal',
    taskId: null,
    turnId: null,
    runId: null,
    fromState: null,
    toState: null,
    reason: null,
    data: null,
    ...over,
  };
}

export function outboxRow(over: Partial<OutboxRecord> = {}): OutboxRecord {
  const seq = over.seq ?? 5;
  return {
    id: idOf('outbox', seq),
    conversationId: idOf('conversation', 1),
    seq,
    key: `reply:${seq}`,
    kind: 'reply',
    level: null,
    code: null,
    params: null,
    text: 'It is noon.',
    subjectId: null,
    taskId: idOf('task', 1),
    runId: null,
    state: 'pending',
    at: 3_000,
    deliveredAt: null,
    ...over,
  };
}

export function runRow(over: Partial<RunRecord> = {}): RunRecord {
  return {
    id: idOf('run', 1),
    conversationId: idOf('conversation', 1),
    taskId: idOf('task', 1),
    principal: 'key:ops',
    state: 'open',
    outcomeCode: null,
    outcomeId: null,
    metadata: null,
    callbackUrl: null,
    createdAt: 1_000,
    endedAt: null,
    ...over,
  };
}

export function approvalRow(over: Partial<ApprovalRecord> = {}): ApprovalRecord {
  return {
    id: idOf('approval', 1),
    conversationId: idOf('conversation', 1),
    taskId: idOf('task', 1),
    runId: null,
    turnId: idOf('turn', 1),
    stepId: idOf('event', 3),
    kind: 'call',
    tool: 'shell',
    input: '{"command":"rm -r build"}',
    shown: '{"argv":["rm","-r","build"],"env":{},"files":[],"folder":"."}',
    approver: 'any',
    state: 'open',
    requestedBy: 'admin:terminal',
    decidedBy: null,
    at: 3_000,
    expiresAt: 90_000,
    decidedAt: null,
    ...over,
  };
}

export function limiterRow(over: Partial<LimiterRecord> = {}): LimiterRecord {
  return {
    account: 'example https://api.example.com 0123456789abcdef',
    state: 'limited',
    until: 60_000,
    isNamed: 'yes',
    failures: 1,
    code: 'http_429',
    probeUntil: null,
    version: 1,
    since: 3_000,
    ...over,
  };
}

export function auditRow(over: Partial<AuditRecord> = {}): AuditRecord {
  return {
    seq: 1,
    at: 3_000,
    principal: 'admin:terminal',
    channel: 'terminal',
    action: 'task.extend',
    subjectId: idOf('task', 1),
    before: '{"turnsLimit":50}',
    after: '{"turnsLimit":60}',
    previousHash: '',
    hash: 'c'.repeat(64),
    ...over,
  };
}

export function receiptRow(over: Partial<ReceiptRecord> = {}): ReceiptRecord {
  return {
    scope: 'admin:terminal rcpt-1',
    order: 'task.extend',
    subjectId: idOf('task', 1),
    outcome: '{"kind":"done"}',
    at: 3_000,
    ...over,
  };
}

export function executionRow(over: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: idOf('execution', 1),
    taskId: idOf('task', 1),
    mandateHash: 'a'.repeat(64),
    conversationId: idOf('conversation', 1),
    enrollment: 'current',
    state: 'ready',
    version: 1,
    hostId: null,
    job: 'Read the log.',
    outcome: null,
    deadline: null,
    createdAt: 1_000,
    changedAt: 1_000,
    endedAt: null,
    ...over,
  };
}

export function boundaryRow(over: Partial<BoundaryRecord> = {}): BoundaryRecord {
  return {
    id: idOf('boundary', 1),
    startedAt: 1_000,
    endedAt: null,
    held: 0,
    kept: 0,
    workersHeld: 0,
    toldAt: null,
    ...over,
  };
}

export function stormRow(over: Partial<StormRecord> = {}): StormRecord {
  return {
    id: idOf('storm', 1),
    since: 1_000,
    lastAt: 1_000,
    endedAt: null,
    endedBy: null,
    ...over,
  };
}

export function reportRow(over: Partial<ReportRecord> = {}): ReportRecord {
  return { id: idOf('report', 1), at: 1_000, outboxId: idOf('outbox', 1), ...over };
}
