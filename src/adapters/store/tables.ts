import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import type { BoundaryRecord } from '../../core/boundary/record.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { IdempotencyRecord, MessageRecord, ReceiptRecord } from '../../core/inbox/record.ts';
import type { HostRecord } from '../../core/lease/record.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { ReportRecord, StormRecord } from '../../core/recovery/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord, EventRecord, SessionRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';

/** `conversationId` as `conversation_id`: how a record's field is called in its table. */
export type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : '';

/** The columns of a record's table. */
export type Columns<R> = { [K in keyof R & string as Snake<K>]: R[K] };

/** Every record, by the name of its table. */
export interface Records {
  readonly host: HostRecord;
  readonly conversation: ConversationRecord;
  readonly session: SessionRecord;
  readonly message: MessageRecord;
  readonly idempotency: IdempotencyRecord;
  readonly task: TaskRecord;
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly event: EventRecord;
  readonly outbox: OutboxRecord;
  readonly run: RunRecord;
  readonly approval: ApprovalRecord;
  readonly limiter: LimiterRecord;
  readonly audit: AuditRecord;
  readonly receipt: ReceiptRecord;
  readonly execution: ExecutionRecord;
  readonly boundary: BoundaryRecord;
  readonly storm: StormRecord;
  readonly report: ReportRecord;
  readonly operation: OperationRecord;
}
export type TableName = keyof Records;
export type Tables = { [T in TableName]: Columns<Records[T]> };

type Fields<T extends TableName> = readonly (keyof Records[T] & string)[];

/** Holds only a list that names every field of the record: a new field without a column does not compile. */
function complete<T extends TableName>(): <const L extends Fields<T>>(
  fields: Exclude<keyof Records[T], L[number]> extends never ? L : never,
) => L {
  return (fields) => fields;
}

/**
 * The fields of each record, in the order of the table's columns: what is looked through comes before
 * long texts, and what a later version added comes last.
 */
