import { readCommand, type Command } from '../../core/inbox/command.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderRefusal } from '../../text/render.ts';
import { sayAnswered } from '../approval/answer.ts';
import { sayEnrolled } from '../boundary/enrol.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import { beginFresh } from '../session/fresh.ts';
import { chooseModel } from '../session/choose-model.ts';
import { settle } from '../settle.ts';
import { sayExtended } from '../task/extend.ts';
import type { GivenOrder } from '../task/order.ts';
import { sayReassessed, sayReset, type Speaking } from '../task/reset.ts';
import { readSafeMode } from '../task/safe-mode-hold.ts';
import { sayResumed, type GivenResume } from '../task/resume.ts';
import { giveAdmission } from './admit-answer.ts';
import { answerUnit } from './answer-unit.ts';
import { answerCommand } from './answers.ts';
import type { CommandHost } from './order-host.ts';
import { senderOf } from './sender.ts';
import { handleStop } from './stop-command.ts';
import { findApproval, findTask } from './subject.ts';

/** Whether a person's message is a command; only ever asked of their own words (W-4). */
export function isCommandText(text: string): boolean {
  return readCommand(text) !== undefined;
}

/**
 * Answers a command that was accepted: without a model, on its own path beside the turns (W-3). A second
 * call after a crash gives the same answer or finds it given: the message itself is the receipt (M-7).
 */
export async function handleCommand(host: CommandHost, message: MessageRecord): Promise<void> {
  const command = readCommand(message.text);
  if (command === undefined) return answerRefusal(host, message, UNKNOWN);
  if (command.kind === 'stop') return handleStop(host, message, command);
  if (isTaskCommand(command)) return orderTask(host, message, command);
  if (isApprovalCommand(command)) return answerApproval(host, message, command);
  if (command.kind === 'admit')
    return answer(host.parts, message, await giveAdmission(host, message, command));
  if (command.kind === 'model') return choose(host, message, command.name);
  if (isHostCommand(command)) return orderHost(host, message, command);
  const { parts, hostId } = host;
  const principal = senderOf(message);
  if (command.kind === 'fresh') return beginFresh(parts, { command: message, principal, hostId });
  const { conversationId } = message;
  const health = host.health();
  const text = await answerCommand(parts, { command, conversationId, principal, health });
  await answer(parts, message, text);
}

type TaskCommand = Extract<
  Command,
  { readonly kind: 'pause' | 'resume' | 'budget_reset' | 'extend' }
>;
type ApprovalCommand = Extract<Command, { readonly kind: 'approve' | 'deny' }>;
type HostCommand = Extract<Command, { readonly kind: 'clock_confirm' | 'safe_mode_off' }>;

const UNKNOWN: Refusal = { kind: 'refused', code: 'unknown_command', detail: {} };

function isTaskCommand(command: Command): command is TaskCommand {
  return ['pause', 'resume', 'budget_reset', 'extend'].includes(command.kind);
}

function isHostCommand(command: Command): command is HostCommand {
  return command.kind === 'clock_confirm' || command.kind === 'safe_mode_off';
}

function isApprovalCommand(command: Command): command is ApprovalCommand {
  return command.kind === 'approve' || command.kind === 'deny';
}

async function choose(host: CommandHost, message: MessageRecord, name: string): Promise<void> {
  const verdict = await chooseModel(host.parts, message, name);
  if (verdict !== 'answered') await answerRefusal(host, message, verdict);
}

/** Of the host itself: the log of admin actions says who gave it. */
async function orderHost(
  host: CommandHost,
  message: MessageRecord,
  { kind }: HostCommand,
): Promise<void> {
  const { parts, orders } = host;
  const order = { principal: senderOf(message), channel: message.channel };
  const isClock = kind === 'clock_confirm';
  const verdict = await (isClock ? orders.confirmClock(order) : orders.endSafeMode(order));
  if (verdict.kind === 'refused') return answerRefusal(host, message, verdict);
  const { answers } = catalogueOf(parts.options.locale);
  await answer(parts, message, isClock ? answers.clockConfirmed : answers.safeModeEnded);
}

