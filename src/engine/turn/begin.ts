import type { Spent } from '../../core/budget/spend.ts';
import { lowest } from '../../core/inbox/join.ts';
import { HOST_CHANNELS, isReturn, type MessageRecord } from '../../core/inbox/record.ts';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import { followGrant } from '../../core/recovery/decide.ts';
import { countSpent, countTurn, grantOf, moveTask, openTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { At, Decision } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { boundsOf, mandateOf } from '../task/mandate.ts';
import { addMoveEvent } from '../task/move.ts';
import { firstStepOf } from './approved.ts';
import type { Claim, ClaimOrder } from './claim.ts';

/** What the claim is made of, read in its own unit. */
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

/** Takes the conversation for a turn: its inputs, its task as it then stands, its first step (T-1, T-10). */
export function beginTurn(
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
  const task = { ...followGrant(countTurn(spent, by, at.now)), version };
  ledger.add(isNew ? { write: 'task.insert', row: task } : { write: 'task.save', row: task });
  if (task.recoveryState !== before.recoveryState) addFollowed(ledger, task, { turnId, runId });
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

/** The event of a `continue` that a turn has followed. */
function addFollowed(
  ledger: Ledger,
  { id: taskId, recoveryState: recovery, recoveryEpoch: epoch }: TaskRecord,
  about: { readonly turnId: TurnId; readonly runId: TurnRecord['runId'] },
): void {
  ledger.event('recovery.state', { taskId, ...about, data: { recovery, epoch } });
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
    readonly spent: Spent;
  },
): number {
  const { task, turnId, runId, inputs, token, by, spent } = of;
  const { id: taskId } = task;
  const messageIds = inputs.map((input) => input.id);
  const classified = spent.tokens === 0 ? {} : { classifier: { ...spent } };
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

/** The task that the head makes; the same one however often it is made. */
export function openedTask(
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
