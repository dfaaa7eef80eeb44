import {
  blockExhausted,
  blockTooLarge,
  dropOperation,
  judgeAttempt,
  reserveAttempt,
} from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import { hostName } from '../../kernel/principal.ts';
import type { At, Decision, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { settleOperation } from './settle-operation.ts';
import { operationReads, type OperationReads } from './unit.ts';

/**
 * `reserved`: the try is counted and may be made. `left`: it is not due, or somebody else has it. `over`: it
 * was dropped, for nothing goes on in its session.
 */
export type Reserved =
  | { readonly kind: 'reserved'; readonly operation: OperationRecord }
  | { readonly kind: 'blocked' | 'left' | 'over' };

/**
 * Reserves the next try of an operation, before it is made: whatever happens afterwards, it is used (M-2). One
 * without a try left, or whose fixed base does not fit (`tooLarge`: the sizes), is blocked instead (M-4, M-18);
 * one whose session nobody uses is dropped without a word (M-21).
 */
export async function reserve(
  parts: EngineParts,
  operation: OperationRecord,
  by: Omit<By, 'tries'>,
): Promise<Reserved> {
  return settle(parts, (tries) => reserveUnit(operation, { ...by, tries }));
}

interface By {
  readonly hostId: HostId;
  readonly tooLarge: JsonObject | null;
  readonly isUnused: boolean;
  readonly tries: number;
}

function reserveUnit(found: OperationRecord, by: By): Unit<OperationReads, Reserved> {
  return {
    name: 'maintenance.reserve',
    reads: operationReads(found),
    decide: (rows, at) => decide(found, by, rows, at),
  };
}

function decide(
  found: OperationRecord,
  by: By,
  { conversation, operation, runs }: Rows<OperationReads>,
  at: At,
): Decision<Reserved> {
  if (conversation === undefined || operation === undefined) return LEFT;
  if (by.tries > 0 && isOurs(operation, found, by.hostId))
    return { verdict: { kind: 'reserved', operation }, writes: [] };
  const verdict = judgeAttempt(operation, at.now);
  if (verdict === 'leave' || verdict === 'wait') return LEFT;
  const ledger = new Ledger(conversation, at, hostName(by.hostId));
  if (by.isUnused) {
    settleOperation(
      ledger,
      { before: operation, after: dropOperation(operation, at.now) },
      { runs },
    );
    const { nextSessionId: next } = operation;
    if (next !== null) ledger.add({ write: 'session.end', id: next, endedAt: at.now });
    return { verdict: { kind: 'over' }, writes: ledger.close() };
  }
  const blocked = judgeBlocked(operation, verdict, by.tooLarge, at.now);
  if (blocked !== undefined) {
    settleOperation(ledger, { before: operation, after: blocked }, { runs });
    return { verdict: { kind: 'blocked' }, writes: ledger.close() };
  }
  const row = reserveAttempt(operation, by.hostId, at.now);
  ledger.add({ write: 'operation.save', row });
  const { id: operationId, step, attempts: attempt, epoch } = row;
  const data = { operationId, step, attempt, epoch };
  ledger.event('operation.reserved', { from: operation.state, to: row.state, data });
  return { verdict: { kind: 'reserved', operation: row }, writes: ledger.close() };
}

/** The operation that needs an admin instead of a try; undefined when it may be tried. */
function judgeBlocked(
  operation: OperationRecord,
  verdict: 'exhausted' | 'reserve',
  tooLarge: JsonObject | null,
  now: Instant,
): OperationRecord | undefined {
  if (verdict === 'exhausted') return blockExhausted(operation, now);
  return tooLarge === null ? undefined : blockTooLarge(operation, tooLarge, now);
}

const LEFT: Decision<Reserved> = { verdict: { kind: 'left' }, writes: [] };

/** What an earlier try of this unit has committed unseen: one runner of this host has the operation. */
function isOurs(operation: OperationRecord, found: OperationRecord, hostId: HostId): boolean {
  const isNext = operation.attempts === found.attempts + 1;
  return isNext && operation.hostId === hostId && operation.attemptAt !== null;
}