async function orderTask(
  host: CommandHost,
  message: MessageRecord,
  command: TaskCommand,
): Promise<void> {
  const { parts } = host;
  const found = await findTask(parts, message, command.id);
  if (found.kind === 'refused') return answerRefusal(host, message, found);
  const isHere = found.conversationId === message.conversationId;
  const order = { taskId: found.id, ...givenBy(message, isHere) };
  const isHeld = command.kind === 'resume' && !isHere && (await isHistory(parts, found.id));
  const { conversationId, channel } = message;
  const verdict = await giveOrder(host, command, { ...order, saidIn: { conversationId, channel } });
  if (verdict.kind === 'refused') return answerRefusal(host, message, verdict);
  if (isHere) return;
  // The order answers the command in its own commit, but only where it was said (O-9).
  const said = { ...command, isHeld };
  const speaking = { ...parts, safeModeUntil: await readSafeMode(parts) };
  await answer(parts, message, sayOrdered(speaking, said, verdict.task));
}

function giveOrder(
  { orders }: CommandHost,
  command: TaskCommand,
  { saidIn, ...order }: Omit<GivenResume, 'hostId' | 'late'>,
): Promise<Ordered | Refusal> {
  switch (command.kind) {
    case 'pause':
      return orders.pause(order);
    case 'resume':
      return orders.resume({ ...order, saidIn, late: command.late });
    case 'budget_reset':
      return orders.resetBudget(order);
    case 'extend':
      return orders.extend({ ...order, grant: command.grant });
  }
}

async function isHistory({ store }: EngineParts, id: TaskId): Promise<boolean> {
  const task = await store.query('task.byId', { id });
  return task?.enrollment === 'held-legacy' && !hasEnded(task.state);
}

async function answerApproval(
  host: CommandHost,
  message: MessageRecord,
  { kind: decision, id }: ApprovalCommand,
): Promise<void> {
  const { parts } = host;
  const found = await findApproval(parts, message, id);
  if (found.kind === 'refused') return answerRefusal(host, message, found);
  const isHere = found.conversationId === message.conversationId;
  const order = { approvalId: found.id, decision, ...givenBy(message, isHere) };
  const verdict = await host.orders.answer(order);
  if (verdict.kind === 'refused') return answerRefusal(host, message, verdict);
  if (!isHere) await answer(parts, message, sayAnswered(parts, verdict));
}

/** Who orders through a command: the receipt is the message's own id (M-7). */
function givenBy(message: MessageRecord, isHere: boolean): Omit<GivenOrder, 'taskId' | 'hostId'> {
  const { id, channel } = message;
  const given = { principal: senderOf(message), channel, receiptId: id };
  return isHere ? { ...given, commandId: id } : given;
}

function sayOrdered(
  parts: EngineParts & Speaking,
  command: TaskCommand & { readonly isHeld: boolean },
  task: TaskRecord,
): string {
  const now = parts.clock.now();
  if (command.kind === 'extend') return sayExtended(parts, task, now);
  if (command.kind === 'budget_reset') return sayReset(parts, task, now);
  if (command.kind === 'resume') return sayWoken(parts, command, task);
  const words = catalogueOf(parts.options.locale);
  return words.answers.paused(quoteRequest(words, task.mandateText));
}

/** A resume is one new turn, late or not, or an assessment first. */
function sayWoken(
  parts: EngineParts & Speaking,
  { late, isHeld }: { readonly late: boolean; readonly isHeld: boolean },
  task: TaskRecord,
): string {
  const now = parts.clock.now();
  if (isHeld) return sayEnrolled(parts, task, now);
  if (task.waitKind === 'assessment') return sayReassessed(parts, task, now);
  if (!late) return sayResumed(parts, task);
  const words = catalogueOf(parts.options.locale);
  return words.answers.resumedLate(quoteRequest(words, task.mandateText));
}

async function answerRefusal(
  { parts }: CommandHost,
  message: MessageRecord,
  { code, detail }: Refusal,
): Promise<void> {
  const text = renderRefusal(parts.options, code, detail, parts.clock.now());
  await answer(parts, message, text);
}

async function answer(parts: EngineParts, message: MessageRecord, text: string): Promise<void> {
  await settle(parts, () => answerUnit(message, text, { drops: false }));
}
