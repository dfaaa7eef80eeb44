import { exhaustedForTurn, grantFor } from '../../core/budget/spend.ts';
import { isFenced } from '../../core/maintenance/decide.ts';
import { judgeAttempt, reserveAttempt } from '../../core/recovery/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { blockLate, blockTask, blockUsedUp } from './block.ts';

/**
 * `reserved`: the attempt is counted, the call may be made. `blocked`: its attempts or a budget are used
 * up, or its order is late. `left`: it has gone on or its time has not come.
 */
export type Reserved =
  | { readonly kind: 'reserved'; readonly task: TaskRecord }
  | { readonly kind: 'blocked' | 'left' };

export type RecoveryReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
  readonly workers: Read<'execution.ofTask'>;
};

/** What each unit about the recovery of one task reads. */
export function recoveryReads({ id, conversationId }: TaskRecord): RecoveryReads {
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    task: { read: 'task.byId', args: { id } },
    messages: { read: 'message.openOfTask', args: { conversationId, taskId: id } },
    run: { read: 'run.ofTask', args: { taskId: id } },
    workers: { read: 'execution.ofTask', args: { taskId: id, limit: LIMITS.workersOfTaskMax } },
  };
}

/**
 * Reserves the next attempt of a task, before its call is made: whatever happens afterwards, it is used
 * . A task with none left is blocked instead, exactly once. Without `mayReserve` only that.
 */
export async function reserve(
  parts: EngineParts,
  task: TaskRecord,
  by: { readonly hostId: HostId; readonly mayReserve: boolean },
): Promise<Reserved> {
  return settle(parts, (tries) => reserveUnit(parts, task, { ...by, tries }));
}

interface By {
  readonly hostId: HostId;
  readonly mayReserve: boolean;
  readonly tries: number;
}

function reserveUnit(parts: EngineParts, found: TaskRecord, by: By): Unit<RecoveryReads, Reserved> {
  return {
    name: 'recovery.reserve',
    reads: recoveryReads(found),
    decide: (rows, at) => decide(parts, found, by, { rows, at }),
  };
}

function decide(
  parts: EngineParts,
  found: TaskRecord,
  by: By,
  { rows, at }: { readonly rows: Rows<RecoveryReads>; readonly at: At },
): Decision<Reserved> {
  const { conversation, task } = rows;
  if (conversation === undefined || task === undefined || isFenced(conversation)) return LEFT;
  const earlier = earlierTry(parts, found, { task, tries: by.tries });
  if (earlier !== undefined) return earlier;
  const verdict = judgeAttempt(task, at.now, !parts.store.traits.exclusive);
  if (verdict === 'leave' || verdict === 'wait') return LEFT;
  const ledger = new Ledger(conversation, at, hostName(by.hostId));
  if (verdict === 'late') blockLate(ledger, task, rows);
  else if (verdict === 'block') blockUsedUp(ledger, { before: task, task }, rows);
  else if (by.mayReserve) return reserveOrBlock(parts, ledger, { task, rows });
  else return LEFT;
  return { verdict: { kind: 'blocked' }, writes: ledger.close() };
}

/**
 * What an earlier try of this unit has committed unseen. On a shared store another host may have reserved:
 * whose it is nobody can tell, so at worst an attempt is spent without its call.
 */
function earlierTry(
  { store }: EngineParts,
  found: TaskRecord,
  { task, tries }: { readonly task: TaskRecord; readonly tries: number },
): Decision<Reserved> | undefined {
  if (tries === 0 || !wasReserved(found, task)) return undefined;
  return store.traits.exclusive ? { verdict: { kind: 'reserved', task }, writes: [] } : LEFT;
}

const LEFT: Decision<Reserved> = { verdict: { kind: 'left' }, writes: [] };

function wasReserved(found: TaskRecord, task: TaskRecord): boolean {
  const isNext = task.recoveryLifetimeAttempts === found.recoveryLifetimeAttempts + 1;
  return isNext && task.recoveryOutcome === 'reserved' && task.version === found.version + 1;
}

/** An assessment spends of its task's budgets, for a turn that they allow: checked before the spend (T-7). */
function reserveOrBlock(
  { options }: EngineParts,
  ledger: Ledger,
  { task, rows }: { readonly task: TaskRecord; readonly rows: Rows<RecoveryReads> },
): Decision<Reserved> {
  const detail = exhaustedForTurn(task);
  if (detail !== undefined) {
    const params = { detail, grant: grantFor(task, detail) };
    blockTask(ledger, { before: task, task }, rows, { reason: 'budget_exhausted', params });
    return { verdict: { kind: 'blocked' }, writes: ledger.close() };
  }
  const row = reserveAttempt(task, ledger.at.now, options.recovery.spacingMs);
  ledger.add({ write: 'task.save', row });
  const { recoveryEpoch: epoch, recoveryAttempts: attempt, recoveryNextAt: nextAt } = row;
  const data = { epoch, attempt, lifetime: row.recoveryLifetimeAttempts, nextAt };
  const runId = rows.run?.id ?? null;
  ledger.event('assessment.reserved', { taskId: task.id, runId, data });
  return { verdict: { kind: 'reserved', task: row }, writes: ledger.close() };
}
