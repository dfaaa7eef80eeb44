import { waitsForIt } from '../../core/approval/decide.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import { isChild } from '../../core/dispatch/decide.ts';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import {
  judgeDue,
  judgeReturn,
  renewWindow,
  type Absence,
  type DueVerdict,
} from '../../core/task/wait.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, ConversationId, HostId, MessageId, TaskId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { blockLate } from '../recovery/block.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { blockElapsed, expireApproval, expireTask } from './expire.ts';
import { interruptTask, keptOf, type Interrupted } from './interrupt.ts';
import { addMoved } from './move.ts';
import { noticeKey, tellOfTask } from './tell.ts';
import { wakeTask } from './wake.ts';

/** Whose host looks, and what it knows of the time before its start. */
export interface DueHost {
  readonly parts: EngineParts;
  readonly hostId: HostId;
  readonly absence: Absence;
  /** False in safe mode: then nothing goes on by itself. */
  readonly mayWake: () => boolean;
}

/** What is looked at, and why: its own due instant, the provider that it waits for, or an approval of it. */
export interface DueOrder {
  readonly taskId: TaskId;
  readonly conversationId: ConversationId;
  readonly account?: string;
  readonly approvalId?: ApprovalId;
  /** It is the one that finds out whether its provider answers again. */
  readonly isScout?: boolean;
}

export interface DueMove {
  readonly verdict: DueVerdict | 'approval_expired';
  /** Of an expired task: it has lost its token and is to be interrupted. */
  readonly turn: TurnRecord | undefined;
}

/** What the decision is made on, in the task's conversation. */
export interface DueRows {
  readonly task: TaskRecord;
  readonly turn: TurnRecord | undefined;
  readonly messages: readonly MessageRecord[];
  readonly run: RunRecord | undefined;
  readonly approvals: readonly ApprovalRecord[];
  /** Executions of the task, the newest. */
  readonly workers: readonly ExecutionRecord[];
}

type DueReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
  readonly approvals: Read<'approval.openOfTask'>;
  readonly workers: Read<'execution.ofTask'>;
  readonly limiter?: Read<'limiter.byAccount'>;
};

/**
 * Commits what a task came to that is due: its end, its return, its assessment or its block, with all
 * that goes with it. What was done before is no longer due, so that doing it again changes nothing.
 */
export async function settleDue(host: DueHost, order: DueOrder): Promise<DueMove> {
  const inputId = host.parts.ids.next('message');
  return settle(host.parts, () => dueUnit(host, { ...order, inputId }));
}

function dueUnit(
  host: DueHost,
  order: DueOrder & { readonly inputId: MessageId },
): Unit<DueReads, DueMove> {
  const { taskId, conversationId, account } = order;
  return {
    name: 'task.due',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id: taskId } },
      turn: { read: 'turn.ofConversation', args: { conversationId } },
      messages: { read: 'message.openOfTask', args: { conversationId, taskId } },
      run: { read: 'run.ofTask', args: { taskId } },
      approvals: { read: 'approval.openOfTask', args: { taskId } },
      workers: { read: 'execution.ofTask', args: { taskId, limit: LIMITS.workersOfTaskMax } },
      ...(account === undefined
        ? {}
        : { limiter: { read: 'limiter.byAccount', args: { account } } }),
    },
    decide: (rows, at) => {
      const { conversation, task } = rows;
      if (conversation === undefined || task === undefined) return LEFT;
      const found: DueRows = { ...rows, task };
      const judged = judge(host, order, { rows: found, limiter: rows.limiter, now: at.now });
      if (judged === 'leave')
        return { verdict: { ...LEFT.verdict, turn: stopping(found) }, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(host.hostId));
      const turn = carryOut({ host, order, ledger, rows: found }, judged);
      return { verdict: { verdict: judged, turn }, writes: ledger.close() };
    },
  };
}

const LEFT = { verdict: { verdict: 'leave', turn: undefined }, writes: [] } as const;

