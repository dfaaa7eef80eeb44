// Every row of the store as plain records: what the oracles look at.
import type { DatabaseSync } from 'node:sqlite';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { AuditRecord } from '../../src/core/audit/record.ts';
import type { BoundaryRecord } from '../../src/core/boundary/record.ts';
import type { LimiterRecord } from '../../src/core/budget/record.ts';
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import type {
  IdempotencyRecord,
  MessageRecord,
  ReceiptRecord,
} from '../../src/core/inbox/record.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { HostRecord } from '../../src/core/lease/record.ts';
import type { OutboxRecord } from '../../src/core/outbox/record.ts';
import type { ReportRecord, StormRecord } from '../../src/core/recovery/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type {
  ConversationRecord,
  EventRecord,
  SessionRecord,
} from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../src/core/turn/record.ts';
import { KeptEvents } from './kept-events.ts';
import { rowsOf } from './rows.ts';

export interface Dump {
  readonly conversations: readonly ConversationRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly events: readonly EventRecord[];
  readonly messages: readonly MessageRecord[];
  readonly idempotency: readonly IdempotencyRecord[];
  readonly tasks: readonly TaskRecord[];
  readonly turns: readonly TurnRecord[];
  readonly steps: readonly StepRecord[];
  readonly outbox: readonly OutboxRecord[];
  readonly runs: readonly RunRecord[];
  readonly hosts: readonly HostRecord[];
  readonly approvals: readonly ApprovalRecord[];
  readonly limiters: readonly LimiterRecord[];
  readonly receipts: readonly ReceiptRecord[];
  readonly audit: readonly AuditRecord[];
  readonly executions: readonly ExecutionRecord[];
  readonly boundaries: readonly BoundaryRecord[];
  readonly storms: readonly StormRecord[];
  readonly reports: readonly ReportRecord[];
  readonly operations: readonly OperationRecord[];
}

const parsed = new WeakMap<Pick<EventRecord, 'data'>, Readonly<Record<string, unknown>>>();

/** The data of an event; empty when it has none. */
export function dataOf(event: Pick<EventRecord, 'data'>): Readonly<Record<string, unknown>> {
  let data = parsed.get(event);
  if (data === undefined) {
    data = event.data === null ? {} : (JSON.parse(event.data) as Record<string, unknown>);
    parsed.set(event, data);
  }
  return data;
}

export function group<T>(
  rows: readonly T[],
  key: (row: T) => string | null,
): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = key(row);
    if (name === null) continue;
    const found = groups.get(name);
    if (found === undefined) groups.set(name, [row]);
    else found.push(row);
  }
  return groups;
}

export interface Dumper {
  /** All rows; of events those that are new, since none ever changes. */
  read(): Dump;
  /** All rows. Says which events are not what they were before. */
  whole(): { readonly dump: Dump; readonly changed: readonly string[] };
}

/** Reads all tables of an open database, past the adapter and its statements. */
export function dumper(db: DatabaseSync): Dumper {
  const read = <T>(table: string, order: string): (() => T[]) => {
    const rows = rowsOf<T>(db, `select * from "${table}" order by ${order}`);
    return () => rows.all();
  };
  const conversations = read<ConversationRecord>('conversation', 'id');
  const events = new KeptEvents(db);
  const tables = {
    sessions: read<SessionRecord>('session', 'id'),
    messages: read<MessageRecord>('message', 'conversation_id, seq'),
    idempotency: read<IdempotencyRecord>('idempotency', 'scope'),
    tasks: read<TaskRecord>('task', 'id'),
    turns: read<TurnRecord>('turn', 'conversation_id, first_seq'),
    steps: read<StepRecord>('step', 'conversation_id, seq'),
    outbox: read<OutboxRecord>('outbox', 'conversation_id, seq'),
    runs: read<RunRecord>('run', 'id'),
    hosts: read<HostRecord>('host', 'id'),
    approvals: read<ApprovalRecord>('approval', 'id'),
    limiters: read<LimiterRecord>('limiter', 'account'),
    receipts: read<ReceiptRecord>('receipt', 'scope'),
    audit: read<AuditRecord>('audit', 'seq'),
    executions: read<ExecutionRecord>('execution', 'id'),
    boundaries: read<BoundaryRecord>('boundary', 'id'),
    storms: read<StormRecord>('storm', 'id'),
    reports: read<ReportRecord>('report', 'id'),
    operations: read<OperationRecord>('operation', 'id'),
  };
  const rest = (): Omit<Dump, 'conversations' | 'events'> => ({
    sessions: tables.sessions(),
    messages: tables.messages(),
    idempotency: tables.idempotency(),
    tasks: tables.tasks(),
    turns: tables.turns(),
    steps: tables.steps(),
    outbox: tables.outbox(),
    runs: tables.runs(),
    hosts: tables.hosts(),
    approvals: tables.approvals(),
    limiters: tables.limiters(),
    receipts: tables.receipts(),
    audit: tables.audit(),
    executions: tables.executions(),
    boundaries: tables.boundaries(),
    storms: tables.storms(),
    reports: tables.reports(),
    operations: tables.operations(),
  });
  return {
    read() {
      const found = conversations();
      return { conversations: found, events: events.read(found), ...rest() };
    },
    whole() {
      const changed = events.again();
      const found = conversations();
      return { dump: { conversations: found, events: events.read(found), ...rest() }, changed };
    },
  };
}
