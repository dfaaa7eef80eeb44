import type { ApprovalRecord } from '../../core/approval/record.ts';
import { judgeOrder, mayOrder, moveTask } from '../../core/task/decide.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import { withdraw } from '../approval/close.ts';
import { AUDIT_TAIL, auditWrite } from '../audit/append.ts';
import type { EngineParts, Stopped } from '../engine.ts';
import { closeCommand, commandReads, type CommandReads } from '../inbox/answer-unit.ts';
import { closeAll } from '../inbox/close.ts';
import {
  addReceipt,
  judgeReceipt,
  receiptReads,
  receiptUse,
  type ReceiptUse,
} from '../inbox/receipt.ts';
import { endRun } from '../run/end.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { nameOf } from '../turn/step.ts';
import { runningTurn, takeTurn } from '../turn/take.ts';
import { addMoved } from './move.ts';
import { isAdminAct, restored, taskOutcome, type GivenOrder } from './order.ts';
import { tellReason } from './tell.ts';

export interface StopUnitOrder extends GivenOrder {
  readonly to: 'stopped' | 'cancelled';
}

export type StopVerdict = (Stopped & { readonly turn: TurnRecord | undefined }) | Refusal;

type StopReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly open: Read<'step.open'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly approvals: Read<'approval.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
  readonly receipt?: Read<'receipt.byScope'>;
  readonly last?: Read<'audit.last'>;
} & CommandReads;

type StopRows = Rows<StopReads> & {
  readonly task: TaskRecord;
  readonly conversation: ConversationRecord;
};

interface Stopping {
  readonly order: StopUnitOrder;
  /** Of an order that came with one: an ended task tells by itself that it was stopped. */
  readonly receipt: ReceiptUse | undefined;
  readonly isAdmins: boolean;
  readonly tries: number;
}

/**
 * Stops one task (W-1). Committed before anything is interrupted: the task has its end, its turn has
 * lost its token and is `stopping`, its messages, its approvals and its run are closed, one notice says so.
 */
export async function commitStop(parts: EngineParts, order: StopUnitOrder): Promise<StopVerdict> {
  const task = await parts.store.query('task.byId', { id: order.taskId });
  if (task === undefined) return refuse('not_found', { id: order.taskId });
  const about = { order: `task.${verbOf(order)}`, subjectId: task.id };
  const receipt = order.receiptId === undefined ? undefined : receiptUse(parts, order, about);
  const isAdmins = isAdminAct(order, task);
  return settle(parts, (tries) => stopUnit(parts, { order, receipt, isAdmins, tries }, task));
}

function verbOf({ to }: StopUnitOrder): string {
  return to === 'stopped' ? 'stop' : 'cancel';
}

function stopUnit(
  parts: EngineParts,
  stopping: Stopping,
  task: TaskRecord,
): Unit<StopReads, StopVerdict> {
  const { id } = task;
  return {
    name: 'task.stop',
    reads: stopReads(stopping, task),
    decide: (found, at) => {
      if (found.task === undefined || found.conversation === undefined)
        return refusal(refuse('not_found', { id }));
      const rows: StopRows = { ...found, task: found.task, conversation: found.conversation };
      const earlier = judgeEarlier(stopping, rows);
      if (earlier !== undefined) return { verdict: earlier, writes: [] };
      const refused = judgeStop(stopping.order, rows.task);
      if (refused !== undefined) return refusal(refused);
      return stopWrites(parts, stopping, rows, at);
    },
  };
}

function stopReads(
  { order: { commandId }, receipt, isAdmins }: Stopping,
  { id, conversationId }: TaskRecord,
): StopReads {
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    task: { read: 'task.byId', args: { id } },
    turn: { read: 'turn.ofConversation', args: { conversationId } },
    open: { read: 'step.open', args: { conversationId } },
    messages: { read: 'message.openOfTask', args: { conversationId, taskId: id } },
    approvals: { read: 'approval.openOfTask', args: { taskId: id } },
    run: { read: 'run.ofTask', args: { taskId: id } },
    ...(receipt === undefined ? {} : receiptReads(receipt)),
    ...commandReads(commandId),
    ...(isAdmins ? AUDIT_TAIL : {}),
  };
}

