import { countSpent, moveTask } from '../../core/task/decide.ts';
import type { TaskReason, TaskState } from '../../core/task/moves.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnEnd, TurnRecord } from '../../core/turn/record.ts';
import type { MessageId, OutboxId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import { CORRECTIVES } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice, queueText } from '../outbox/queue.ts';
import { endRun } from '../run/end.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { requestOf } from '../task/mandate.ts';
import { addSelected, holds, type StepPair } from './advance.ts';
import { finishedStep, startedStep, type Spent, type StepEnd } from './step.ts';

/** How the model loop came to its end. */
export type Ending =
  | { readonly kind: 'answered'; readonly text: string }
  | {
      readonly kind: 'failed';
      readonly reason: 'model_refused' | 'model_unavailable';
      readonly code: string;
      readonly said: string;
    }
  /** Neither an answer nor a call (T-8), or no progress (T-19). */
  | { readonly kind: 'invalid'; readonly why: 'empty' | 'nonsense' | 'cut_off' | 'no_progress' };

/** `continued`: what arrived for the task was claimed, the turn goes on with a new model call (T-11). */
export type Ended =
  | { readonly kind: 'ended' }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'continued'; readonly started: StepRecord };

export interface TurnEnding {
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly end: StepEnd;
  readonly selected: StepPair['selected'];
  readonly ending: Ending;
  /** What the turn's model calls spent, this step included. */
  readonly spent: Spent;
}

/** Saves the last step, the task's next state, the last word and the run's end in one commit (O-1, T-16). */
export async function endTurn(parts: EngineParts, order: TurnEnding): Promise<Ended> {
  const correctionId = parts.ids.next('message');
  return settle(parts, (tries) => endUnit(parts, { ...order, correctionId }, tries));
}

type EndOrder = TurnEnding & { readonly correctionId: MessageId };

type EndReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly turn: Read<'turn.byId'>;
  readonly messages: Read<'message.openOfTask'>;
  readonly run?: Read<'run.byId'>;
  readonly last?: Read<'step.lastOf'>;
};
/** Of a turn that exists, so do its conversation and its task. */
type EndRows = Rows<EndReads> & {
  readonly conversation: ConversationRecord;
  readonly task: TaskRecord;
  readonly turn: TurnRecord;
};

function endUnit(parts: EngineParts, order: EndOrder, tries: number): Unit<EndReads, Ended> {
  const { id: turnId, conversationId, taskId } = order.turn;
  return {
    name: 'turn.end',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id: taskId } },
      turn: { read: 'turn.byId', args: { id: turnId } },
      messages: { read: 'message.openOfTask', args: { conversationId, taskId } },
      ...(order.turn.runId === null
        ? {}
        : { run: { read: 'run.byId', args: { id: order.turn.runId } } }),
      ...(tries === 0 ? {} : { last: { read: 'step.lastOf', args: { conversationId, turnId } } }),
    },
    decide: (found, at) => {
      const { conversation, task, turn } = found;
      if (conversation === undefined || task === undefined || turn === undefined) {
        return { verdict: { kind: 'fenced' }, writes: [] };
      }
      const rows: EndRows = { ...found, conversation, task, turn };
      const earlier = judgeEarlier(order, rows);
      if (earlier !== undefined) return { verdict: earlier, writes: [] };
      const ledger = new Ledger(rows.conversation, at, `host:${order.turn.hostId}`);
      ledger.add({ write: 'step.finish', row: finishedStep(ledger, order.step, order.end) });
      addSelected(ledger, order.turn, order.selected);
      const verdict = conclude(parts, ledger, order, rows);
      return { verdict, writes: ledger.close() };
    },
  };
}

function judgeEarlier(order: EndOrder, rows: EndRows): Ended | undefined {
  if (rows.turn.state === 'ended' && rows.turn.end !== 'interrupted' && rows.turn.end !== 'stopped')
    return { kind: 'ended' };
  if (!holds(rows.conversation, order.turn)) return { kind: 'fenced' };
  return rows.last !== undefined && rows.last.ordinal > order.step.ordinal
    ? { kind: 'continued', started: rows.last }
    : undefined;
}

function conclude(parts: EngineParts, ledger: Ledger, order: EndOrder, rows: EndRows): Ended {
  const joined = rows.messages.filter((message) => message.state === 'unclaimed');
  const { ending } = order;
  if (ending.kind === 'answered') {
    return joined.length > 0
      ? goOn(ledger, order, joined)
      : answer(ledger, order, { ...rows, text: ending.text });
  }
  if (ending.kind === 'failed') return fail(ledger, order, rows, ending);
  // What a person said meanwhile is the next turn's input: a reply is a way out (W-7).
  if (joined.some((message) => message.kind === 'genuine')) return leave(ledger, order, rows, 0);
  return rows.task.correctionsUsed < LIMITS.correctiveTurnsMax
    ? correct(ledger, order, rows, { parts, why: ending.why })
    : block(ledger, order, rows, ending.why);
}

function goOn(ledger: Ledger, order: EndOrder, joined: readonly MessageRecord[]): Ended {
  const { turn } = order;
  const messageIds = joined.map((message) => message.id);
  const { taskId, id: turnId, runId } = turn;
  const event = ledger.event('turn.continued', { taskId, turnId, runId, data: { messageIds } });
  for (const id of messageIds) {
    ledger.add({ write: 'message.claim', id, taskId, turnId, claimedSeq: event.seq });
  }
  const started = startedStep(ledger, turn, { ordinal: order.step.ordinal + 1, kind: 'model' });
  ledger.add({ write: 'step.insert', row: started });
  return { kind: 'continued', started };
}