export const FIELDS = {
  host: complete<'host'>()(['id', 'pid', 'startedAt', 'aliveUntil', 'stoppedAt', 'end']),
  conversation: complete<'conversation'>()([
    'id',
    'agent',
    'channel',
    'address',
    'sessionId',
    'seq',
    'token',
    'turnId',
    'createdAt',
    'model',
    'fence',
    'operationId',
  ]),
  session: complete<'session'>()([
    'id',
    'conversationId',
    'firstSeq',
    'startedAt',
    'endedAt',
    'previousId',
    'nextId',
    'cutSeq',
    'compactions',
    'seed',
  ]),
  message: complete<'message'>()([
    'conversationId',
    'seq',
    'id',
    'channel',
    'externalId',
    'kind',
    'principal',
    'authority',
    'state',
    'taskId',
    'runId',
    'turnId',
    'claimedSeq',
    'answerId',
    'at',
    'replyTo',
    'bodyHash',
    'text',
  ]),
  idempotency: complete<'idempotency'>()(['scope', 'fingerprint', 'subjectId', 'at']),
  task: complete<'task'>()([
    'id',
    'conversationId',
    'agent',
    'enrollment',
    'state',
    'reason',
    'version',
    'waitKind',
    'waitId',
    'waitUntil',
    'deadline',
    'turnsLimit',
    'turnsUsed',
    'tokensLimit',
    'tokensUsed',
    'costLimit',
    'costUsed',
    'continuationsLimit',
    'continuationsUsed',
    'correctionsUsed',
    'recoveryEpoch',
    'recoveryAttempts',
    'recoveryLifetimeAttempts',
    'recoveryNextAt',
    'createdAt',
    'changedAt',
    'endedAt',
    'mandatePrincipal',
    'mandateOrigin',
    'mandateAt',
    'mandateHash',
    'waitQuestion',
    'outcomeData',
    'mandateText',
    'sessionId',
    'mandateAuthority',
    'dueAt',
    'checkpoint',
    'quotaWaits',
    'orderAt',
    'recoveryState',
    'recoveryOutcome',
    'recoveryGrantedAt',
  ]),
  turn: complete<'turn'>()([
    'id',
    'conversationId',
    'sessionId',
    'taskId',
    'runId',
    'token',
    'hostId',
    'state',
    'end',
    'firstSeq',
    'startedAt',
    'endedAt',
    'authority',
  ]),
  step: complete<'step'>()([
    'conversationId',
    'seq',
    'id',
    'turnId',
    'taskId',
    'runId',
    'ordinal',
    'kind',
    'state',
    'startedAt',
    'finishedId',
    'finishedSeq',
    'finishedAt',
    'tool',
    'callId',
    'repeatable',
    'errorCode',
    'provider',
    'model',
    'inputTokens',
    'outputTokens',
    'cost',
    'input',
    'output',
    'tries',
  ]),
  event: complete<'event'>()([
    'conversationId',
    'seq',
    'id',
    'type',
    'at',
    'by',
    'taskId',
    'turnId',
    'runId',
    'fromState',
    'toState',
    'reason',
    'data',
  ]),
  outbox: complete<'outbox'>()([
    'conversationId',
    'seq',
    'id',
    'key',
    'kind',
    'level',
    'code',
    'subjectId',
    'taskId',
    'runId',
    'state',
    'at',
    'deliveredAt',
    'params',
    'text',
  ]),
  run: complete<'run'>()([
    'id',
    'conversationId',
    'taskId',
    'principal',
    'state',
    'outcomeCode',
    'outcomeId',
    'createdAt',
    'endedAt',
    'callbackUrl',
    'metadata',
  ]),
  approval: complete<'approval'>()([
    'id',
    'conversationId',
    'taskId',
    'runId',
    'turnId',
    'stepId',
    'kind',
    'tool',
    'approver',
    'state',
    'requestedBy',
    'decidedBy',
    'at',
    'expiresAt',
    'decidedAt',
    'input',
    'shown',
  ]),
  limiter: complete<'limiter'>()([
    'account',
    'state',
    'until',
    'isNamed',
    'failures',
    'code',
    'probeUntil',
    'version',
    'since',
  ]),
  audit: complete<'audit'>()([
    'seq',
    'at',
    'principal',
    'channel',
    'action',
    'subjectId',
    'before',
    'after',
    'previousHash',
    'hash',
  ]),
  receipt: complete<'receipt'>()(['scope', 'order', 'subjectId', 'outcome', 'at']),
  execution: complete<'execution'>()([
    'id',
    'taskId',
    'mandateHash',
    'conversationId',
    'enrollment',
    'state',
    'version',
    'hostId',
    'deadline',
    'createdAt',
    'changedAt',
    'endedAt',
    'job',
    'outcome',
  ]),
  boundary: complete<'boundary'>()([
    'id',
    'startedAt',
    'endedAt',
    'held',
    'kept',
    'workersHeld',
    'toldAt',
  ]),
  storm: complete<'storm'>()(['id', 'since', 'lastAt', 'endedAt', 'endedBy']),
  report: complete<'report'>()(['id', 'at', 'outboxId']),
  operation: complete<'operation'>()([
    'id',
    'conversationId',
    'sessionId',
    'nextSessionId',
    'kind',
    'step',
    'state',
    'reason',
    'version',
    'epoch',
    'failures',
    'lifetimeFailures',
    'attempts',
    'attemptAt',
    'hostId',
    'nextAttemptAt',
    'quotaWaits',
    'window',
    'noticeId',
    'noticeAt',
    'isTold',
    'isKeptTold',
    'looksFirst',
    'inputTokens',
    'outputTokens',
    'cost',
    'createdAt',
    'changedAt',
    'endedAt',
    'fault',
    'work',
  ]),
} as const satisfies { readonly [T in TableName]: Fields<T> };

/** The column of a field. */
export function columnOf<F extends string>(field: F): Snake<F> {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as Snake<F>;
}

type Selected<T extends TableName> = {
  [K in keyof Records[T] & string]: `${T}.${Snake<K>} as ${K}`;
}[keyof Records[T] & string];

/** What a query selects to give whole records: each column under its field's name. */
export function selection<T extends TableName>(table: T): readonly Selected<T>[] {
  const fields: readonly string[] = FIELDS[table];
  return fields.map((field) => `${table}.${columnOf(field)} as ${field}` as Selected<T>);
}

/** A row as columns with their values; by default all of them. */
export function columns<
  T extends TableName,
  F extends keyof Records[T] & string = keyof Records[T] & string,
>(table: T, row: Records[T], fields?: readonly F[]): Columns<Pick<Records[T], F>> {
  const chosen: readonly string[] = fields ?? FIELDS[table];
  const values = row as unknown as Readonly<Record<string, unknown>>;
  const pairs = chosen.map((field) => [columnOf(field), values[field]]);
  return Object.fromEntries(pairs) as Columns<Pick<Records[T], F>>;
}