/** What an earlier order under the same receipt, or an unseen try of this one, has come to. */
function judgeEarlier(stopping: Stopping, rows: StopRows): StopVerdict | undefined {
  const { receipt } = stopping;
  const used = receipt && judgeReceipt(receipt, rows.receipt);
  if (used?.kind === 'refused') return used;
  if (used?.repeated === true) return stoppedAtFirst(rows.task, used.outcome);
  const isDone = used !== undefined || wasStopped(stopping, rows);
  return isDone ? stoppedBefore(rows, rows.task) : undefined;
}

function wasStopped({ order, tries }: Stopping, { command, task }: StopRows): boolean {
  return command?.state === 'done' || (tries > 0 && task.state === order.to);
}

function judgeStop(order: StopUnitOrder, task: TaskRecord): Refusal | undefined {
  const { principal } = order;
  if (!mayOrder(task, principal)) return refuse('forbidden', { id: task.id });
  return judgeOrder(task, order.to, order.expectedVersion);
}

function stopWrites(
  parts: EngineParts,
  stopping: Stopping,
  rows: StopRows,
  at: At,
): Decision<StopVerdict> {
  const { order, receipt } = stopping;
  const { task } = rows;
  const ledger = new Ledger(rows.conversation, at, principalName(order.principal));
  const turn = runningTurn(rows.turn, task.id);
  const running = rows.open.filter((step) => step.turnId === turn?.id).map(nameOf);
  const reason = order.to === 'stopped' ? 'stopped_by_person' : 'cancelled_by_caller';
  const moved = moveTask(task, { to: order.to, reason, now: at.now });
  const runId = rows.run?.id ?? null;
  addMoved(ledger, task, moved, { runId });
  if (turn !== undefined) takeTurn(ledger, turn);
  const { version } = moved;
  const noticeId = tellReason(ledger, task, { reason, version, runId, params: { tools: running } });
  closeAll(ledger, rows.messages, noticeId);
  withdraw(ledger, rows.approvals, order.hostId);
  endRun(ledger, rows.run, { state: 'cancelled', code: order.to, outcomeId: noticeId });
  const { commandId: id } = order;
  const { conversationId } = task;
  if (id !== undefined) closeCommand(ledger, { id, conversationId }, noticeId);
  if (receipt !== undefined) addReceipt(ledger, receipt, { ...taskOutcome(moved), running });
  if (stopping.isAdmins) ledger.add(auditOf(parts, order, rows, moved));
  return { verdict: stopped(moved, turn, running), writes: ledger.close() };
}

/** The entry of a stop that an admin gave about somebody else's task. */
function auditOf(
  parts: EngineParts,
  order: StopUnitOrder,
  { task, last, approvals }: StopRows,
  moved: TaskRecord,
): ReturnType<typeof auditWrite> {
  return auditWrite(parts, last, {
    at: moved.changedAt,
    principal: principalName(order.principal),
    channel: order.channel,
    action: `task.${verbOf(order)}`,
    subjectId: task.id,
    before: shown(task, approvals),
    after: shown(moved, []),
  });
}

function shown({ state, reason }: TaskRecord, open: readonly ApprovalRecord[]): JsonObject {
  return { state, reason, openApprovals: open.map(({ id }) => id) };
}

/** The first outcome of a receipt. */
function stoppedAtFirst(task: TaskRecord, outcome: JsonObject): StopVerdict {
  const { running, ...kept } = outcome;
  const names = Array.isArray(running) ? running.map(String) : [];
  return { ...stopped(restored(task, kept), undefined, names), repeated: true };
}

/** An earlier try has stopped it: what runs of it is interrupted all the same. */
function stoppedBefore({ turn, open }: Rows<StopReads>, task: TaskRecord): StopVerdict {
  if (turn?.taskId !== task.id || turn.state !== 'stopping') return stopped(task, undefined, []);
  return stopped(task, turn, open.filter((step) => step.turnId === turn.id).map(nameOf));
}

function stopped(
  task: TaskRecord,
  turn: TurnRecord | undefined,
  running: readonly string[],
): Exclude<StopVerdict, Refusal> {
  return { kind: 'stopped', task, turn, running };
}

function refusal(verdict: Refusal): Decision<StopVerdict> {
  return { verdict, writes: [] };
}
