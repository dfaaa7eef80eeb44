import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { ConversationRecord, EventRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { isObject, readObject, type JsonObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';

/** One place of a conversation's history: an event, or the start or finish of a step. */
export interface Entry {
  readonly seq: number;
  readonly at: Instant;
  /** The type of the event, or `model.started` and its like. */
  readonly type: string;
  /** Its id, which other records may name. */
  readonly id: string;
  /** Who wrote it; null of a step, which its turn's host writes. */
  readonly by: string | null;
  /** What was decided. */
  readonly facts: JsonObject;
  /** What was said or asked with it, where its record was made with it. */
  readonly said: JsonObject | null;
}

/** The data of an entry's event; empty where it has none. */
export function dataIn(entry: Pick<Entry, 'facts'> | undefined): JsonObject {
  const data = entry?.facts['data'];
  return isObject(data) ? data : {};
}

/** A text in an object; empty where there is none of this name. */
export function wordIn(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === 'string' ? value : '';
}

/** Records that come with events, by what the events call them. */
export interface Companions {
  readonly outbox: (id: string) => OutboxRecord | undefined;
  readonly message: (id: string) => MessageRecord | undefined;
  readonly approval: (id: string) => ApprovalRecord | undefined;
  readonly task: (id: string) => TaskRecord | undefined;
  readonly opened: () => ConversationRecord | undefined;
}

/** An event as it is compared. */
export function eventEntry(event: EventRecord, companions: Companions): Entry {
  const { seq, at, type, id, by, taskId, turnId, runId, fromState, toState, reason } = event;
  const data = readObject(event.data);
  const facts = { by, taskId, turnId, runId, from: fromState, to: toState, reason, data };
  return { seq, at, type, id, by, facts, said: saidWith(event, data, companions) };
}

export function startEntry(step: StepRecord): Entry {
  const { seq, startedAt: at, kind, id, turnId, taskId, runId, ordinal } = step;
  const { tool, callId, repeatable, input } = step;
  const facts = { turnId, taskId, runId, ordinal, tool, callId, repeatable, input };
  return { seq, at, type: `${kind}.started`, id, by: null, facts, said: null };
}

/** Undefined of a step that has no outcome yet. */
export function finishEntry(step: StepRecord): Entry | undefined {
  const { finishedSeq: seq, finishedAt: at, finishedId, kind, turnId, ordinal, state } = step;
  if (seq === null || at === null) return undefined;
  const { output, errorCode, provider, model, inputTokens, outputTokens, cost } = step;
  // How a model call was cut is a matter of milliseconds: before it went out, or after.
  const isCut = kind === 'model' && state === 'cut';
  const end = isCut ? {} : { output, errorCode };
  const came = { ...end, provider, model, inputTokens, outputTokens, cost };
  const facts = { turnId, ordinal, state, ...came };
  return { seq, at, type: `${kind}.finished`, id: finishedId ?? '', by: null, facts, said: null };
}

function saidWith({ type, taskId }: EventRecord, data: JsonObject, of: Companions) {
  switch (type) {
    case 'conversation.created':
      return placeOf(of.opened());
    case 'message.accepted':
      return inputOf(of.message(wordIn(data, 'messageId')));
    case 'task.created':
      return mandateOf(of.task(taskId ?? ''));
    case 'approval.asked':
      return questionOf(of.approval(wordIn(data, 'approvalId')));
    default:
      return speechOf(of.outbox(wordIn(data, 'outboxId')));
  }
}

function placeOf(opened: ConversationRecord | undefined): JsonObject | null {
  if (opened === undefined) return null;
  const { id, agent, channel, address } = opened;
  return { id, agent, channel, address };
}

function inputOf(message: MessageRecord | undefined): JsonObject | null {
  if (message === undefined) return null;
  const { kind, channel, externalId, principal, authority, text, replyTo } = message;
  return { kind, channel, externalId, principal, authority, text, replyTo };
}

function mandateOf(task: TaskRecord | undefined): JsonObject | null {
  if (task === undefined) return null;
  const { mandateText, mandatePrincipal, mandateAuthority, mandateOrigin, agent } = task;
  return { mandateText, mandatePrincipal, mandateAuthority, mandateOrigin, agent };
}

function questionOf(approval: ApprovalRecord | undefined): JsonObject | null {
  if (approval === undefined) return null;
  const { kind, tool, input, shown, approver, requestedBy } = approval;
  return { kind, tool, input, shown, approver, requestedBy };
}

/** Answers to commands tell of the whole installation and of the hour: that one was given is what counts. */
function speechOf(entry: OutboxRecord | undefined): JsonObject | null {
  if (entry === undefined) return null;
  const { kind, level, code, taskId, runId, subjectId } = entry;
  const about = { kind, level, code, taskId, runId, subjectId };
  if (kind === 'answer') return about;
  return { ...about, params: readObject(entry.params), text: entry.text };
}
