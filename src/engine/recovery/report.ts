import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { BoundaryRecord } from '../../core/boundary/record.ts';
import type { ReportRecord } from '../../core/recovery/record.ts';
import { reportItems, type ReportItem } from '../../core/recovery/report.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { ABOVE_ALL_IDS, type ConversationId, type HostId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Decision, Read, Rows, Unit, Write } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice, type NoticeOrder } from '../outbox/queue.ts';
import { findReader } from '../outbox/told.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { requestOf } from '../task/mandate.ts';

export interface ReportOrder {
  readonly hostId: HostId;
  /** A host has run here before: what is to be decided is told, not the boundary's summary alone. */
  readonly isRestart: boolean;
}

/**
 * Tells once after a start what waits for a decision: what is blocked, expired or uncertain since the last
 * report, and the summary of the boundary (R-13, B-10). Gives where it was told; undefined where there is
 * nothing to decide, or nobody to tell: then nothing is written, and the next start tells it.
 */
export async function tellRestart(
  parts: EngineParts,
  order: ReportOrder,
): Promise<ConversationId | undefined> {
  const standing = await readStanding(parts);
  const reader = await findReader(parts);
  if (reader === undefined) return undefined;
  return settle(parts, () => reportUnit({ ...order, reader, standing }));
}

/** What is read before the unit: it never changes, or is counted for a sentence alone. */
interface Standing {
  /** Entries of the outbox of which nobody knows whether they were sent (B-2). */
  readonly unsent: number;
  /** When it was read. */
  readonly now: Instant;
  /** When the last report was told; 0 before the first. */
  readonly since: Instant;
  /** Tasks that a check decides about: told with what is to be decided where diagnostics are on. */
  readonly interrupted: number;
  /** When the newest of all was told: under a clock that was set back since, after `now`. */
  readonly ahead: Instant;
  /** The tasks of open questions about an uncertain effect, by id. */
  readonly asked: ReadonlyMap<string, TaskRecord>;
}

const UP_TO = { before: ABOVE_ALL_IDS, limit: LIMITS.listLimitMax } as const;
const OPEN_APPROVALS = { state: 'open', conversationId: '', ...UP_TO } as const;

async function readStanding(parts: EngineParts): Promise<Standing> {
  const { store, clock } = parts;
  const now = clock.now();
  const last = await store.query('report.last', { now });
  const ahead = await store.query('report.last', { now: Number.MAX_SAFE_INTEGER });
  const unsent = await store.query('outbox.list', {
    state: 'uncertain',
    conversationId: '',
    ...UP_TO,
  });
  return {
    unsent: unsent.length,
    now,
    since: last?.at ?? 0,
    ahead: ahead?.at ?? 0,
    interrupted: await countInterrupted(parts),
    asked: await readAsked(parts),
  };
}

async function countInterrupted({ store, options }: EngineParts): Promise<number> {
  if (!options.recovery.diagnostics) return 0;
  return (await store.query('recovery.standing', {}))?.interrupted ?? 0;
}

async function readAsked({ store }: EngineParts): Promise<Standing['asked']> {
  const asked = new Map<string, TaskRecord>();
  for (const { kind, taskId } of await store.query('approval.list', OPEN_APPROVALS)) {
    if (kind !== 'uncertain' || asked.has(taskId)) continue;
    const task = await store.query('task.byId', { id: taskId });
    if (task !== undefined && task.enrollment === 'current') asked.set(taskId, task);
  }
  return asked;
}

type ReportReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly last: Read<'report.last'>;
  readonly boundary: Read<'boundary.last'>;
  readonly tasks: Read<'report.tasks'>;
  readonly approvals: Read<'approval.list'>;
};

interface UnitOrder extends ReportOrder {
  readonly reader: ConversationId;
  readonly standing: Standing;
}

