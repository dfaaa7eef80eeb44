import { NOTHING_SPENT, type Spent } from '../../core/budget/spend.ts';
import { mayJoin, wakes } from '../../core/inbox/join.ts';
import { HOST_CHANNELS, type MessageRecord } from '../../core/inbox/record.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import { isFenced } from '../../core/maintenance/decide.ts';
import { mayHold, type HostRecord } from '../../core/lease/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, ConversationId, HostId, TaskId, TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import { hostName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import type { Gate } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import { joinMessage, type Joining } from '../inbox/classify.ts';
import { keepMessage } from '../inbox/keep.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { holds } from './advance.ts';
import { approvedFor } from './approved.ts';
import { beginTurn, openedTask } from './begin.ts';
import { blockIfExhausted } from './exhaust.ts';
import { refuseTurn } from './refuse.ts';

/** A turn that this host has, with its first step reserved. */
export interface Claim {
  readonly conversation: ConversationRecord;
  readonly turn: TurnRecord;
  readonly task: TaskRecord;
  readonly firstStep: StepRecord;
  /** False for a claim of an earlier, unseen try that somebody has overtaken since: nothing of it begins. */
  readonly isHeld: boolean;
  /** The approved call that the turn begins with (E-4). */
  readonly approval: ApprovalRecord | undefined;
  /** What was claimed; undefined when the claim was made by an earlier try. */
  readonly inputs?: readonly MessageRecord[];
}

/** What is to be claimed, as it was found before the unit. */
export interface ClaimOrder {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly newTaskId: TaskId;
  readonly hostId: HostId;
  readonly startedAt: Instant;
  readonly generatedSince: Instant;
  readonly head: MessageRecord;
  /** The task that the head belongs to or joins; null makes a new one. */
  readonly taskId: TaskId | null;
  readonly spent: Spent;
}

/**
 * `stale`: what was found has changed, look again. `blocked`: the task's budget forbids the turn (T-7), or its
 * order is late (T-15). `unassessed`: it is interrupted work that only an assessment lets go on.
 */
type Verdict = Claim | 'stale' | 'blocked' | 'unassessed' | undefined;

/**
 * Claims the next input of a conversation: the message is bound to exactly one task, the turn gets the
 * next token and its first step is reserved, in one commit (T-1, T-10). Undefined when there is
 * nothing to claim, another turn has the conversation, or this host's lease has run out.
 */
export async function claimTurn(
  parts: EngineParts,
  gate: Gate,
  order: {
    readonly conversationId: ConversationId;
    readonly turnId: TurnId;
    readonly hostId: HostId;
    /** False once the host drains: what it has not claimed is the next one's (U-1). */
    readonly mayClaim: () => boolean;
    /** Of this host. */
    readonly startedAt: Instant;
    /** Generated inputs that are older stay where they are; 0 takes all. */
    readonly generatedSince: Instant;
    /** A task has come to wait for its assessment instead of taking a turn. */
    readonly onInterrupted: () => void;
  },
): Promise<Claim | undefined> {
  const { conversationId, hostId, mayClaim, generatedSince, onInterrupted } = order;
  for (let looks = 0; looks < LIMITS.lostRacesMax; looks += 1) {
    const args = { conversationId, generatedSince, limit: 1 };
    const [head] = await parts.store.query('message.claimable', args);
    if (head === undefined) return undefined;
    const { join, spent } = await joinOf(parts, gate, head);
    if (!mayClaim()) return undefined;
    if (join.kind === 'keep') {
      await keepMessage(parts, { message: head, taskId: join.taskId, hostId });
      continue;
    }
    const taskId = join.kind === 'join' ? join.taskId : null;
    const newTaskId = parts.ids.next('task');
    const claim: ClaimOrder = { ...order, newTaskId, head, taskId, spent };
    const verdict = await settle(parts, (tries) => claimUnit(parts, claim, tries));
    if (verdict === 'unassessed') onInterrupted();
    if (typeof verdict !== 'string') return verdict;
  }
  return undefined;
}

async function joinOf(parts: EngineParts, gate: Gate, head: MessageRecord): Promise<Joining> {
  if (head.taskId === null) return joinMessage(parts, gate, head);
  return { join: { kind: 'join', taskId: head.taskId }, spent: NOTHING_SPENT };
}

type ClaimReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly inputs: Read<'message.claimable'>;
  readonly task?: Read<'task.byId'>;
  readonly bound?: Read<'message.openOfTask'>;
  readonly run?: Read<'run.ofTask'>;
  readonly approval?: Read<'approval.byId'>;
  readonly turn?: Read<'turn.byId'>;
  readonly step?: Read<'step.lastOf'>;
  readonly host?: Read<'host.byId'>;
};

