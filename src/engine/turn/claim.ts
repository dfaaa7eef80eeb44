import { lowest, mayJoin, wakes } from '../../core/inbox/join.ts';
import { HOST_CHANNELS, isReturn, type MessageRecord } from '../../core/inbox/record.ts';
import { mayHold, type HostRecord } from '../../core/lease/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import { countSpent, countTurn, grantOf, moveTask, openTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId, ConversationId, HostId, TaskId, TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import type { Gate } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import { joinMessage, type Joining } from '../inbox/classify.ts';
import { keepMessage } from '../inbox/keep.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { boundsOf, mandateOf } from '../task/mandate.ts';
import { addMoveEvent } from '../task/move.ts';
import { holds } from './advance.ts';
import { approvedFor, firstStepOf } from './approved.ts';
import { blockIfExhausted } from './exhaust.ts';

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

interface ClaimOrder {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly newTaskId: TaskId;
  readonly hostId: HostId;
  readonly head: MessageRecord;
  /** The task that the head belongs to or joins; null makes a new one. */
  readonly taskId: TaskId | null;
  readonly spent: Joining['spent'];
}

/** `stale`: what was found has changed, look again. `blocked`: the task's budget forbids the turn (T-7). */
type Verdict = Claim | 'stale' | 'blocked' | undefined;

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
  },
): Promise<Claim | undefined> {
  const { conversationId, hostId, mayClaim } = order;
  for (let looks = 0; looks < LIMITS.lostRacesMax; looks += 1) {
    const [head] = await parts.store.query('message.claimable', { conversationId, limit: 1 });
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
    if (verdict !== 'stale' && verdict !== 'blocked') return verdict;
  }
  return undefined;
}

async function joinOf(parts: EngineParts, gate: Gate, head: MessageRecord): Promise<Joining> {
  if (head.taskId === null) return joinMessage(parts, gate, head);
  return { join: { kind: 'join', taskId: head.taskId }, spent: { tokens: 0, cost: 0 } };
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
    reads: claimReads(order, { tries, isShared: !parts.store.traits.exclusive }),
    decide: (rows, at) => decideClaim(parts, order, rows, at),
  };
}

