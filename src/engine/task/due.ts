import { waitsForIt } from '../../core/approval/decide.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { judgeDue, judgeReturn, type Absence, type DueVerdict } from '../../core/task/wait.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, ConversationId, HostId, MessageId, TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { blockElapsed, expireApproval, expireTask } from './expire.ts';
import { interruptTask } from './interrupt.ts';
import { wakeTask } from './wake.ts';

/** Whose host looks, and what it knows of the time before its start. */
export interface DueHost {
  readonly parts: EngineParts;
  readonly hostId: HostId;
  readonly absence: Absence;
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
}

type DueReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
  readonly approvals: Read<'approval.openOfTask'>;
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
      const turn = carryOut(host, order, { ledger, rows: found, judged });
      return { verdict: { verdict: judged, turn }, writes: ledger.close() };
    },
  };
}

const LEFT = { verdict: { verdict: 'leave', turn: undefined }, writes: [] } as const;

function judge(
  { absence }: DueHost,
  { approvalId }: DueOrder,
  found: {
    readonly rows: DueRows;
    readonly limiter: LimiterRecord | undefined;
    readonly now: Instant;
  },
): DueMove['verdict'] {
  const { rows, limiter, now } = found;
  const { task, approvals } = rows;
  const judged =
    limiter === undefined
      ? judgeDue(task, now, absence)
      : judgeReturn(task, limiter, { now, absence });
  const approval = approvals.find(({ id, expiresAt }) => id === approvalId && expiresAt <= now);
  if (judged !== 'leave' || approval === undefined) return judged;
  return waitsForIt(task, approval) ? 'block' : 'approval_expired';
}

function carryOut(
  host: DueHost,
  order: DueOrder & { readonly inputId: MessageId },
  decided: {
    readonly ledger: Ledger;
    readonly rows: DueRows;
    readonly judged: Exclude<DueMove['verdict'], 'leave'>;
  },
): TurnRecord | undefined {
  const { ledger, rows, judged } = decided;
  const { parts, hostId } = host;
  const { inputId: id, approvalId, isScout = false } = order;
  if (judged === 'expire') return expireTask(ledger, rows, hostId);
  if (judged === 'block') blockElapsed(ledger, rows, { hostId, approvalId });
  // A wait that the host did not see through: no call of it was running.
  if (judged === 'interrupt')
    interruptTask(ledger, rows.task, {
      runId: rows.run?.id ?? null,
      tools: [],
      absent: absentOf(rows.task, host.absence),
    });
  if (judged === 'wake') wakeTask(parts, ledger, rows, { id, hostId, isScout });
  if (judged === 'approval_expired') expireApproval(ledger, rows, { hostId, approvalId });
  return undefined;
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
