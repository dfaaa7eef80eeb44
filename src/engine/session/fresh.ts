import type { ApprovalRecord } from '../../core/approval/record.ts';
import { isFenced } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import { mayOrder, moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId, SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import { cutName, quoteRequest } from '../../text/quote.ts';
import { renderRefusal } from '../../text/render.ts';
import { sayWhen } from '../../text/when.ts';
import { AUDIT_TAIL, type AuditTail } from '../audit/append.ts';
import type { EngineParts } from '../engine.ts';
import { closeCommand, mayDrop } from '../inbox/answer-unit.ts';
import { speak, type Speaking } from '../inbox/speaking.ts';
import { shownLines, taskLine } from '../inbox/task-lines.ts';
import { giveUp, goesOver } from '../maintenance/drop.ts';
import { takeOver } from '../maintenance/effects.ts';
import { settle } from '../settle.ts';
import { generateFor, wakeInput } from '../inbox/generate.ts';
import { Ledger } from './ledger.ts';
import { newSession } from './open.ts';

export interface FreshOrder {
  readonly command: MessageRecord;
  readonly principal: Principal;
  readonly hostId: HostId;
}

type FreshReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly command: Read<'message.byId'>;
  readonly unbound: Read<'message.unbound'>;
  readonly open: Read<'task.openOf'>;
  readonly approvals: Read<'approval.openOf'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly operation: Read<'operation.newestOf'>;
} & AuditTail;

/**
 * Begins a fresh session, in one commit with its answer (W-2): what waits unclaimed and may be spoken for
 * is set aside, so that nothing of the old session comes back to life (INC-104). Tasks stay where they
 * are, their turns go on in the session in which they were asked; one that no longer fitted it moves
 * over and starts anew from its request. The answer names what remains. Behind a fence it is an admin's
 * admission to give the maintenance up: what was kept is answered in the new session (M-21).
 */
export async function beginFresh(parts: EngineParts, order: FreshOrder): Promise<void> {
  const sessionId = parts.ids.next('session');
  await settle(parts, () => freshUnit(parts, order, sessionId));
}

function freshUnit(
  parts: EngineParts,
  order: FreshOrder,
  sessionId: SessionId,
): Unit<FreshReads, void> {
  const { id, conversationId, principal } = order.command;
  const limit = LIMITS.listLimitMax;
  return {
    name: 'session.fresh',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      command: { read: 'message.byId', args: { id } },
      unbound: { read: 'message.unbound', args: { conversationId, limit: LIMITS.stopAllMax } },
      open: { read: 'task.openOf', args: { conversationId, limit } },
      approvals: { read: 'approval.openOf', args: { conversationId, limit } },
      turn: { read: 'turn.ofConversation', args: { conversationId } },
      operation: { read: 'operation.newestOf', args: { conversationId } },
      ...AUDIT_TAIL,
    },
    decide: (rows, at) => {
      const { conversation, command, unbound } = rows;
      if (conversation === undefined || command === undefined || command.state === 'done')
        return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, principal);
      const dropped = isFenced(conversation) ? rows.operation : undefined;
      if (dropped !== undefined && !order.principal.isAdmin) {
        const text = renderRefusal(parts.options, 'fenced', { id: dropped.id }, at.now);
        closeCommand(ledger, { id, conversationId }, { text });
        return { verdict: undefined, writes: ledger.close() };
      }
      openFence(parts, ledger, order, { ...rows, conversation, dropped });
      startOver(ledger, conversation, sessionId);
      const tasks = rows.open.map((task) =>
        goesOver(task, dropped)
          ? takeOver(ledger, task, sessionId)
          : moveOver(parts, ledger, { task, order, sessionId }),
      );
      // What was kept behind a fence is answered in the new session (M-21).
      const set = dropped === undefined ? unbound.filter((one) => mayDrop(one, command)) : [];
      const said = { ...rows, open: tasks, isGivenUp: dropped !== undefined };
      const text = sayFresh(speak(parts, at.now), said, set.length);
      const answerId = closeCommand(ledger, { id, conversationId }, { text });
      for (const message of set) ledger.add({ write: 'message.done', id: message.id, answerId });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}

