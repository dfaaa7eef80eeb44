import type { Spent } from '../../core/budget/spend.ts';
import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import { grantTask, isAssessable, recordOutcome } from '../../core/recovery/decide.ts';
import type { Assessed } from '../../core/recovery/verdict.ts';
import { countSpent, moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { isLate } from '../../core/task/wait.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { cutText } from '../../kernel/printable.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import { RECOVERY_INPUTS } from '../../text/model.ts';
import { withdraw } from '../approval/close.ts';
import type { EngineParts } from '../engine.ts';
import { closeAll } from '../inbox/close.ts';
import { generateFor } from '../inbox/generate.ts';
import { failRun } from '../run/end.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { requestOf } from '../task/mandate.ts';
import { addMoved } from '../task/move.ts';
import { noticeKey, tellOfTask, tellReason } from '../task/tell.ts';
import { blockLate, blockTask, blockUsedUp } from './block.ts';
import { recoveryReads, type RecoveryReads } from './reserve.ts';

/** What a reserved attempt came to. */
export interface Assessment {
  /** The task as its reservation left it. */
  readonly task: TaskRecord;
  readonly assessed: Assessed;
  /** When the provider itself said that it can be asked again. */
  readonly retryAt: Instant | null;
  readonly spent: Spent;
  readonly usage: JsonObject;
}

/** Where the outcome leads its task; `gone`: it has been stopped, reset or assessed by somebody else. */
export type Recorded = 'continued' | 'ended' | 'blocked' | 'waits' | 'gone';

type RecordReads = RecoveryReads & { readonly approvals: Read<'approval.openOfTask'> };

/**
 * Commits what an attempt came to, with all that follows from it: the task goes on, ends, is blocked with
 * its one notice, or waits for its next attempt.
 */
export async function recordAssessment(
  parts: EngineParts,
  assessment: Assessment,
  hostId: HostId,
): Promise<Recorded> {
  const inputId = parts.ids.next('message');
  return settle(parts, () => recordUnit(parts, assessment, { hostId, inputId }));
}

interface By {
  readonly hostId: HostId;
  readonly inputId: MessageId;
}

function recordUnit(
  parts: EngineParts,
  assessment: Assessment,
  by: By,
): Unit<RecordReads, Recorded> {
  const { id: taskId } = assessment.task;
  return {
    name: 'recovery.record',
    reads: {
      ...recoveryReads(assessment.task),
      approvals: { read: 'approval.openOfTask', args: { taskId } },
    },
    decide: (rows, at) => {
      const { conversation, task } = rows;
      const isOurs = task !== undefined && isAwaited(task, assessment.task);
      if (conversation === undefined || !isOurs) return { verdict: 'gone', writes: [] };
      const ledger = new Ledger(conversation, at, hostName(by.hostId));
      const verdict = carryOut({ parts, ledger, rows, before: task, assessment, by });
      return { verdict, writes: ledger.close() };
    },
  };
}

/** Whether this very attempt of the task is still out. */
function isAwaited(task: TaskRecord, reserved: TaskRecord): boolean {
  const isSame = task.recoveryLifetimeAttempts === reserved.recoveryLifetimeAttempts;
  return isSame && task.recoveryOutcome === 'reserved' && isAssessable(task);
}

interface Recording {
  readonly parts: EngineParts;
  readonly ledger: Ledger;
  readonly rows: Rows<RecordReads>;
  /** As the store has it. */
  readonly before: TaskRecord;
  readonly assessment: Assessment;
  readonly by: By;
}

function carryOut(of: Recording): Recorded {
  const { before, assessment } = of;
  const { assessed, retryAt, spent } = assessment;
  const task = recordOutcome(countSpent(before, spent), assessed.outcome, {
    retryAt,
    now: of.ledger.at.now,
  });
  addEnded(of, task);
  switch (assessed.outcome) {
    case 'continue':
      return letGoOn(of, task);
    case 'end':
      return endTask(of, task, assessed.reason);
    case 'inconclusive':
      return block(of, task, assessed.reason);
    case 'failed':
    case 'invalid':
      return miss(of, task, assessed);
  }
}

function addEnded({ ledger, rows, assessment }: Recording, task: TaskRecord): void {
  const { assessed, usage } = assessment;
  const { recoveryEpoch: epoch, recoveryAttempts: attempt, recoveryNextAt: nextAt } = task;
  const why = 'reason' in assessed ? { reason: assessed.reason } : { code: assessed.code };
  const data = { epoch, attempt, outcome: assessed.outcome, ...why, nextAt, ...usage };
  ledger.event('assessment.ended', { taskId: task.id, runId: rows.run?.id ?? null, data });
}

function letGoOn({ parts, ledger, rows, before, by }: Recording, task: TaskRecord): Recorded {
  // Its deadline has passed meanwhile and ends it (T-7): nothing is let go on.
  if (task.deadline !== null && task.deadline <= ledger.at.now) {
    ledger.add({ write: 'task.save', row: { ...task, version: task.version + 1 } });
    return 'waits';
  }
  if (isLate(task, ledger.at.now)) {
    blockLate(ledger, task, rows);
    return 'blocked';
  }
  const moved = grantTask(task, ledger.at.now);
  const runId = rows.run?.id ?? null;
  addMoved(ledger, before, moved, { runId, data: { recovery: moved.recoveryState } });
  generateFor(
    parts,
    ledger,
    { task: moved, run: rows.run, hostId: by.hostId },
    {
      id: by.inputId,
      channel: HOST_CHANNELS.recovery,
      externalId: `${moved.id}:${moved.version}`,
      text: `${RECOVERY_INPUTS.continued}\n\n> ${requestOf(task)}`,
    },
  );
  if (parts.options.recovery.diagnostics)
    diagnose(ledger, moved, { runId, code: 'assessment_continues', params: {} });
  return 'continued';
}

function endTask(
  { ledger, rows, before, by }: Recording,
  task: TaskRecord,
  said: string,
): Recorded {
  const reason = 'ended_by_assessment';
  const params = { said };
  const outcomeData = JSON.stringify(params);
  const moved = moveTask(task, { to: 'failed', reason, now: ledger.at.now, outcomeData });
  const runId = rows.run?.id ?? null;
  addMoved(ledger, before, moved, { runId });
  const noticeId = tellReason(ledger, task, { reason, version: moved.version, runId, params });
  closeAll(ledger, rows.messages, noticeId);
  withdraw(ledger, rows.approvals, by.hostId);
  failRun(ledger, rows.run, reason, noticeId);
  return 'ended';
}

function block({ ledger, rows, before }: Recording, task: TaskRecord, said: string): Recorded {
  const reason = 'recovery_inconclusive';
  blockTask(ledger, { before, task }, rows, { reason, params: { said } });
  return 'blocked';
}

function miss(
  { parts, ledger, rows, before }: Recording,
  task: TaskRecord,
  { code, said }: Extract<Assessed, { readonly code: string }>,
): Recorded {
  const { callMs } = parts.options.recovery;
  const last: JsonObject = {
    detail: code,
    said: cutText(said, LIMITS.providerWordsMax),
    ...(code === 'timeout' ? { callMs } : {}),
  };
  if (task.recoveryAttempts >= LIMITS.recoveryAttempts) {
    blockUsedUp(ledger, { before, task }, rows, last);
    return 'blocked';
  }
  const row = { ...task, version: task.version + 1 };
  ledger.add({ write: 'task.save', row });
  const { recoveryAttempts: attempt, recoveryNextAt: nextAt } = row;
  if (parts.options.recovery.diagnostics)
    diagnose(ledger, row, {
      runId: rows.run?.id ?? null,
      code: 'assessment_missed',
      params: { attempt, ...last, nextAt },
    });
  return 'waits';
}

/** A step of a recovery that is told only where it was asked for. */
function diagnose(
  ledger: Ledger,
  task: TaskRecord,
  step: {
    readonly runId: string | null;
    readonly code: 'assessment_missed' | 'assessment_continues';
    readonly params: JsonObject;
  },
): void {
  const key = noticeKey(task.id, task.version);
  tellOfTask(ledger, task, { ...step, key, level: 'info' });
}
