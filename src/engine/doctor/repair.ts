import { isSilent } from '../../core/recovery/orders.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId, HostId, TaskId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Decision, Rows, Unit } from '../../ports/store.ts';
import { commitLoneEntry } from '../audit/entry.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from '../audit/append.ts';
import type { EngineParts, Repaired } from '../engine.ts';
import { mendFences } from './fences.ts';
import { blockUsedUp } from '../recovery/block.ts';
import { recoveryReads, type RecoveryReads } from '../recovery/reserve.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';

export interface RepairOrder {
  readonly principal: Principal;
  readonly channel: string;
  readonly hostId: HostId;
  /** Told where a notice was committed, for whoever listens there. */
  readonly onTold?: (conversationId: ConversationId) => void;
}

const REASON = 'recovery_assessment_failed';
/** Silent tasks that one look brings in. */
const BATCH = 100;

/**
 * Gives each `current` task that stands still without a reason `recovery_assessment_failed` and its one
 * notice, each in a commit of its own with its entry in the log of admin actions, then mends fences that
 * do not fit their maintenance (M-8) and closes the files that are open to others. Given again, or after it was cut in between, it does what is left.
 */
export async function repair(parts: EngineParts, order: RepairOrder): Promise<Repaired | Refusal> {
  if (!order.principal.isAdmin) return refuse('forbidden', { who: 'admin' });
  const tasks: TaskId[] = [];
  for (;;) {
    const silent = await parts.store.query('task.silent', { limit: BATCH });
    let repaired = 0;
    for (const task of silent) {
      if (!(await settle(parts, () => repairUnit(parts, order, task)))) continue;
      tasks.push(task.id);
      order.onTold?.(task.conversationId);
      repaired += 1;
    }
    // What a look could not change the next one could not either.
    if (silent.length < BATCH || repaired === 0) break;
  }
  const fences = await mendFences(parts, order);
  return { kind: 'repaired', tasks, fences, files: await mendFiles(parts, order) };
}

type RepairReads = RecoveryReads & AuditTail;

function repairUnit(
  parts: EngineParts,
  order: RepairOrder,
  found: TaskRecord,
): Unit<RepairReads, boolean> {
  return {
    name: 'task.repair',
    reads: { ...recoveryReads(found), ...AUDIT_TAIL },
    decide: (rows, at) => {
      const { conversation, task } = rows;
      // Somebody has moved it since, or an earlier try of this commit has.
      if (conversation === undefined || task === undefined || !isSilent(task))
        return { verdict: task?.reason === REASON, writes: [] };
      const ledger = new Ledger(conversation, at, principalName(order.principal));
      return carryOut(parts, order, { ledger, rows, task });
    },
  };
}

function carryOut(
  parts: EngineParts,
  { principal, channel }: RepairOrder,
  {
    ledger,
    rows,
    task,
  }: {
    readonly ledger: Ledger;
    readonly rows: Rows<RepairReads>;
    readonly task: TaskRecord;
  },
): Decision<boolean> {
  const next = blockUsedUp(ledger, { before: task, task: usedUp(task) }, rows);
  const { recoveryEpoch: epoch, recoveryAttempts: attempts } = next;
  const lifetime = next.recoveryLifetimeAttempts;
  ledger.event('recovery.state', {
    taskId: task.id,
    runId: rows.run?.id ?? null,
    data: { recovery: 'needed', epoch, attempts, lifetime, by: 'repair' },
  });
  const entry = {
    at: ledger.at.now,
    principal: principalName(principal),
    channel,
    action: 'task.repair',
    subjectId: task.id,
    before: shown(task),
    after: shown(next),
  };
  ledger.add(auditWrite(parts, rows.last, entry));
  return { verdict: true, writes: ledger.close() };
}

/**
 * As after a third attempt whose outcome nobody learned: all of them count as used, so that `/budget-reset`
 * opens it.
 */
function usedUp(task: TaskRecord): TaskRecord {
  const { recoveryAttempts: before, recoveryLifetimeAttempts: lifetime } = task;
  const attempts = Math.max(before, LIMITS.recoveryAttempts);
  return {
    ...task,
    recoveryState: 'needed',
    recoveryGrantedAt: null,
    recoveryAttempts: attempts,
    recoveryLifetimeAttempts: lifetime + attempts - before,
    recoveryOutcome: 'reserved',
  };
}

/** What a repair changes, for the log of admin actions. */
function shown({ state, reason, waitKind, recoveryAttempts }: TaskRecord): JsonObject {
  return { state, reason, waitKind, recoveryAttempts };
}

/** The entry comes first: files know nothing of commits. */
async function mendFiles(parts: EngineParts, order: RepairOrder): Promise<readonly string[]> {
  const { premises } = parts;
  const { loose } = (await premises?.examine()) ?? { loose: [] };
  if (premises === undefined || loose.length === 0) return [];
  const { principal, channel, hostId: subjectId } = order;
  const open = loose.map(({ path }) => path);
  const change = { before: { open }, after: { open: [] } };
  await commitLoneEntry(parts, { principal, channel, action: 'files.mend', subjectId, ...change });
  return premises.mend();
}
