import { goesOnWithAnswer, judgeAnswer } from '../../core/approval/decide.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import { cutName, quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import { AUDIT_TAIL, auditWrite } from '../audit/append.ts';
import type { ApprovalAnswered, ApprovalOrder, EngineParts } from '../engine.ts';
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
import { addMoved } from '../task/move.ts';
import { isAdminAct } from '../task/order.ts';
import { generateFor, type GeneratedInput } from '../inbox/generate.ts';
import { closeApproval } from './close.ts';

export interface GivenAnswer extends ApprovalOrder {
  readonly hostId: HostId;
  /** The command that gave it, said where the task is. */
  readonly commandId?: MessageId;
  /** While the clock is not believed nothing is too late (design principle 8). */
  readonly isClockTrusted: boolean;
}

/** What was answered, and the task as it then stands. */
export interface Answer extends ApprovalAnswered {
  readonly task: TaskRecord;
}

type AnswerReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly approval: Read<'approval.byId'>;
  readonly task: Read<'task.byId'>;
  readonly run: Read<'run.ofTask'>;
  readonly receipt: Read<'receipt.byScope'>;
  readonly last?: Read<'audit.last'>;
} & CommandReads;

type Found = Rows<AnswerReads> & {
  readonly approval: ApprovalRecord;
  readonly task: TaskRecord;
};

/**
 * Answers an approval, once (E-4): its record, one generated input by which the host runs the call or the
 * model learns of the denial, and the task that waited for it goes on, in one commit. The state of a
 * task that waits for something else stays as it is, and the input is kept for its next turn.
 */
export async function commitAnswer(
  parts: EngineParts,
  order: GivenAnswer,
): Promise<Answer | Refusal> {
  const { approvalId: id } = order;
  const approval = await parts.store.query('approval.byId', { id });
  const task = approval && (await parts.store.query('task.byId', { id: approval.taskId }));
  if (approval === undefined || task === undefined) return refuse('not_found', { id });
  const name = `approval.${order.decision}`;
  const giving: Giving = {
    order,
    receipt: receiptUse(parts, order, { order: name, subjectId: id }),
    inputId: parts.ids.next('message'),
    isAdmins: isAdminAct(order, task),
  };
  return settle(parts, () => answerUnit(parts, giving, approval));
}

/** What whoever typed the command is answered: it names the tool (E-4). */
export function sayAnswered(
  { options }: Pick<EngineParts, 'options'>,
  { approval, task }: Pick<Answer, 'approval' | 'task'>,
): string {
  const words = catalogueOf(options.locale);
  const request = quoteRequest(words, task.mandateText);
  const facts = { tool: `\`${cutName(approval.tool)}\``, request };
  if (approval.state !== 'approved')
    return words.answers[approval.kind === 'uncertain' ? 'deniedAgain' : 'denied'](facts);
  if (task.state === 'active') return words.answers.approved(facts);
  return task.reason === 'interrupted'
    ? words.answers.approvedForInterrupted({ ...facts, stop: `\`/stop ${task.id}\`` })
    : words.answers.approvedForLater(facts);
}

interface Giving {
  readonly order: GivenAnswer;
  readonly receipt: ReceiptUse;
  readonly inputId: MessageId;
  readonly isAdmins: boolean;
}

function answerUnit(
  parts: EngineParts,
  giving: Giving,
  { id, conversationId, taskId }: ApprovalRecord,
): Unit<AnswerReads, Answer | Refusal> {
  const { order, receipt, isAdmins } = giving;
  const { commandId } = order;
  return {
    name: 'approval.answer',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      approval: { read: 'approval.byId', args: { id } },
      task: { read: 'task.byId', args: { id: taskId } },
      run: { read: 'run.ofTask', args: { taskId } },
      ...receiptReads(receipt),
      ...commandReads(commandId),
      ...(isAdmins ? AUDIT_TAIL : {}),
    },
    decide: (rows, at) => {
      const { conversation, approval, task } = rows;
      if (conversation === undefined || approval === undefined || task === undefined)
        return { verdict: refuse('not_found', { id }), writes: [] };
      const earlier = judgeEarlier(giving, { ...rows, approval, task });
      if (earlier !== undefined) return { verdict: earlier, writes: [] };
      const now = order.isClockTrusted ? at.now : null;
      const refused = judgeAnswer(approval, task, { principal: order.principal, now });
      if (refused !== undefined) return { verdict: refused, writes: [] };
      const ledger = new Ledger(conversation, at, principalName(order.principal));
      return answerWrites(parts, giving, { ledger, rows: { ...rows, approval, task }, at });
    },
  };
}