function claimUnit(
  parts: EngineParts,
  order: ClaimOrder,
  tries: number,
): Unit<ClaimReads, Verdict> {
  return {
    name: 'turn.claim',
    reads: claimReads(parts, order, tries),
    decide: (rows, at) => decideClaim(parts, order, rows, at),
  };
}

function claimReads(
  { options, store }: EngineParts,
  { conversationId, turnId, head, hostId, taskId, generatedSince }: ClaimOrder,
  tries: number,
): ClaimReads {
  // Only where messages are collected does a turn begin with others than the first.
  const limit = options.whileBusy === 'collect' ? LIMITS.inputsPerLookMax : 1;
  const own = { conversationId, turnId };
  const joined: Partial<ClaimReads> =
    taskId === null
      ? {}
      : {
          task: { read: 'task.byId', args: { id: taskId } },
          bound: { read: 'message.openOfTask', args: { conversationId, taskId } },
          run: { read: 'run.ofTask', args: { taskId } },
        };
  const approved: Partial<ClaimReads> =
    head.channel === HOST_CHANNELS.approval && head.kind === 'generated'
      ? { approval: { read: 'approval.byId', args: { id: head.externalId as ApprovalId } } }
      : {};
  const earlier: Partial<ClaimReads> =
    tries === 0
      ? {}
      : {
          turn: { read: 'turn.byId', args: { id: turnId } },
          step: { read: 'step.lastOf', args: own },
        };
  return {
    conversation: { read: 'conversation.byId', args: { id: conversationId } },
    inputs: { read: 'message.claimable', args: { conversationId, generatedSince, limit } },
    ...joined,
    ...approved,
    ...earlier,
    ...(store.traits.exclusive ? {} : { host: { read: 'host.byId', args: { id: hostId } } }),
  };
}

function decideClaim(
  parts: EngineParts,
  order: ClaimOrder,
  rows: Rows<ClaimReads>,
  at: At,
): Decision<Verdict> {
  const { conversation } = rows;
  if (conversation === undefined) return NOTHING;
  const earlier = earlierClaim(parts, order, { ...rows, conversation }, at);
  if (earlier !== undefined) return { verdict: earlier, writes: [] };
  if (conversation.turnId !== null || isFenced(conversation)) return NOTHING;
  if (isLate(parts, rows.host, at)) return NOTHING;
  return decideFresh(parts, order, { ...rows, conversation }, at);
}

function decideFresh(
  parts: EngineParts,
  order: ClaimOrder,
  rows: Rows<ClaimReads> & { readonly conversation: ConversationRecord },
  at: At,
): Decision<Verdict> {
  const { conversation, inputs, task, bound = [], run } = rows;
  const approval = approvedFor(order.taskId, rows.approval);
  if (!isHead(order, inputs[0]) || !mayTake(order, task)) return STALE;
  const ledger = new Ledger(conversation, at, hostName(order.hostId));
  const found = { conversation, inputs, bound, task, approval, run };
  const refused =
    task && refuseTurn(ledger, { ...found, task, head: order.head, startedAt: order.startedAt });
  if (refused !== undefined) return { verdict: refused, writes: ledger.close() };
  if (task !== undefined && blockIfExhausted(ledger, { ...found, task, head: order.head }))
    return { verdict: 'blocked', writes: ledger.close() };
  return beginTurn(parts, order, { ...found, ledger }, at);
}

/** What an earlier try has claimed unseen; a new task of it is known by what it was made of. */
function earlierClaim(
  parts: EngineParts,
  order: ClaimOrder,
  rows: Rows<ClaimReads> & { readonly conversation: ConversationRecord },
  { now }: At,
): Claim | undefined {
  const { conversation, turn, step, task, approval } = rows;
  if (turn === undefined || step === undefined) return undefined;
  const known = task ?? openedTask(parts, order, conversation, now);
  const isHeld = turn.state === 'running' && holds(conversation, turn);
  return { conversation, turn, task: known, firstStep: step, isHeld, approval };
}

/** A claim under a lease that has run out would be taken over as soon as it was made. */
function isLate({ store }: EngineParts, host: HostRecord | undefined, { now }: At): boolean {
  return !store.traits.exclusive && !mayHold(host, now);
}

const NOTHING = { verdict: undefined, writes: [] } as const;
const STALE = { verdict: 'stale', writes: [] } as const;

/** Whether the message that was looked at is still the first, and bound to what it was bound to then (T-1). */
function isHead({ head }: ClaimOrder, first: MessageRecord | undefined): boolean {
  return first?.id === head.id && first.taskId === head.taskId;
}

/** Whether the task can still take the message: it is bound to it, or its words may wake it (T-2, W-7). */
function mayTake({ head, taskId }: ClaimOrder, task: TaskRecord | undefined): boolean {
  if (taskId === null) return true;
  if (task === undefined) return false;
  if (head.taskId !== null) return task.state === 'active';
  return mayJoin(task, head) && wakes(task);
}
