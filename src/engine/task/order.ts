import { isOwn, mayOrder } from '../../core/task/decide.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { HostId, MessageId, OutboxId } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Decision, Read, Rows, Unit } from '../../ports/store.ts';
import { AUDIT_TAIL, auditWrite } from '../audit/append.ts';
import type { EngineParts, Ordered, TaskOrder } from '../engine.ts';
import { closeCommand, commandReads, type CommandReads } from '../inbox/answer-unit.ts';
import {
  addReceipt,
  judgeReceipt,
  receiptReads,
  receiptUse,
  type ReceiptUse,
} from '../inbox/receipt.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { addMoved } from './move.ts';

/** An order as it reaches its unit. */
export interface GivenOrder extends TaskOrder {
  readonly hostId: HostId;
  /** The command that ordered it, said where the task is: answered by the same commit (W-3). */
  readonly commandId?: MessageId;
}

/** What the decision about an order may look at, in the task's conversation. */
export interface OrderRows {
  readonly task: TaskRecord;
  readonly messages: readonly MessageRecord[];
  /** The turn that has the conversation, of this task or another. */
  readonly turn: TurnRecord | undefined;
  readonly run: RunRecord | undefined;
}

/** What is special about one kind of order. */
export interface OrderKind {
  /** `task.resume`, …: of the unit, the receipt and the audit entry. */
  readonly name: string;
  /** Given by an admin alone, it is an admin action about an own task too. */
  readonly admin: boolean;
  /** The task's next record, or why not. Pure, as everything in a unit. */
  readonly judge: (rows: OrderRows, now: Instant) => TaskRecord | Refusal;
  /** Adds what goes with it. The entry that it gives is the answer of the command, else `says` is. */
  readonly act: (ledger: Ledger, rows: OrderRows, next: TaskRecord) => OutboxId | undefined;
  /** What the person who typed the command is answered. */
  readonly says: (next: TaskRecord, now: Instant) => string;
  /** What the order changed, for the log of admin actions. */
  readonly shows: (task: TaskRecord) => JsonObject;
}

type OrderReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly run: Read<'run.ofTask'>;
  readonly receipt: Read<'receipt.byScope'>;
  readonly last?: Read<'audit.last'>;
} & CommandReads;

/**
 * Commits an order about one task with its events, its receipt, its entry in the log of admin actions
 * and the answer of its command, all or nothing. A receipt that was used gives its first outcome.
 */
export async function commitOrder(
  parts: EngineParts,
  order: GivenOrder,
  kind: OrderKind,
): Promise<Ordered | Refusal> {
  const task = await parts.store.query('task.byId', { id: order.taskId });
  if (task === undefined) return refuse('not_found', { id: order.taskId });
  const { name } = kind;
  const receipt = receiptUse(parts, order, { order: name, subjectId: task.id });
  const isAdmins = kind.admin || isAdminAct(order, task);
  return settle(parts, () => orderUnit(parts, { order, kind, receipt, isAdmins }, task));
}

/** Whether an order about somebody else's task is one that only an admin may give. */
export function isAdminAct({ principal }: Pick<TaskOrder, 'principal'>, task: TaskRecord): boolean {
  return principal.isAdmin && !isOwn(task, principalName(principal));
}

interface Giving {
  readonly order: GivenOrder;
  readonly kind: OrderKind;
  readonly receipt: ReceiptUse;
  readonly isAdmins: boolean;
}

function orderUnit(
  parts: EngineParts,
  giving: Giving,
  { id, conversationId }: TaskRecord,
): Unit<OrderReads, Ordered | Refusal> {
  const { commandId } = giving.order;
  return {
    name: giving.kind.name,
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id } },
      messages: { read: 'message.openOfTask', args: { conversationId, taskId: id } },
      turn: { read: 'turn.ofConversation', args: { conversationId } },
      run: { read: 'run.ofTask', args: { taskId: id } },
      ...receiptReads(giving.receipt),
      ...commandReads(commandId),
      ...(giving.isAdmins ? AUDIT_TAIL : {}),
    },
    decide: (rows, at) => {
      const { conversation, task } = rows;
      if (conversation === undefined || task === undefined)
        return { verdict: refuse('not_found', { id }), writes: [] };
      const used = judgeReceipt(giving.receipt, rows.receipt);
      if (used !== undefined) {
        const verdict = used.kind === 'refused' ? used : orderedBefore(task, used);
        return { verdict, writes: [] };
      }
      // Another host has answered the command with a refusal.
      if (rows.command?.state === 'done')
        return { verdict: { kind: 'ordered', task, repeated: true }, writes: [] };
      const { order, kind } = giving;
      const next = mayOrder(task, order.principal)
        ? kind.judge({ ...rows, task }, at.now)
        : refuse('forbidden', { id });
      if ('kind' in next) return { verdict: next, writes: [] };
      const ledger = new Ledger(conversation, at, principalName(order.principal));
      return carryOut(parts, giving, { ledger, rows: { ...rows, task }, next });
    },
  };
}

function carryOut(
  parts: EngineParts,
  { order, kind, receipt, isAdmins }: Giving,
  decided: {
    readonly ledger: Ledger;
    readonly rows: Rows<OrderReads> & { readonly task: TaskRecord };
    readonly next: TaskRecord;
  },
): Decision<Ordered> {
  const { ledger, rows, next } = decided;
  const { task } = rows;
  if (next.state === task.state) ledger.add({ write: 'task.save', row: next });
  else {
    const wait = next.waitKind === null ? {} : { data: { wait: next.waitKind } };
    addMoved(ledger, task, next, { runId: rows.run?.id ?? null, ...wait });
  }
  const answerId = kind.act(ledger, rows, next);
  if (order.commandId !== undefined) {
    const answer = answerId ?? { text: kind.says(next, ledger.at.now) };
    closeCommand(ledger, { id: order.commandId, conversationId: task.conversationId }, answer);
  }
  addReceipt(ledger, receipt, taskOutcome(next));
  if (isAdmins) {
    const { principal, channel } = order;
    const action = { at: ledger.at.now, principal: principalName(principal), channel };
    const change = { before: kind.shows(task), after: kind.shows(next) };
    const entry = { ...action, ...change, action: kind.name, subjectId: task.id };
    ledger.add(auditWrite(parts, rows.last, entry));
  }
  const verdict: Ordered = { kind: 'ordered', task: next, repeated: false };
  return { verdict, writes: ledger.close() };
}

/** What an order made of a task, for its receipt: all but the mandate, which never changes (T-5). */
export function taskOutcome(task: TaskRecord): JsonObject {
  const kept = Object.entries(task).filter(([field]) => !field.startsWith('mandate'));
  return Object.fromEntries<Json>(kept);
}

function orderedBefore(
  task: TaskRecord,
  { outcome, repeated }: { readonly outcome: JsonObject; readonly repeated: boolean },
): Ordered {
  return { kind: 'ordered', task: restored(task, outcome), repeated };
}

/** The task as the receipt's outcome has it. */
export function restored(task: TaskRecord, outcome: JsonObject): TaskRecord {
  return { ...task, ...(outcome as Partial<TaskRecord>) };
}
