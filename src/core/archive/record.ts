import type { ApprovalRecord } from '../approval/record.ts';
import type { AuditRecord } from '../audit/record.ts';
import type { ExecutionRecord } from '../dispatch/record.ts';
import type { MessageRecord, ReceiptRecord } from '../inbox/record.ts';
import type { OperationRecord } from '../maintenance/record.ts';
import type { OutboxRecord } from '../outbox/record.ts';
import type { RunRecord } from '../run/record.ts';
import type { ConversationRecord, EventRecord, SessionRecord } from '../session/record.ts';
import type { TaskRecord } from '../task/record.ts';
import type { StepRecord, TurnRecord } from '../turn/record.ts';

/** What the first line of every export calls itself. */
export const EXPORT_FORMAT = 'sekisho-export';
/** Rises when a reader of an older version would misread the lines. */
export const EXPORT_VERSION = 2;

/** Every record that a person owns, by its kind. What belongs to the machine alone is in no export. */
export interface ArchiveRecords {
  readonly conversation: ConversationRecord;
  readonly session: SessionRecord;
  readonly operation: OperationRecord;
  readonly task: TaskRecord;
  readonly run: RunRecord;
  readonly turn: TurnRecord;
  readonly message: MessageRecord;
  readonly step: StepRecord;
  readonly event: EventRecord;
  readonly approval: ApprovalRecord;
  readonly outbox: OutboxRecord;
  readonly execution: ExecutionRecord;
  readonly receipt: ReceiptRecord;
  readonly audit: AuditRecord;
}
export type ArchiveKind = keyof ArchiveRecords;

/** The kinds in the order of an export: what is referred to comes first, as far as that goes. */
export const ARCHIVE_KINDS = [
  'conversation',
  'session',
  'operation',
  'task',
  'run',
  'turn',
  'message',
  'step',
  'event',
  'approval',
  'outbox',
  'execution',
  'receipt',
  'audit',
] as const satisfies readonly ArchiveKind[];

/** One record with its kind. */
export type Archived = {
  readonly [K in ArchiveKind]: { readonly kind: K; readonly record: ArchiveRecords[K] };
}[ArchiveKind];

/** The first line. */
export interface ArchiveHeader {
  readonly format: typeof EXPORT_FORMAT;
  readonly version: number;
  /** The schema of the store that was exported: its newest migration. */
  readonly schema: number;
  /** ISO 8601, UTC. */
  readonly exportedAt: string;
  /** The version of the product that wrote it. */
  readonly product: string;
}

/** The last line. */
export interface ArchiveEnd {
  readonly kind: 'end';
  readonly records: number;
  /** Of every byte before this line, as lower-case hex. */
  readonly sha256: string;
}

/** How many records there are of each kind. */
export type ArchiveCounts = Readonly<Record<ArchiveKind, number>>;

/** No records of any kind. */
export function noRecords(): Record<ArchiveKind, number> {
  return Object.fromEntries(ARCHIVE_KINDS.map((kind) => [kind, 0])) as Record<ArchiveKind, number>;
}