function reportUnit(order: UnitOrder): Unit<ReportReads, ConversationId | undefined> {
  const { since, now } = order.standing;
  return {
    name: 'report.tell',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: order.reader } },
      last: { read: 'report.last', args: { now } },
      boundary: { read: 'boundary.last', args: {} },
      tasks: { read: 'report.tasks', args: { since, limit: LIMITS.listLimitMax } },
      approvals: { read: 'approval.list', args: OPEN_APPROVALS },
    },
    decide: (rows, at) => {
      const told = toldBy(rows, order);
      if (rows.conversation === undefined || told === undefined)
        return { verdict: undefined, writes: settleEmpty(rows.boundary, at.now) };
      const ledger = new Ledger(rows.conversation, at, hostName(order.hostId));
      return tell(ledger, told, order);
    },
  };
}

interface Told {
  readonly summary: { readonly boundary: BoundaryRecord; readonly params: JsonObject } | undefined;
  readonly items: readonly ReportItem[];
}

/** Undefined when there is nothing to decide, or when another host told it meanwhile. */
function toldBy(rows: Rows<ReportReads>, order: UnitOrder): Told | undefined {
  const { since, unsent, asked } = order.standing;
  const summary = summaryOf(rows.boundary, unsent);
  const isOverdue = order.isRestart && (rows.last?.at ?? 0) === since;
  const items = isOverdue
    ? reportItems({
        tasks: rows.tasks,
        questions: questionsOf(rows.approvals, asked),
        said: order.standing,
      })
    : [];
  return summary === undefined && items.length === 0 ? undefined : { summary, items };
}

/** A run of the boundary that held nothing back has no summary, now or at a later start. */
function settleEmpty(boundary: BoundaryRecord | undefined, toldAt: Instant): readonly Write[] {
  if (!isUntold(boundary) || boundary.held + boundary.workersHeld > 0) return [];
  return [{ write: 'boundary.told', id: boundary.id, toldAt }];
}

function isUntold(boundary: BoundaryRecord | undefined): boundary is BoundaryRecord {
  return boundary !== undefined && boundary.endedAt !== null && boundary.toldAt === null;
}

function summaryOf(boundary: BoundaryRecord | undefined, unsent: number): Told['summary'] {
  if (!isUntold(boundary)) return undefined;
  const { held, workersHeld } = boundary;
  if (held + workersHeld + unsent === 0) return undefined;
  return { boundary, params: { held, workersHeld, unsent } };
}

function questionsOf(
  approvals: readonly ApprovalRecord[],
  asked: ReadonlyMap<string, TaskRecord>,
): Parameters<typeof reportItems>[0]['questions'] {
  return approvals.flatMap((approval) => {
    const task = asked.get(approval.taskId);
    return approval.kind === 'uncertain' && task !== undefined ? [{ approval, task }] : [];
  });
}

function tell(
  ledger: Ledger,
  { summary, items }: Told,
  { reader, isRestart, standing: { interrupted } }: UnitOrder,
): Decision<ConversationId> {
  const { at } = ledger;
  const id = at.ids.next('report');
  const place = { conversationId: reader, level: 'info', taskId: null, runId: null } as const;
  const notice: NoticeOrder =
    items.length === 0 && summary !== undefined
      ? {
          ...place,
          key: `notice:boundary:${summary.boundary.id}`,
          code: 'held_legacy',
          params: summary.params,
          subjectId: summary.boundary.id,
        }
      : {
          ...place,
          key: `notice:report:${id}`,
          code: 'restart_report',
          params: { ...paramsOf(items, summary?.params), interrupted },
          subjectId: id,
        };
  const report: ReportRecord = { id, at: at.now, outboxId: queueNotice(ledger, notice) };
  const writes: readonly Write[] = [
    ...ledger.close(),
    ...(isRestart ? [{ write: 'report.insert', row: report } as const] : []),
    ...(summary === undefined
      ? []
      : [{ write: 'boundary.told', id: summary.boundary.id, toldAt: at.now } as const]),
  ];
  return { verdict: reader, writes };
}

function paramsOf(items: readonly ReportItem[], summary: JsonObject | undefined): JsonObject {
  const named = items.slice(0, LIMITS.namedMax).map((item) => ({
    ...item,
    request: requestOf({ mandateText: item.request }),
  }));
  const none = { held: 0, workersHeld: 0, unsent: 0 };
  return { ...(summary ?? none), items: named, more: items.length - named.length };
}
