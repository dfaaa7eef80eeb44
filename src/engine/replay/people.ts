import type { ApprovalId, ConversationId, OperationId, RunId, TaskId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { Engine } from '../engine.ts';
import { dataIn, wordIn, type Entry } from './entry.ts';
import type { Names } from './names.ts';
import type { Recording } from './recording.ts';

/** What a person gives again: to which host, in whose names, and from which commit of the record. */
export interface Giving {
  readonly engine: Engine;
  readonly recording: Recording;
  readonly names: Names;
  /** The entries of the commit that it led to, its first one first. */
  readonly group: readonly Entry[];
}

/** What came of it. */
export type Given = Promise<Refusal | { readonly kind: string }>;

/** Whether a person, or a program with a key, wrote this entry. */
export function isPersons({ by }: Entry): boolean {
  return by !== null && !/^(?:host|model):/.test(by);
}

/**
 * Gives again what a person gave: the conversation itself, a message, a run, or an order. Undefined for what
 * nobody can give again.
 */
export function giveAgain(giving: Giving): Given | undefined {
  const { group } = giving;
  const [first] = group;
  const types = new Set(group.map(({ type }) => type));
  if (types.has('run.queued')) return giveRun(giving);
  if (first?.type === 'conversation.created') return giveConversation(giving);
  if (first?.type === 'message.accepted') return giveMessage(giving);
  return giveOrder(giving);
}

function giveConversation({ engine, recording, group }: Giving): Given {
  const { id, agent, channel, address } = recording.conversation;
  const principal = principalOf(group[0]?.by ?? '', true);
  return engine
    .openConversation({
      channel,
      agent,
      principal,
      ...(address === id ? {} : { address }),
    })
    .then(() => ({ kind: 'opened' }));
}

function messageIn({ recording, group }: Giving): MessageRecord | undefined {
  const accepted = group.find(({ type }) => type === 'message.accepted');
  const { messageId } = dataIn(accepted);
  return recording.message.find(({ id }) => id === messageId);
}

function giveMessage(giving: Giving): Given | undefined {
  const { engine, names, recording } = giving;
  const message = messageIn(giving);
  if (message === undefined) return undefined;
  const principal = principalOf(message.principal, message.authority === 'admin');
  const text = names.translate(message.text);
  const runId = message.runId === null ? undefined : names.own(message.runId);
  if (runId !== undefined) return engine.messageRun({ runId: runId as RunId, text, principal });
  const { externalId, replyTo, id } = message;
  return engine.acceptMessage({
    conversationId: ownConversation(names, recording),
    text,
    principal,
    ...(replyTo === null ? {} : { replyTo: names.translate(replyTo) }),
    ...(externalId === id ? {} : { externalId }),
  });
}

function giveRun(giving: Giving): Given | undefined {
  const { engine, names, recording, group } = giving;
  const message = messageIn(giving);
  const run = recording.run.find(({ id }) => id === message?.runId);
  if (message === undefined || run === undefined) return undefined;
  const opens = group.some(({ type }) => type === 'conversation.created');
  const { metadata, callbackUrl } = run;
  return engine.acceptRun({
    input: names.translate(message.text),
    principal: principalOf(message.principal, message.authority === 'admin'),
    ...(opens ? {} : { conversationId: ownConversation(names, recording) }),
    ...(metadata === null ? {} : { metadata }),
    ...(callbackUrl === null ? {} : { callbackUrl }),
  });
}

function ownConversation(names: Names, { conversation }: Recording): ConversationId {
  return (names.own(conversation.id) ?? conversation.id) as ConversationId;
}

/** An order that came through the API or the command line: what it wrote says what it was. */
function giveOrder(giving: Giving): Given | undefined {
  const { group } = giving;
  const by = { principal: principalOf(group[0]?.by ?? '', true), channel: 'api' };
  const decided = entryOf(group, 'approval.decided');
  if (decided !== undefined && !endsTask(group)) return answerAgain(giving, decided, by);
  const admitted = entryOf(group, 'operation.admitted');
  if (admitted !== undefined) return admitAgain(giving, admitted, by);
  const about = group.find(({ facts }) => facts['taskId'] !== null);
  const taskId = giving.names.own(wordIn(about?.facts, 'taskId')) as TaskId | undefined;
  return taskId === undefined ? undefined : orderAgain(giving, { taskId, ...by });
}

function entryOf(group: readonly Entry[], type: string): Entry | undefined {
  return group.find((entry) => entry.type === type);
}

function answerAgain(
  { engine, names }: Giving,
  decided: Entry,
  by: Pick<Order, 'principal' | 'channel'>,
): Given {
  const data = dataIn(decided);
  const approvalId = names.own(wordIn(data, 'approvalId')) as ApprovalId;
  const decision = data['state'] === 'approved' ? 'approve' : 'deny';
  return engine.answerApproval({ approvalId, decision, ...by });
}

function orderAgain(giving: Giving, order: Order): Given | undefined {
  const { engine, group } = giving;
  if (entryOf(group, 'task.extended') !== undefined) return extendAgain(giving, order);
  if (entryOf(group, 'recovery.reset') !== undefined) return engine.resetBudget(order);
  return moveAgain(giving, order);
}

type Order = Parameters<Engine['stopTask']>[0];

function endsTask(group: readonly Entry[]): boolean {
  return group.some(({ type, facts }) => type === 'task.moved' && ENDS.has(wordIn(facts, 'to')));
}
const ENDS: ReadonlySet<string> = new Set(['stopped', 'cancelled']);

function moveAgain({ engine, names, group }: Giving, order: Order): Given | undefined {
  const moved = group.find(({ type }) => type === 'task.moved' || type === 'recovery.state');
  const to = wordIn(moved?.facts, 'to');
  const runId = names.own(wordIn(moved?.facts, 'runId'));
  if (to === 'stopped') return engine.stopTask(order);
  if (to === 'paused') return engine.pauseTask(order);
  if (to === 'cancelled')
    return runId === undefined
      ? undefined
      : engine.cancelRun({ runId: runId as RunId, principal: order.principal });
  if (moved === undefined) return undefined;
  return engine
    .resumeTask(order)
    .then((answer) =>
      answer.kind === 'refused' ? engine.resumeTask({ ...order, late: true }) : answer,
    );
}

/** What was granted is the difference of the bounds after it and before it. */
async function extendAgain({ engine, group }: Giving, order: Order): Given {
  const task = await engine.store.query('task.byId', { id: order.taskId });
  const after = dataIn(group.find(({ type }) => type === 'task.extended'));
  const grant =
    task === undefined
      ? {}
      : {
          turns: grown(after['turnsLimit'], task.turnsLimit),
          tokens: grown(after['tokensLimit'], task.tokensLimit),
          costMicroUsd: grown(after['costLimit'], task.costLimit),
          continuations: grown(after['continuationsLimit'], task.continuationsLimit),
          ...deadlineOf(after['deadline'], task),
        };
  return engine.extendTask({ ...order, grant });
}

function grown(after: Json | undefined, before: number): number {
  return typeof after === 'number' ? after - before : 0;
}

function deadlineOf(after: Json | undefined, { deadline }: TaskRecord) {
  return typeof after === 'number' && after !== deadline ? { deadline: { at: after } } : {};
}

async function admitAgain(
  { engine, names }: Giving,
  admitted: Entry,
  by: Pick<Order, 'principal' | 'channel'>,
): Given {
  const { kind } = dataIn(admitted);
  const own = names.own(wordIn(dataIn(admitted), 'operationId')) as OperationId;
  const operation = await engine.store.query('operation.byId', { id: own });
  if (operation === undefined) return { kind: 'gone' };
  return engine.admit({
    operationId: own,
    expectedVersion: operation.version,
    receiptId: `replay ${admitted.seq}`,
    ...(kind === operation.kind ? {} : { as: 'handover' }),
    ...by,
  });
}

const KINDS = ['admin', 'member', 'guest', 'key', 'host', 'model'] as const;

/** Who a record's name of a principal means. */
function principalOf(name: string, isAdmin: boolean): Principal {
  const place = name.indexOf(':');
  const kind = KINDS.find((known) => known === name.slice(0, place)) ?? 'member';
  return { kind, id: name.slice(place + 1), isAdmin };
}