function judge(
  { absence, mayWake }: DueHost,
  { approvalId }: DueOrder,
  found: {
    readonly rows: DueRows;
    readonly limiter: LimiterRecord | undefined;
    readonly now: Instant;
  },
): DueMove['verdict'] {
  const { rows, limiter, now } = found;
  const { task, approvals } = rows;
  // What history asked a person stays as it is too (B-4).
  if (task.enrollment !== 'current') return 'leave';
  const judged =
    limiter === undefined
      ? judgeDue(
          task,
          now,
          absence,
          rows.workers.some((worker) => isChild(worker, task)),
        )
      : judgeReturn(task, limiter, { now, absence });
  if (judged === 'wake' && !mayWake()) return 'leave';
  const approval = approvals.find(({ id, expiresAt }) => id === approvalId && expiresAt <= now);
  if (judged !== 'leave' || approval === undefined) return judged;
  return waitsForIt(task, approval) ? 'block' : 'approval_expired';
}

/** What a verdict is carried out on. */
interface Carrying {
  readonly host: DueHost;
  readonly order: DueOrder & { readonly inputId: MessageId };
  readonly ledger: Ledger;
  readonly rows: DueRows;
}

/** Gives the turn that is to be interrupted: of an expired task. */
function carryOut(
  of: Carrying,
  judged: Exclude<DueMove['verdict'], 'leave'>,
): TurnRecord | undefined {
  if (judged === 'expire') return expireTask(of.ledger, of.rows, of.host.hostId);
  CARRIED[judged](of);
  return undefined;
}

const CARRIED: Readonly<
  Record<Exclude<DueMove['verdict'], 'leave' | 'expire'>, (of: Carrying) => void>
> = {
  block: ({ ledger, rows, host, order }) =>
    blockElapsed(ledger, rows, { hostId: host.hostId, approvalId: order.approvalId }),
  // A wait that the host did not see through: no call of it was running.
  interrupt: ({ ledger, rows, host }) =>
    interrupt(ledger, rows, { tools: [], absent: absentOf(rows.task, host.absence) }),
  reassess: ({ ledger, rows }) => interrupt(ledger, rows, keptOf(rows.task)),
  renew: ({ ledger, rows }) => renew(ledger, rows),
  late: ({ ledger, rows }) => blockLate(ledger, rows.task, rows),
  tell: ({ ledger, rows }) => tellUnreached(ledger, rows),
  wake: ({ ledger, rows, host: { parts, hostId }, order: { inputId: id, isScout = false } }) =>
    wakeTask(parts, ledger, rows, { id, hostId, isScout }),
  approval_expired: ({ ledger, rows, host, order }) =>
    expireApproval(ledger, rows, { hostId: host.hostId, approvalId: order.approvalId }),
};

function interrupt(
  ledger: Ledger,
  { task, run }: DueRows,
  what: Pick<Interrupted, 'tools' | 'absent'>,
): void {
  interruptTask(ledger, task, { runId: run?.id ?? null, ...what });
}

/** A worker of this very task is at work: its window is set again (T-6). */
function renew(ledger: Ledger, { task, run }: DueRows): void {
  const renewed = renewWindow(task, ledger.at.now);
  const data = { wait: renewed.waitKind, until: renewed.waitUntil };
  addMoved(ledger, task, renewed, { runId: run?.id ?? null, data });
}

/** Says once that an assessment has waited for its provider for long; it goes on waiting. */
function tellUnreached(ledger: Ledger, { task, run }: DueRows): void {
  const { now } = ledger.at;
  const { waitId, deadline } = task;
  const wait = { kind: 'provider', id: waitId, until: null } as const;
  const outcomeData = task.outcomeData ?? '{}';
  const moved = moveTask(task, { to: 'waiting', reason: task.reason, now, wait, outcomeData });
  ledger.add({ write: 'task.save', row: { ...moved, changedAt: task.changedAt } });
  const { detail = '' } = readObject(task.outcomeData);
  tellOfTask(ledger, task, {
    runId: run?.id ?? null,
    key: noticeKey(task.id, moved.version),
    level: 'waiting',
    code: 'assessment_unreached',
    params: { detail, deadline },
  });
}

/** Whether its own instant came in the time without a host, or the host that it waited on was lost. */
function absentOf({ waitUntil }: TaskRecord, absence: Absence): 'due' | 'wait' {
  return absence !== null && waitUntil !== null && waitUntil <= absence.until ? 'due' : 'wait';
}

/** An earlier try has ended the task: what runs of it is interrupted all the same. */
function stopping({ task, turn }: Pick<Rows<DueReads>, 'turn'> & DueRows): TurnRecord | undefined {
  const isEnded = task.state === 'expired' && turn?.taskId === task.id;
  return isEnded && turn.state === 'stopping' ? turn : undefined;
}
