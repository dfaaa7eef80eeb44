import type { AuditRecord } from '../../core/audit/record.ts';
import type { StormRecord } from '../../core/recovery/record.ts';
import { judgeStart, stormEndsAt, stormWindowSince } from '../../core/recovery/storm.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { ConversationId, HostId, StormId } from '../../kernel/ids.ts';
import { hostName, principalName, type Principal } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { At, Decision, Read, Rows, Unit, Write } from '../../ports/store.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from '../audit/append.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import { findReader, tellIn, tellReads, type TellReads } from '../outbox/told.ts';
import { settle } from '../settle.ts';

/** What a unit made of the storm. */
export interface StormChange {
  /** The one that is open now. */
  readonly storm: StormRecord | null;
  /** Where it was told. */
  readonly told?: ConversationId;
}

export interface StormStart extends StormChange {
  /** Of the host's row. */
  readonly startedAt: Instant;
}

// Hosts that are found lost within the window: far more than begin a storm.
const LOST_MAX = 200;

type StartReads = TellReads & {
  readonly lost: Read<'host.lostSince'>;
  readonly last: Read<'storm.last'>;
};

/**
 * Judges the start of this host: a storm begins, goes on or ends, in one commit with what is told of it
 * . Where safe mode is configured off an open storm ends in silence.
 */
export async function commitStormStart(parts: EngineParts, hostId: HostId): Promise<StormStart> {
  const host = await parts.store.query('host.byId', { id: hostId });
  const startedAt = host?.startedAt ?? parts.clock.now();
  const reader = await findReader(parts);
  const change = await settle(parts, () => startUnit(parts, { hostId, startedAt, reader }));
  return { ...change, startedAt };
}

interface StartOrder {
  readonly hostId: HostId;
  readonly startedAt: Instant;
  readonly reader: ConversationId | undefined;
}

function startUnit(parts: EngineParts, order: StartOrder): Unit<StartReads, StormChange> {
  const { hostId, startedAt, reader } = order;
  return {
    name: 'storm.start',
    reads: {
      ...tellReads(reader),
      lost: {
        read: 'host.lostSince',
        args: { since: stormWindowSince(startedAt), limit: LOST_MAX },
      },
      last: { read: 'storm.last', args: {} },
    },
    decide: (rows, at) => {
      const { last } = rows;
      if (!parts.options.recovery.safeMode) return endOpen(last, at.now, hostName(hostId));
      const verdict = judgeStart({ startedAt, now: at.now, lost: rows.lost, last });
      if (verdict.kind === 'begin') return beginStorm(rows, at, { ...order, ...verdict });
      const open = last !== undefined && last.endedAt === null ? last : null;
      if (open === null || verdict.kind === 'on') return { verdict: { storm: open }, writes: [] };
      if (verdict.kind === 'over') return endStorm(rows, at, { storm: open, by: hostName(hostId) });
      const storm = { ...open, lastAt: startedAt };
      return {
        verdict: { storm },
        writes: [{ write: 'storm.seen', id: open.id, lastAt: startedAt }],
      };
    },
  };
}

function beginStorm(
  { conversation }: Pick<Rows<StartReads>, 'conversation'>,
  at: At,
  order: StartOrder & { readonly starts: number },
): Decision<StormChange> {
  const { hostId, startedAt, starts } = order;
  const storm: StormRecord = {
    id: at.ids.next('storm'),
    since: startedAt,
    lastAt: startedAt,
    endedAt: null,
    endedBy: null,
  };
  const by = hostName(hostId);
  const told = tellIn(conversation, { at, by }, (ledger, conversationId) => {
    queueNotice(ledger, {
      conversationId,
      key: `notice:safe_mode:${storm.id}`,
      level: 'escalation',
      code: 'safe_mode',
      params: { starts, until: stormEndsAt(storm) },
      subjectId: storm.id,
      taskId: null,
      runId: null,
    });
  });
  return {
    verdict: { storm, ...toldTo(conversation) },
    writes: [...told, { write: 'storm.insert', row: storm }],
  };
}