function answer(ledger: Ledger, order: EndOrder, rows: EndRows & { readonly text: string }): Ended {
  const { conversationId, taskId, id: turnId, runId } = order.turn;
  const key = `reply:${turnId}`;
  const replyId = queueText(ledger, {
    conversationId,
    key,
    kind: 'reply',
    text: rows.text,
    subjectId: taskId,
    taskId,
    runId,
  });
  closeMessages(ledger, rows.messages, replyId);
  save(ledger, order, rows, { to: 'completed', reason: 'answered' });
  endRun(ledger, rows.run, { state: 'completed', code: null, outcomeId: replyId });
  return finish(ledger, order, 'answered');
}

function fail(
  ledger: Ledger,
  order: EndOrder,
  rows: EndRows,
  ending: Extract<Ending, { kind: 'failed' }>,
): Ended {
  const { reason, code } = ending;
  const params = { detail: code, said: ending.said.slice(0, LIMITS.providerWordsMax) };
  const noticeId = tell(ledger, order, rows, { level: 'info', code: reason, params });
  closeMessages(ledger, rows.messages, noticeId);
  save(ledger, order, rows, { to: 'failed', reason, data: params });
  endRun(ledger, rows.run, { state: 'failed', code: reason, outcomeId: noticeId });
  return finish(ledger, order, 'failed');
}

function block(ledger: Ledger, order: EndOrder, rows: EndRows, why: string): Ended {
  const reason = why === 'no_progress' ? 'no_progress' : 'no_outcome';
  const noticeId = tell(ledger, order, rows, {
    level: 'blocked',
    code: reason,
    params: { detail: why },
  });
  closeMessages(ledger, rows.messages, noticeId);
  save(ledger, order, rows, { to: 'blocked', reason, data: { detail: why } });
  endRun(ledger, rows.run, { state: 'failed', code: reason, outcomeId: noticeId });
  return finish(ledger, order, 'invalid');
}

/**
 * One corrective turn (T-8, T-19): a generated input of the same task that quotes the request, since
 * another message of the conversation may stand before it. The person's stays claimed until its answer.
 */
function correct(
  ledger: Ledger,
  order: EndOrder,
  rows: EndRows,
  { parts, why }: { readonly parts: EngineParts; readonly why: string },
): Ended {
  const { conversationId, taskId, runId, hostId } = order.turn;
  const id = order.correctionId;
  const event = ledger.event('message.accepted', { taskId, runId, data: { messageId: id } });
  const said = CORRECTIVES[why === 'no_progress' ? 'no_progress' : 'no_outcome'];
  const text = `${said}\n\n> ${requestOf(rows.task)}`;
  ledger.add({
    write: 'message.insert',
    row: {
      id,
      conversationId,
      seq: event.seq,
      channel: 'host',
      externalId: id,
      kind: 'generated',
      principal: `host:${hostId}`,
      authority: 'own',
      text,
      bodyHash: parts.digest(text),
      replyTo: null,
      state: 'unclaimed',
      taskId,
      runId,
      turnId: null,
      claimedSeq: null,
      answerId: null,
      at: ledger.at.now,
    },
  });
  return leave(ledger, order, rows, 1);
}

/** Ends a turn that led nowhere and leaves its task active, for the input that comes next. */
function leave(ledger: Ledger, order: EndOrder, { task }: EndRows, corrections: number): Ended {
  const counted = countSpent(task, order.spent);
  const row = {
    ...counted,
    version: counted.version + 1,
    correctionsUsed: counted.correctionsUsed + corrections,
    changedAt: ledger.at.now,
  };
  ledger.add({ write: 'task.save', row });
  return finish(ledger, order, 'invalid');
}

function tell(
  ledger: Ledger,
  order: EndOrder,
  { task }: EndRows,
  notice: {
    readonly level: 'info' | 'blocked';
    readonly code: string;
    readonly params: JsonObject;
  },
): OutboxId {
  const { conversationId, taskId, runId } = order.turn;
  const params = {
    request: requestOf(task),
    taskId,
    ...notice.params,
  };
  const key = `notice:${taskId}:${task.version + 1}`;
  const { level, code } = notice;
  return queueNotice(ledger, {
    conversationId,
    key,
    level,
    code,
    params,
    subjectId: taskId,
    taskId,
    runId,
  });
}

function closeMessages(
  ledger: Ledger,
  messages: readonly MessageRecord[],
  answerId: OutboxId,
): void {
  for (const { id } of messages) ledger.add({ write: 'message.done', id, answerId });
}

function save(
  ledger: Ledger,
  order: EndOrder,
  { task }: EndRows,
  move: { readonly to: TaskState; readonly reason: TaskReason; readonly data?: JsonObject },
): void {
  invariant(task.state === 'active', 'a turn runs only for an active task');
  const { to, reason } = move;
  const outcome = move.data === undefined ? {} : { outcomeData: JSON.stringify(move.data) };
  const moved = moveTask(countSpent(task, order.spent), {
    to,
    reason,
    now: ledger.at.now,
    ...outcome,
  });
  ledger.add({ write: 'task.save', row: moved });
  const { id: turnId, runId } = order.turn;
  ledger.event('task.moved', { taskId: task.id, turnId, runId, from: task.state, to, reason });
}

function finish(ledger: Ledger, order: EndOrder, end: TurnEnd): Ended {
  const { id, taskId, runId } = order.turn;
  ledger.hold(null);
  ledger.add({ write: 'turn.end', id, end, endedAt: ledger.at.now });
  ledger.event('turn.ended', { taskId, turnId: id, runId, data: { end } });
  return { kind: 'ended' };
}