function claimReads(
  { conversationId, turnId, head, hostId, taskId }: ClaimOrder,
  { tries, isShared }: { readonly tries: number; readonly isShared: boolean },
): ClaimReads {
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
    inputs: { read: 'message.claimable', args: { conversationId, limit: LIMITS.inputsPerLookMax } },
    ...joined,
    ...approved,
    ...earlier,
    ...(isShared ? { host: { read: 'host.byId', args: { id: hostId } } } : {}),
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
  if (conversation.turnId !== null || isLate(parts, rows.host, at)) return NOTHING;
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
  const ledger = new Ledger(conversation, at, `host:${order.hostId}`);
  const found = { conversation, inputs, bound, task, approval, run };
  if (task !== undefined && blockIfExhausted(ledger, { ...found, task, head: order.head }))
    return { verdict: 'blocked', writes: ledger.close() };
  return claimWrites(parts, order, { ...found, ledger }, at);
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

interface Found {
  readonly conversation: ConversationRecord;
  /** Claimable inputs of the conversation. */
  readonly inputs: readonly MessageRecord[];
  /** Open messages of the task that is taken up. */
  readonly bound: readonly MessageRecord[];
  readonly task: TaskRecord | undefined;
  readonly approval: ApprovalRecord | undefined;
  readonly run: RunRecord | undefined;
}

/** The inputs of the turn: the head, what is bound to its task, and what is collected with it (T-11). */
function inputsOf(
  parts: EngineParts,
  { head }: ClaimOrder,
  found: Found,
): readonly MessageRecord[] {
  if (found.approval !== undefined) return [head];
  const waiting = found.bound.filter(
    ({ id, state, channel }) =>
      id !== head.id && state === 'unclaimed' && channel !== HOST_CHANNELS.approval,
  );
  const collected =
    parts.options.whileBusy === 'collect'
      ? found.inputs.filter((input) => isCollected(input, head))
      : [];
  return [head, ...waiting, ...collected]
    .toSorted((one, other) => one.seq - other.seq)
    .slice(0, LIMITS.inputsPerLookMax);
}

function isCollected(input: MessageRecord, head: MessageRecord): boolean {
  if (input.id === head.id || input.taskId !== null || input.replyTo !== null) return false;
  const isAlike = input.principal === head.principal && input.authority === head.authority;
  return isAlike && head.kind === 'genuine' && input.kind === 'genuine' && head.runId === null;
}

function claimWrites(
  parts: EngineParts,
  order: ClaimOrder,
  found: Found & { readonly ledger: Ledger },
  at: At,
): Decision<Claim> {
  const { turnId, head, conversationId } = order;
  const { ledger, conversation, approval } = found;
  const inputs = inputsOf(parts, order, found);
  const token = ledger.takeToken();
  ledger.hold(turnId);
  const before = found.task ?? openedTask(parts, order, conversation, at.now);
  const runId = head.runId ?? openRun(found);
  const isNew = found.task === undefined;
  if (isNew) addCreated(ledger, before, runId);
  const by = spokenBy(inputs);
  const spent = countSpent(wake(ledger, before, { head, runId }), order.spent);
  const version = isNew ? 1 : before.version + 1;
  const task = { ...countTurn(spent, by, at.now), version };
  ledger.add(isNew ? { write: 'task.insert', row: task } : { write: 'task.save', row: task });
  const seq = addStarted(ledger, { task, turnId, runId, inputs, token, by, spent: order.spent });
  const turn: TurnRecord = {
    id: turnId,
    conversationId,
    sessionId: task.sessionId,
    taskId: task.id,
    runId,
    token,
    authority: lowest(task.mandateAuthority, ...inputs.map(({ authority }) => authority)),
    hostId: order.hostId,
    state: 'running',
    end: null,
    firstSeq: seq,
    startedAt: at.now,
    endedAt: null,
  };
  const firstStep = firstStepOf(parts, ledger, turn, { task, approval });
  ledger.add({ write: 'turn.insert', row: turn }, { write: 'step.insert', row: firstStep });
  const claimed = { turn, task, firstStep, inputs: inputs.map((input) => claimedBy(turn, input)) };
  const verdict = { ...claimed, conversation, approval, isHeld: true };
  return { verdict, writes: ledger.close() };
}

/** Who let the turn begin: a person's words, the host, or the end of a wait for a provider alone. */
function spokenBy(inputs: readonly MessageRecord[]): 'person' | 'host' | 'return' {
  if (inputs.some(({ kind }) => kind === 'genuine')) return 'person';
  return inputs.every(isReturn) ? 'return' : 'host';
}

/** The run of the task, whoever's words the turn begins with: it ends with its task. */
function openRun({ run }: Found): TurnRecord['runId'] {
  return run?.state === 'open' ? run.id : null;
}

/** The event of the turn's start, which claims its inputs; gives its place. */
function addStarted(
  ledger: Ledger,
  of: {
    readonly task: TaskRecord;
    readonly turnId: TurnId;
    readonly runId: TurnRecord['runId'];
    readonly inputs: readonly MessageRecord[];
    readonly token: number;
    readonly by: ReturnType<typeof spokenBy>;
    readonly spent: Joining['spent'];
  },
): number {
  const { task, turnId, runId, inputs, token, by, spent } = of;
  const { id: taskId } = task;
  const messageIds = inputs.map((input) => input.id);
  const classified = spent.tokens === 0 ? {} : { classifier: spent };
  const returned = by === 'return' ? { returns: true } : {};
  const data = { messageIds, token, ...classified, ...returned };
  const { seq } = ledger.event('turn.started', { taskId, turnId, runId, data });
  const isFirst = runId !== null && task.turnsUsed === 1 && by !== 'return';
  if (isFirst) ledger.event('run.started', { taskId, turnId, runId });
  for (const id of messageIds)
    ledger.add({ write: 'message.claim', id, taskId, turnId, claimedSeq: seq });
  return seq;
}

/** Words of its person make a task active that waited, paused or was blocked (W-7). */
function wake(
  ledger: Ledger,
  task: TaskRecord,
  { head, runId }: { readonly head: MessageRecord; readonly runId: TurnRecord['runId'] },
): TaskRecord {
  if (task.state === 'active') return task;
  const moved = moveTask(task, { to: 'active', reason: null, now: ledger.at.now });
  addMoveEvent(ledger, task, moved, { runId, data: { messageId: head.id } });
  return moved;
}

/** The message as its claim leaves it. */
function claimedBy(turn: TurnRecord, input: MessageRecord): MessageRecord {
  const { id: turnId, taskId, firstSeq: claimedSeq } = turn;
  return { ...input, state: 'claimed', taskId, turnId, claimedSeq };
}

function openedTask(
  parts: EngineParts,
  { head, conversationId, newTaskId: id }: ClaimOrder,
  { agent, sessionId }: ConversationRecord,
  now: number,
): TaskRecord {
  return openTask(
    { id, conversationId, sessionId, agent },
    mandateOf(head.text, {
      principal: head.principal,
      authority: head.authority,
      origin: head.channel,
      at: head.at,
      hash: head.bodyHash,
    }),
    boundsOf(parts),
    now,
  );
}

function addCreated(ledger: Ledger, task: TaskRecord, runId: TurnRecord['runId']): void {
  const { id: taskId, state: to } = task;
  ledger.event('task.created', { taskId, runId, to, data: grantOf(task) });
}