/** The outcome of an order that was given before; undefined when this one is new. */
function judgeEarlier({ receipt }: Giving, rows: Found): Answer | Refusal | undefined {
  const { approval, task, command } = rows;
  const used = judgeReceipt(receipt, rows.receipt);
  if (used?.kind === 'refused') return used;
  if (used === undefined && command?.state !== 'done') return undefined;
  const outcome = (used?.outcome ?? {}) as Partial<ApprovalRecord>;
  const repeated = used?.repeated ?? true;
  const answered = { ...approval, ...outcome };
  return { kind: 'answered', approval: answered, runs: runsOf(answered, task), task, repeated };
}

function answerWrites(
  parts: EngineParts,
  { order, receipt, inputId, isAdmins }: Giving,
  decided: { readonly ledger: Ledger; readonly rows: Found; readonly at: At },
): Decision<Answer> {
  const { ledger, rows, at } = decided;
  const name = principalName(order.principal);
  const state = order.decision === 'approve' ? 'approved' : 'denied';
  const approval = closeApproval(ledger, rows.approval, state, name);
  const task = goOn(ledger, rows);
  const about = { task, run: rows.run, hostId: order.hostId };
  generateFor(parts, ledger, about, inputOf(inputId, approval));
  const { commandId } = order;
  if (commandId !== undefined) {
    const text = sayAnswered(parts, { approval, task });
    closeCommand(ledger, { id: commandId, conversationId: task.conversationId }, { text });
  }
  addReceipt(ledger, receipt, endOf(approval));
  if (isAdmins) {
    const change = { before: endOf(rows.approval), after: endOf(approval) };
    const entry = { at: at.now, principal: name, channel: order.channel, ...change };
    const action = { ...entry, action: receipt.order, subjectId: approval.id };
    ledger.add(auditWrite(parts, rows.last, action));
  }
  const runs = runsOf(approval, task);
  const verdict: Answer = { kind: 'answered', approval, runs, task, repeated: false };
  return { verdict, writes: ledger.close() };
}

function runsOf({ state }: ApprovalRecord, task: TaskRecord): Answer['runs'] {
  if (state !== 'approved') return null;
  return task.state === 'active' || hasEnded(task.state) ? 'now' : 'later';
}

/** A task that waited for an approval is active, for this one or another; every other stays as it stands. */
function goOn(
  ledger: Ledger,
  { task, run }: { readonly task: TaskRecord; readonly run: RunRecord | undefined },
): TaskRecord {
  if (!goesOnWithAnswer(task)) return task;
  const moved = moveTask(task, { to: 'active', reason: null, now: ledger.at.now });
  addMoved(ledger, task, moved, { runId: run?.id ?? null });
  return moved;
}

/** An approved call is an input of a channel of its own: the turn that claims it runs the call first. */
function inputOf(id: MessageId, { id: externalId, state, kind }: ApprovalRecord): GeneratedInput {
  const { approved, denied, denied_again: deniedAgain } = ORDER_INPUTS;
  if (state === 'approved')
    return { id, channel: HOST_CHANNELS.approval, externalId, text: approved };
  const text = kind === 'uncertain' ? deniedAgain : denied;
  return { id, channel: HOST_CHANNELS.wake, externalId, text };
}

function endOf({ state, decidedBy, decidedAt }: ApprovalRecord): JsonObject {
  return { state, decidedBy, decidedAt };
}
