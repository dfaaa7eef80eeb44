import { judgeOrder, mayOrder, moveTask } from '../../core/task/decide.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { MessageId, OutboxId, TaskId } from '../../kernel/ids.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts, Stopped } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import { endRun } from '../run/end.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { nameOf } from '../turn/step.ts';
import { requestOf } from './mandate.ts';

export interface StopUnitOrder {
  readonly taskId: TaskId;
  readonly principal: Principal;
  readonly to: 'stopped' | 'cancelled';
  readonly expectedVersion?: number;
  /** The command that ordered it: answered by the same commit, so that a crash never stops twice. */
  readonly commandId?: MessageId;
}

export type StopVerdict = (Stopped & { readonly turn: TurnRecord | undefined }) | Refusal;

type StopReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly turn: Read<'turn.ofConversation'>;
  readonly open: Read<'step.open'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly run: Read<'run.ofTask'>;
  readonly command?: Read<'message.byId'>;
};

/**
 * Stops one task (W-1). Committed before anything is interrupted: the task has its end, its turn has
 * lost its token and is `stopping`, its messages and its run are closed, one notice says so.
 */
export async function commitStop(parts: EngineParts, order: StopUnitOrder): Promise<StopVerdict> {
  const task = await parts.store.query('task.byId', { id: order.taskId });
  if (task === undefined) return refuse('not_found', { id: order.taskId });
  return settle(parts, (tries) => stopUnit(order, task, tries));
}

function stopUnit(
  order: StopUnitOrder,
  { id, conversationId }: TaskRecord,
  tries: number,
): Unit<StopReads, StopVerdict> {
  const { commandId } = order;
  return {
    name: 'task.stop',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id } },
      turn: { read: 'turn.ofConversation', args: { conversationId } },
      open: { read: 'step.open', args: { conversationId } },
      messages: { read: 'message.openOfTask', args: { conversationId, taskId: id } },
      run: { read: 'run.ofTask', args: { taskId: id } },
      ...(commandId === undefined
        ? {}
        : { command: { read: 'message.byId', args: { id: commandId } } }),
    },
    decide: (rows, at) => {
      const { task, conversation } = rows;
      if (task === undefined || conversation === undefined)
        return refusal(refuse('not_found', { id }));
      if (rows.command?.state === 'done' || (tries > 0 && task.state === order.to))
        return { verdict: stoppedBefore(rows, task), writes: [] };
      const refused = judgeStop(order, task);
      if (refused !== undefined) return refusal(refused);
      return stopWrites(order, { ...rows, task, conversation }, at);
    },
  };
}

function judgeStop(order: StopUnitOrder, task: TaskRecord): Refusal | undefined {
  const { principal } = order;
  if (!mayOrder(task, principal)) return refuse('forbidden', { id: task.id });
  return judgeOrder(task, order.to, order.expectedVersion);
}

function stopWrites(
  order: StopUnitOrder,
  rows: Rows<StopReads> & { readonly task: TaskRecord; readonly conversation: ConversationRecord },
  at: At,
): Decision<StopVerdict> {
  const { task } = rows;
  const ledger = new Ledger(rows.conversation, at, principalName(order.principal));
  const turn = runningTurn(rows.turn, task);
  const running = rows.open.filter((step) => step.turnId === turn?.id).map(nameOf);
  const reason = order.to === 'stopped' ? 'stopped_by_person' : 'cancelled_by_caller';
  const moved = moveTask(task, { to: order.to, reason, now: at.now });
  const runId = rows.run?.id ?? null;
  ledger.add({ write: 'task.save', row: moved });
  ledger.event('task.moved', { taskId: task.id, runId, from: task.state, to: order.to, reason });
  if (turn !== undefined) takeTurn(ledger, turn);
  const noticeId = tellStopped(ledger, order, { task, moved, runId, running });
  for (const message of rows.messages)
    ledger.add({ write: 'message.done', id: message.id, answerId: noticeId });
  endRun(ledger, rows.run, { state: 'cancelled', code: order.to, outcomeId: noticeId });
  if (order.commandId !== undefined) answerCommand(ledger, order.commandId, noticeId);
  return { verdict: stopped(moved, turn, running), writes: ledger.close() };
}

/** An earlier try has stopped it: what runs of it is interrupted all the same. */
function stoppedBefore({ turn, open }: Rows<StopReads>, task: TaskRecord): StopVerdict {
  if (turn?.taskId !== task.id || turn.state !== 'stopping') return stopped(task, undefined, []);
  return stopped(task, turn, open.filter((step) => step.turnId === turn.id).map(nameOf));
}

function runningTurn(turn: TurnRecord | undefined, task: TaskRecord): TurnRecord | undefined {
  return turn?.taskId === task.id && turn.state === 'running' ? turn : undefined;
}

/** From here the turn may write nothing more; its loop learns it at its next commit. */
function takeTurn(ledger: Ledger, { id, taskId, runId }: TurnRecord): void {
  ledger.takeToken();
  ledger.add({ write: 'turn.stopping', id });
  ledger.event('turn.stopping', { taskId, turnId: id, runId });
}

function tellStopped(
  ledger: Ledger,
  order: StopUnitOrder,
  about: {
    readonly task: TaskRecord;
    readonly moved: TaskRecord;
    readonly runId: string | null;
    readonly running: readonly string[];
  },
): OutboxId {
  const { task, moved, runId, running } = about;
  return queueNotice(ledger, {
    conversationId: task.conversationId,
    key: `notice:${task.id}:${moved.version}`,
    level: 'info',
    code: order.to,
    params: { request: requestOf(task), taskId: task.id, tools: running },
    subjectId: task.id,
    taskId: task.id,
    runId,
  });
}

function answerCommand(ledger: Ledger, commandId: MessageId, answerId: OutboxId): void {
  ledger.add({ write: 'message.done', id: commandId, answerId });
  ledger.event('command.answered', { data: { messageId: commandId, outboxId: answerId } });
}

function stopped(
  task: TaskRecord,
  turn: TurnRecord | undefined,
  running: readonly string[],
): StopVerdict {
  return { kind: 'stopped', task, turn, running };
}

function refusal(verdict: Refusal): Decision<StopVerdict> {
  return { verdict, writes: [] };
}
