import {
  failStep,
  leaveUncertain,
  passStep,
  waitForQuota,
  type OperationFault,
} from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import type { EffectRows } from './effects.ts';
import { addSpent } from './progress.ts';
import { settleOperation } from './settle-operation.ts';
import type { Made } from './made.ts';
import { isOut, operationReads, type OperationReads } from './unit.ts';

/** Where the try left its operation; `gone`: it was dropped, or an earlier try of this unit has recorded it. */
export type Recorded = 'advanced' | 'done' | 'waits' | 'blocked' | 'gone';

type RecordReads = OperationReads & {
  readonly session: Read<'session.byId'>;
  readonly tasks?: Read<'task.openOf'>;
};

// Open tasks of one conversation that a handover takes along.
const TASKS_MAX = 1_000;

/** Commits what a try came to together with its effect, and all that follows from it (M-3, M-4, M-6, M-10). */
export async function recordStep(
  parts: EngineParts,
  reserved: OperationRecord,
  made: Exclude<Made, { readonly kind: 'gone' }>,
  hostId: HostId,
): Promise<Recorded> {
  return settle(parts, () => recordUnit(parts, reserved, made, hostId));
}

function recordUnit(
  parts: EngineParts,
  reserved: OperationRecord,
  made: Exclude<Made, { readonly kind: 'gone' }>,
  hostId: HostId,
): Unit<RecordReads, Recorded> {
  const { conversationId, sessionId: id, step } = reserved;
  return {
    name: `maintenance.${step}`,
    reads: {
      ...operationReads(reserved),
      session: { read: 'session.byId', args: { id } },
      ...(step === 'rotate'
        ? { tasks: { read: 'task.openOf', args: { conversationId, limit: TASKS_MAX } } }
        : {}),
    },
    decide: (rows, at) => {
      const { conversation, operation, session, tasks = [] } = rows;
      const isOurs = isOut(operation, reserved);
      if (conversation === undefined || session === undefined || !isOurs)
        return { verdict: 'gone', writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      const found = { conversation, operation, session, tasks };
      const after = carryOut(parts, ledger, made, found);
      settleOperation(ledger, { before: operation, after }, rows);
      return { verdict: verdictOf(after), writes: ledger.close() };
    },
  };
}

function carryOut(
  parts: EngineParts,
  ledger: Ledger,
  made: Exclude<Made, { readonly kind: 'gone' }>,
  rows: EffectRows,
): OperationRecord {
  const { now } = ledger.at;
  if (made.kind === 'uncertain') return leaveUncertain(rows.operation, made.fault, now);
  const operation = addSpent(rows.operation, made.spent);
  if (made.kind === 'done') {
    const kept = made.effect(ledger, rows);
    return passStep({ ...operation, ...kept, work: made.work }, now);
  }
  return miss(parts, operation, made, now);
}

function miss(
  parts: EngineParts,
  operation: OperationRecord,
  { fault, retryAt }: { readonly fault: OperationFault; readonly retryAt: Instant | null },
  now: Instant,
): OperationRecord {
  const isFar = retryAt !== null && retryAt - now > LIMITS.quotaParkMs;
  // An instant that is farther away than a day may be a mistake: it is asked again by then.
  const until = Math.min(retryAt ?? 0, now + LIMITS.recoveryRetryMaxMs);
  const waiting = isFar ? waitForQuota(operation, { until, fault }, now) : undefined;
  if (waiting !== undefined) return waiting;
  const counted = failStep(operation, fault, parts.options.maintenance, now);
  // After the longest row of waits each further one counts (T-12).
  const failed = isFar ? { ...counted, quotaWaits: operation.quotaWaits } : counted;
  const { nextAttemptAt } = failed;
  // A nearer instant that the provider named is waited for (T-18).
  const named = isFar ? 0 : (retryAt ?? 0);
  return nextAttemptAt === null
    ? failed
    : { ...failed, nextAttemptAt: Math.max(nextAttemptAt, named) };
}

function verdictOf({ state }: OperationRecord): Recorded {
  if (state === 'running') return 'advanced';
  if (state === 'waiting') return 'waits';
  return state === 'blocked' ? 'blocked' : 'done';
}