/** Where safe mode is configured off nothing is told of what it was. */
function endOpen(
  last: StormRecord | undefined,
  now: Instant,
  endedBy: string,
): Decision<StormChange> {
  if (last === undefined || last.endedAt !== null) return { verdict: { storm: null }, writes: [] };
  const end: Write = { write: 'storm.end', id: last.id, endedAt: now, endedBy };
  return { verdict: { storm: null }, writes: [end] };
}

/** The end of a storm, and what is told of it. */
function endStorm(
  { conversation }: Pick<Rows<TellReads>, 'conversation'>,
  at: At,
  { storm, by }: { readonly storm: StormRecord; readonly by: string },
): Decision<StormChange> {
  const told = tellIn(conversation, { at, by }, (ledger, conversationId) => {
    queueNotice(ledger, {
      conversationId,
      key: `notice:safe_mode_over:${storm.id}`,
      level: 'info',
      code: 'safe_mode_over',
      params: {},
      subjectId: storm.id,
      taskId: null,
      runId: null,
    });
  });
  const end: Write = { write: 'storm.end', id: storm.id, endedAt: at.now, endedBy: by };
  return { verdict: { storm: null, ...toldTo(conversation) }, writes: [...told, end] };
}

function toldTo(conversation: ConversationRecord | undefined): Pick<StormChange, 'told'> {
  return conversation === undefined ? {} : { told: conversation.id };
}

export interface StormEnd {
  readonly hostId: HostId;
  readonly stormId: StormId;
  /** Who ends it; without one it ends because its calm has passed. */
  readonly admin?: { readonly principal: Principal; readonly channel: string };
}

type EndReads = TellReads & { readonly last: Read<'storm.last'> } & Partial<{
    readonly tail: AuditTail['last'];
  }>;

/**
 * Ends a storm once: with its notice and, when an admin does it, the entry in the log. `isMine` is
 * false when somebody else had ended it.
 */
export async function commitStormEnd(
  parts: EngineParts,
  order: StormEnd,
): Promise<StormChange & { readonly isMine: boolean }> {
  const reader = await findReader(parts);
  return settle(parts, (tries) => endUnit(parts, order, { reader, tries }));
}

function endUnit(
  parts: EngineParts,
  { hostId, stormId, admin }: StormEnd,
  { reader, tries }: { readonly reader: ConversationId | undefined; readonly tries: number },
): Unit<EndReads, StormChange & { readonly isMine: boolean }> {
  const by = admin === undefined ? hostName(hostId) : principalName(admin.principal);
  return {
    name: 'storm.end',
    reads: {
      ...tellReads(reader),
      last: { read: 'storm.last', args: {} },
      ...(admin === undefined ? {} : { tail: AUDIT_TAIL.last }),
    },
    decide: (rows, at) => {
      const { last } = rows;
      if (last === undefined || last.id !== stormId || last.endedAt !== null) {
        // What an earlier try committed unseen is this one's.
        const isMine = tries > 0 && last?.id === stormId && last.endedBy === by;
        const storm = last !== undefined && last.endedAt === null ? last : null;
        return { verdict: { storm, isMine }, writes: [] };
      }
      const end = endStorm(rows, at, { storm: last, by });
      const entry = admin === undefined ? [] : [entryOf(parts, { ...admin, last, at }, rows.tail)];
      return { verdict: { ...end.verdict, isMine: true }, writes: [...end.writes, ...entry] };
    },
  };
}

function entryOf(
  parts: EngineParts,
  order: {
    readonly principal: Principal;
    readonly channel: string;
    readonly last: StormRecord;
    readonly at: At;
  },
  tail: AuditRecord | undefined,
): Write {
  const { principal, channel, last, at } = order;
  const before = { since: last.since, lastAt: last.lastAt, endedAt: null };
  return auditWrite(parts, tail, {
    at: at.now,
    principal: principalName(principal),
    channel,
    action: 'safe-mode.off',
    subjectId: last.id,
    before,
    after: { ...before, endedAt: at.now },
  });
}
