// Exports as tests make them: one record of each kind and more, and files that are wrong in one place.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runningSha256 } from '../../src/adapters/digest/running.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { openKeyIndex } from '../../src/adapters/store/archive-index.ts';
import { sqliteFillings, sqliteSnapshots } from '../../src/adapters/store/archive-sqlite.ts';
import { ARCHIVE_KINDS, EXPORT_VERSION, type Archived } from '../../src/core/archive/record.ts';
import type { AuditRecord } from '../../src/core/audit/record.ts';
import { nextEntry } from '../../src/core/audit/chain.ts';
import { openExport } from '../../src/engine/archive/export.ts';
import { importExport, type Imported } from '../../src/engine/archive/import.ts';
import type { ImportRefusal } from '../../src/engine/archive/check.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import type { OpenFilling, OpenSnapshot } from '../../src/ports/archive.ts';
import type { Ids } from '../../src/ports/ids.ts';
import {
  approvalRow,
  auditRow,
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
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';

/** An instant at which no other record was made. */
export const NOW = 1_900_000_000_000;
let made = 0;
export const IDS: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(0, (made += 1))}` };
export const EXPORTED_AT = '2026-11-30T12:00:00.000Z';

/** Words that an export must carry as they are. */
const ODD = 'Zeile 1\nZeile 2\t"quoted" \\ \u001B[2J \u009B \u202E 🕰 \u2028 </script>';

function task(over: Partial<ReturnType<typeof taskRow>>): ReturnType<typeof taskRow> {
  const row = taskRow(over);
  return { ...row, mandateHash: sha256(row.mandateText) };
}

function message(over: Partial<ReturnType<typeof messageRow>>): ReturnType<typeof messageRow> {
  const row = messageRow(over);
  return { ...row, bodyHash: sha256(row.text) };
}

/** A chain of admin actions. */
function log(length: number): Archived[] {
  const entries: AuditRecord[] = [];
  for (let place = 0; place < length; place += 1) {
    const { principal, channel, action, subjectId } = auditRow();
    const change = { at: 3_000 + place, principal, channel, action, subjectId };
    const counts = { before: { turnsLimit: place }, after: { turnsLimit: place + 10 } };
    entries.push(nextEntry(entries.at(-1), { ...change, ...counts }, sha256));
  }
  return entries.map((record) => ({ kind: 'audit', record }));
}

const LONG = idOf('conversation', 3);
/** A session that was handed over, and the one that goes on from it and is about to be compacted. */
const SESSIONS = [idOf('session', 3), idOf('session', 4)] as const;
const SEED = JSON.stringify({
  summary: ODD,
  conditions: [{ at: 1_500, text: 'Ask before you delete.' }],
  sinceSeq: 20,
  reported: { tokens: 900, chars: 2_700 },
});

/** A long conversation behind its fence, by the kinds of its records. */
const UPKEEP: readonly Archived[] = [
  {
    kind: 'conversation',
    record: conversationRow({
      id: LONG,
      address: 'long',
      sessionId: SESSIONS[1],
      seq: 60,
      fence: 'shut',
      operationId: idOf('operation', 2),
    }),
  },
  {
    kind: 'session',
    record: sessionRow({
      id: SESSIONS[0],
      conversationId: LONG,
      endedAt: 2_000,
      nextId: SESSIONS[1],
      cutSeq: 20,
      compactions: 3,
      seed: SEED,
    }),
  },
  {
    kind: 'session',
    record: sessionRow({
      id: SESSIONS[1],
      conversationId: LONG,
      firstSeq: 31,
      previousId: SESSIONS[0],
      seed: SEED,
    }),
  },
  {
    kind: 'operation',
    record: operationRow({
      conversationId: LONG,
      sessionId: SESSIONS[0],
      nextSessionId: SESSIONS[1],
      kind: 'handover',
      step: 'seed',
      state: 'done',
      version: 9,
      attempts: 5,
      failures: 1,
      lifetimeFailures: 8,
      epoch: 2,
      nextAttemptAt: null,
      inputTokens: 900,
      outputTokens: 90,
      cost: 1_200,
      endedAt: 5_000,
    }),
  },
  {
    kind: 'operation',
    record: operationRow({
      id: idOf('operation', 2),
      conversationId: LONG,
      sessionId: SESSIONS[1],
      state: 'waiting',
      version: 5,
      attempts: 2,
      failures: 2,
      lifetimeFailures: 2,
      nextAttemptAt: 9_000,
      noticeId: idOf('outbox', 50),
      noticeAt: 8_000,
      isTold: 'no',
      fault: JSON.stringify({ code: 'eio', said: ODD, isMixed: true }),
      work: JSON.stringify({ cutSeq: 45, doneSeq: 40, summary: ODD, conditions: [] }),
    }),
  },
  {
    kind: 'outbox',
    record: outboxRow({
      id: idOf('outbox', 50),
      conversationId: LONG,
      seq: 50,
      key: `notice:${idOf('operation', 2)}:5`,
      kind: 'notice',
      level: 'waiting',
      code: 'maintenance_waiting',
      params: '{"code":"eio"}',
      text: null,
      subjectId: idOf('operation', 2),
      taskId: null,
    }),
  },
];

/** Three conversations with every kind of record, in the order of an export. */
export function everything(): readonly Archived[] {
  // Of each kind they come last, as their ids do.
  return [...withoutUpkeep(), ...UPKEEP].toSorted(
    (a, b) => ARCHIVE_KINDS.indexOf(a.kind) - ARCHIVE_KINDS.indexOf(b.kind),
  );
}

function withoutUpkeep(): readonly Archived[] {
  const [first, second] = [idOf('conversation', 1), idOf('conversation', 2)];
  const other = { conversationId: second, taskId: idOf('task', 2) };
  const { conversationId, taskId } = other;
  const turn2 = { ...other, sessionId: idOf('session', 2), id: idOf('turn', 2) };
  return [
    { kind: 'conversation', record: conversationRow({ id: first, seq: 9, token: 1 }) },
    {
      kind: 'conversation',
      record: conversationRow({
        id: second,
        channel: 'api',
        address: ODD,
        sessionId: idOf('session', 2),
        model: 'example/large',
        turnId: idOf('turn', 2),
        seq: 40,
        token: 3,
      }),
    },
    { kind: 'session', record: sessionRow({ id: idOf('session', 1) }) },
    { kind: 'session', record: sessionRow({ id: idOf('session', 2), conversationId }) },
    {
      kind: 'task',
      record: task({ state: 'completed', reason: 'answered', endedAt: 7_000, checkpoint: ODD }),
    },
    {
      kind: 'task',
      record: task({
        id: taskId,
        conversationId,
        sessionId: idOf('session', 2),
        mandateText: ODD,
        state: 'waiting',
        reason: 'interrupted',
        waitKind: 'assessment',
        recoveryState: 'needed',
        recoveryAttempts: 2,
        recoveryLifetimeAttempts: 5,
        recoveryNextAt: 6_000,
        recoveryOutcome: 'failed',
        orderAt: 5_000,
        outcomeData: '{"said":"a text","deep":[[[{"a":1}]]]}',
      }),
    },
    {
      kind: 'run',
      record: runRow({ ...other, metadata: '{"a":"b"}', callbackUrl: 'https://example.com/x' }),
    },
    { kind: 'turn', record: turnRow({ state: 'ended', end: 'answered', endedAt: 4_000 }) },
    { kind: 'turn', record: turnRow({ ...turn2, runId: idOf('run', 1), token: 3, firstSeq: 11 }) },
    {
      kind: 'message',
      record: message({
        state: 'done',
        taskId: idOf('task', 1),
        turnId: idOf('turn', 1),
        claimedSeq: 2,
        answerId: idOf('outbox', 5),
      }),
    },
    { kind: 'message', record: message({ conversationId, seq: 10, channel: 'api', text: ODD }) },
    {
      kind: 'step',
      record: stepRow({
        state: 'finished',
        output: ODD,
        finishedId: idOf('event', 4),
        finishedSeq: 4,
        finishedAt: 2_500,
      }),
    },
    {
      kind: 'step',
      record: stepRow({ ...other, turnId: turn2.id, seq: 12, ordinal: 1, kind: 'model' }),
    },
    { kind: 'event', record: eventRow({ taskId: idOf('task', 1) }) },
    { kind: 'event', record: eventRow({ ...other, seq: 11, data: '{"messageIds":["x"]}' }) },
    {
      kind: 'approval',
      record: approvalRow({
        stepId: idOf('event', 3),
        state: 'denied',
        decidedBy: 'admin:terminal',
        decidedAt: 3_500,
      }),
    },
    { kind: 'outbox', record: outboxRow({ state: 'delivered', deliveredAt: 3_500 }) },
    {
      kind: 'outbox',
      record: outboxRow({
        ...other,
        id: idOf('outbox', 20),
        seq: 20,
        key: 'notice:20',
        kind: 'notice',
        level: 'blocked',
        code: 'no_progress',
        params: '{"request":"x"}',
        text: null,
        runId: idOf('run', 1),
      }),
    },
    { kind: 'execution', record: executionRow({ taskId, conversationId, endedAt: null }) },
    {
      kind: 'execution',
      record: executionRow({
        id: idOf('execution', 2),
        taskId: null,
        conversationId: null,
        mandateHash: null,
        state: 'completed',
        outcome: ODD,
        endedAt: 6_000,
      }),
    },
    { kind: 'receipt', record: receiptRow() },
    ...log(3),
  ];
}

/** An export of these records, or of these lines in their place. */
export function fileOf(
  records: readonly Archived[],
  more: { readonly header?: object; readonly end?: object } = {},
): string {
  return withEnd([headerLine(more.header), ...records.map((one) => JSON.stringify(one))], more.end);
}

function headerLine(over: object = {}): string {
  const header = { format: 'sekisho-export', version: EXPORT_VERSION, schema: 4 };
  return JSON.stringify({ ...header, exportedAt: EXPORTED_AT, product: '0.1.0', ...over });
}

/** These lines and the last line that fits them. */
export function withEnd(lines: readonly string[], over: object = {}): string {
  const before = lines.map((line) => `${line}\n`).join('');
  const sum = createHash('sha256').update(before).digest('hex');
  const end = { kind: 'end', records: lines.length - 1, sha256: sum, ...over };
  return `${before}${JSON.stringify(end)}\n`;
}

/** The whole lines of a file. */
export function linesIn(file: string): readonly string[] {
  return file.split('\n').slice(0, -1);
}

/** A store of one file. */
export interface Place {
  readonly snapshot: OpenSnapshot;
  readonly filling: OpenFilling;
}

/** An empty SQLite store that goes with the test. */
export function sqlitePlace(t: Pick<TestContext, 'after'>): Place & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-archive-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'sekisho.db');
  const filling = sqliteFillings({ path, clock: { now: () => NOW }, ids: IDS });
  return { path, filling, snapshot: sqliteSnapshots(path) };
}

/** Imports a text into a place, given in pieces of so many bytes. */
export function bring(
  file: string | Uint8Array,
  filling: OpenFilling,
  pieceBytes = 65_536,
): Promise<Imported | ImportRefusal> {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  return importExport({
    bytes: () => pieces(bytes, pieceBytes),
    digest: sha256,
    running: runningSha256,
    index: openKeyIndex,
    filling,
    principal: { kind: 'admin', id: 'terminal', isAdmin: true },
    channel: 'terminal',
    onProgress: () => {},
  });
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The export of a place as a text. */
export async function take(
  { snapshot }: Pick<Place, 'snapshot'>,
  mask: (text: string) => string = (text) => text,
): Promise<string> {
  const parts = { digest: sha256, running: runningSha256, product: '0.1.0' };
  const source = await openExport({ ...parts, snapshot, mask, exportedAt: EXPORTED_AT });
  const taken: Uint8Array[] = [];
  try {
    for (;;) {
      const piece = await source.pieces.next();
      if (piece.done === true) return Buffer.concat(taken).toString('utf8');
      taken.push(piece.value);
    }
  } finally {
    await source.close();
  }
}

/** The records of an export. */
export function recordsIn(file: string): readonly Archived[] {
  return linesIn(file)
    .slice(1, -1)
    .map((line) => JSON.parse(line) as Archived);
}