/** Whatever stood before the old session says nothing of the new one (M-21). */
function openFence(
  parts: EngineParts,
  ledger: Ledger,
  order: FreshOrder,
  rows: Rows<AuditTail> & {
    readonly conversation: ConversationRecord;
    readonly dropped: OperationRecord | undefined;
  },
): void {
  const { conversation, dropped } = rows;
  if (dropped !== undefined) giveUp(parts, ledger, order, { ...rows, operation: dropped });
  else if (conversation.fence !== 'none') ledger.fence('none', null);
}

/** Ends the session of the conversation and begins the next. */
function startOver(
  ledger: Ledger,
  { id: conversationId, sessionId: before }: ConversationRecord,
  sessionId: SessionId,
): void {
  const { now } = ledger.at;
  ledger.add({ write: 'session.end', id: before, endedAt: now });
  const { seq: firstSeq } = ledger.event('session.started', { data: { sessionId } });
  const row = newSession({ id: sessionId, conversationId, firstSeq }, now);
  ledger.add(
    { write: 'session.insert', row },
    { write: 'conversation.session', id: conversationId, sessionId },
  );
}

/** A task that did not fit the old session goes on in the new one, where its request is said again. */
function moveOver(
  parts: EngineParts,
  ledger: Ledger,
  about: {
    readonly task: TaskRecord;
    readonly order: FreshOrder;
    readonly sessionId: SessionId;
  },
): TaskRecord {
  const { task, order, sessionId } = about;
  const isTooLarge = task.state === 'blocked' && task.reason === 'base_too_large';
  if (!isTooLarge || !mayOrder(task, order.principal)) return task;
  const move = { to: 'active', reason: null, now: ledger.at.now } as const;
  const moved = { ...moveTask(task, move), sessionId };
  ledger.add({ write: 'task.save', row: moved });
  ledger.event('task.moved', { taskId: task.id, from: task.state, to: 'active', reason: null });
  const wake = wakeInput(ledger.at.ids.next('message'), moved, '');
  const input = { ...wake, text: `${ORDER_INPUTS.fresh}\n\n${task.mandateText}` };
  // Its run, if it had one, ended when it was blocked.
  generateFor(parts, ledger, { task: moved, run: undefined, hostId: order.hostId }, input);
  return moved;
}

function sayFresh(
  speaking: Speaking,
  rows: Rows<FreshReads> & { readonly isGivenUp: boolean },
  dropped: number,
): string {
  const { answers, maintenance } = speaking.words;
  const retained = sayRetained(speaking, rows).join('\n');
  const fresh = answers.newSession({ retained });
  const said = rows.isGivenUp ? `${fresh}\n${maintenance.givenUp}` : fresh;
  return dropped === 0 ? said : `${said}\n${answers.setAside(String(dropped))}`;
}

/** Tasks with what they wait for, then open approvals: the first of them, then a count (W-2). */
function sayRetained(
  speaking: Speaking,
  { open, approvals, turn }: Rows<FreshReads>,
): readonly string[] {
  const isWhole = Math.max(open.length, approvals.length) < LIMITS.listLimitMax;
  const lines = [
    ...open.map((task) => () => taskLine(speaking, task, { turn, doing: null })),
    ...approvals.map((approval) => () => approvalLine(speaking, approval, open)),
  ];
  return shownLines(speaking.words, lines, { isWhole });
}

function approvalLine(
  { words, reader, now }: Speaking,
  { id, tool, taskId, expiresAt }: ApprovalRecord,
  tasks: readonly TaskRecord[],
): string {
  const task = tasks.find((one) => one.id === taskId);
  return words.answers.retainedApproval({
    tool: `\`${cutName(tool)}\``,
    request: quoteRequest(words, task?.mandateText ?? ''),
    id,
    when: sayWhen(reader, words, expiresAt, now),
  });
}
