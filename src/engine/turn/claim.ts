import { countTurn, grantOf, openTask } from '../../core/task/decide.ts';
import { mayHold } from '../../core/lease/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ConversationId, HostId, TaskId, TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { At, Decision, Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { boundsOf, mandateOf } from '../task/mandate.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { startedStep } from './step.ts';

/** A turn that this host has, with its first step reserved. */
export interface Claim {
  readonly conversation: ConversationRecord;
  readonly turn: TurnRecord;
  readonly firstStep: StepRecord;
  /** What was claimed; undefined when the claim was made by an earlier try. */
  readonly inputs?: readonly MessageRecord[];
}

interface ClaimOrder {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly newTaskId: TaskId;
  readonly hostId: HostId;
  readonly head: MessageRecord;
}

/**
 * Claims the next input of a conversation: the message is bound to exactly one task, the turn gets the
 * next token and its first model call is reserved, in one commit (T-1, T-10). Undefined when there is
 * nothing to claim, another turn has the conversation, or this host's lease has run out.
 */
export async function claimTurn(
  parts: EngineParts,
  order: {
    readonly conversationId: ConversationId;
    readonly turnId: TurnId;
    readonly hostId: HostId;
  },
): Promise<Claim | undefined> {
  const { conversationId } = order;
  for (let looks = 0; looks < LIMITS.lostRacesMax; looks += 1) {
    const [head] = await parts.store.query('message.claimable', { conversationId, limit: 1 });
    if (head === undefined) return undefined;
    const claim: ClaimOrder = { ...order, newTaskId: parts.ids.next('task'), head };
    const verdict = await settle(parts, (tries) => claimUnit(parts, claim, tries));
    if (verdict !== 'stale') return verdict;
  }
  return undefined;
}

type ClaimReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly inputs: Read<'message.claimable'>;
  readonly task?: Read<'task.byId'>;
  readonly turn?: Read<'turn.byId'>;
  readonly step?: Read<'step.lastOf'>;
  readonly host?: Read<'host.byId'>;
};

// Inputs of one task that are claimed together; more of them join at the turn's end.
const INPUTS_MAX = 20;

function claimUnit(
  parts: EngineParts,
  order: ClaimOrder,
  tries: number,
): Unit<ClaimReads, Claim | 'stale' | undefined> {
  const { conversationId, turnId, head, hostId } = order;
  const own = { conversationId, turnId };
  const isShared = !parts.store.traits.exclusive;
  return {
    name: 'turn.claim',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      inputs: { read: 'message.claimable', args: { conversationId, limit: INPUTS_MAX } },
      ...(head.taskId === null ? {} : { task: { read: 'task.byId', args: { id: head.taskId } } }),
      ...(tries === 0
        ? {}
        : {
            turn: { read: 'turn.byId', args: { id: turnId } },
            step: { read: 'step.lastOf', args: own },
          }),
      ...(isShared ? { host: { read: 'host.byId', args: { id: hostId } } } : {}),
    },
    decide: ({ conversation, inputs, task, turn, step, host }, at) => {
      if (conversation !== undefined && turn !== undefined && step !== undefined) {
        return { verdict: { conversation, turn, firstStep: step }, writes: [] };
      }
      if (conversation === undefined || conversation.turnId !== null) return NOTHING;
      // A claim under a lease that has run out would be taken over as soon as it was made.
      if (isShared && !mayHold(host, at.now)) return NOTHING;
      if (inputs[0]?.id !== head.id) return { verdict: 'stale', writes: [] };
      const together = inputs.filter((input) => input.id === head.id || isTogether(input, head));
      return claimWrites(parts, order, { conversation, inputs: together, task }, at);
    },
  };
}

const NOTHING = { verdict: undefined, writes: [] } as const;

function isTogether(input: MessageRecord, head: MessageRecord): boolean {
  return head.taskId !== null && input.taskId === head.taskId;
}

function claimWrites(
  parts: EngineParts,
  order: ClaimOrder,
  found: {
    readonly conversation: ConversationRecord;
    readonly inputs: readonly MessageRecord[];
    readonly task: TaskRecord | undefined;
  },
  at: At,
): Decision<Claim> {
  const { turnId, hostId, head, conversationId } = order;
  const { conversation } = found;
  const ledger = new Ledger(conversation, at, `host:${hostId}`);
  const token = ledger.takeToken();
  ledger.hold(turnId);
  const task = countTurn(
    found.task ?? createTask(parts, ledger, order),
    found.inputs.some((input) => input.kind === 'genuine') ? 'person' : 'host',
    at.now,
  );
  const runId = head.runId;
  ledger.add(
    found.task === undefined
      ? { write: 'task.insert', row: { ...task, version: 1 } }
      : { write: 'task.save', row: task },
  );
  const messageIds = found.inputs.map((input) => input.id);
  const started = ledger.event('turn.started', {
    taskId: task.id,
    turnId,
    runId,
    data: { messageIds, token },
  });
  if (runId !== null && task.turnsUsed === 1)
    ledger.event('run.started', { taskId: task.id, turnId, runId });
  for (const id of messageIds) {
    ledger.add({ write: 'message.claim', id, taskId: task.id, turnId, claimedSeq: started.seq });
  }
  const turn: TurnRecord = {
    id: turnId,
    conversationId,
    sessionId: conversation.sessionId,
    taskId: task.id,
    runId,
    token,
    hostId,
    state: 'running',
    end: null,
    firstSeq: started.seq,
    startedAt: at.now,
    endedAt: null,
  };
  const firstStep = startedStep(ledger, turn, { ordinal: 1, kind: 'model' });
  ledger.add({ write: 'turn.insert', row: turn }, { write: 'step.insert', row: firstStep });
  const inputs = found.inputs.map((input) => claimed(input, turn));
  return { verdict: { conversation, turn, firstStep, inputs }, writes: ledger.close() };
}

/** The message as its claim leaves it. */
function claimed(input: MessageRecord, turn: TurnRecord): MessageRecord {
  const { id: turnId, taskId, firstSeq: claimedSeq } = turn;
  return { ...input, state: 'claimed', taskId, turnId, claimedSeq };
}

function createTask(parts: EngineParts, ledger: Ledger, order: ClaimOrder): TaskRecord {
  const { head, conversationId, newTaskId: id } = order;
  const task = openTask(
    { id, conversationId, agent: parts.options.agent },
    mandateOf(head.text, {
      principal: head.principal,
      origin: head.channel,
      at: head.at,
      hash: head.bodyHash,
    }),
    boundsOf(parts),
    ledger.at.now,
  );
  ledger.event('task.created', {
    taskId: id,
    runId: head.runId,
    to: task.state,
    data: grantOf(task),
  });
  return task;
}
