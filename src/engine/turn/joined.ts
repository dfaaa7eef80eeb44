import { maySteer } from '../../core/inbox/join.ts';
import { HOST_CHANNELS, type MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { SessionId } from '../../kernel/ids.ts';
import type { Read } from '../../ports/store.ts';
import type { WhileBusy } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';

/** What has arrived for a running turn's task, and what no task has yet. */
export type ArrivedReads = {
  readonly messages: Read<'message.openOfTask'>;
  readonly unbound: Read<'message.unbound'>;
};

export function arrivedReads({
  conversationId,
  taskId,
}: Pick<TurnRecord, 'conversationId' | 'taskId'>): ArrivedReads {
  return {
    messages: { read: 'message.openOfTask', args: { conversationId, taskId } },
    unbound: { read: 'message.unbound', args: { conversationId, limit: LIMITS.inputsPerLookMax } },
  };
}

export interface Arrived {
  readonly task: TaskRecord;
  readonly messages: readonly MessageRecord[];
  readonly unbound: readonly MessageRecord[];
  /** In which new tasks of the conversation begin. */
  readonly sessionId: SessionId;
}

/**
 * The messages that join a running turn, in inbox order (T-11): those that are bound to its task, and,
 * where a message steers or interrupts, those of no task yet that may. Nothing with less authority than
 * the turn joins it, and an answered approval has a turn of its own (E-4): both wait for the next.
 */
export function joinedBy(
  turn: Pick<TurnRecord, 'authority'>,
  { task, messages, unbound, sessionId }: Arrived,
  whileBusy: WhileBusy,
): readonly MessageRecord[] {
  const steers = whileBusy === 'steer' || whileBusy === 'interrupt';
  const free = steers ? unbound.filter((message) => maySteer(task, message, sessionId)) : [];
  return [...messages.filter(isWaiting), ...free]
    .filter(({ authority, channel }) => {
      const isEqual = turn.authority === 'own' || authority === 'admin';
      return isEqual && channel !== HOST_CHANNELS.approval;
    })
    .toSorted((one, other) => one.seq - other.seq);
}

/** Not yet taken up by a turn. */
export function isWaiting({ state }: MessageRecord): boolean {
  return state === 'unclaimed';
}

export function isGenuine({ kind }: MessageRecord): boolean {
  return kind === 'genuine';
}

/**
 * Claims messages for a turn that runs; their place in the transcript is here. A person's words among
 * them end the rows of corrective turns and of continuations (T-7, T-8).
 */
export function claimJoined(
  ledger: Ledger,
  turn: TurnRecord,
  joined: readonly MessageRecord[],
): void {
  if (joined.length === 0) return;
  const messageIds = joined.map(({ id }) => id);
  const { taskId, id: turnId, runId } = turn;
  const event = ledger.event('turn.continued', { taskId, turnId, runId, data: { messageIds } });
  for (const id of messageIds)
    ledger.add({ write: 'message.claim', id, taskId, turnId, claimedSeq: event.seq });
}

/** Binds messages of no task to one that reads them in its next turn. */
export function bindJoined(
  ledger: Ledger,
  { taskId }: Pick<TurnRecord, 'taskId'>,
  joined: readonly MessageRecord[],
): void {
  for (const message of joined)
    if (message.taskId === null) ledger.add({ write: 'message.bind', id: message.id, taskId });
}

/** Whether a turn only found out that the provider is still away: it goes on with the wait that was told (T-18). */
export function isSameOutage(of: {
  readonly turn: Pick<TurnRecord, 'id'>;
  readonly messages: readonly MessageRecord[];
  readonly hasAnswered: boolean;
}): boolean {
  const inputs = of.messages.filter(({ turnId }) => turnId === of.turn.id);
  const isReturned = inputs.every(({ channel }) => channel === HOST_CHANNELS.scout);
  return isReturned && inputs.length > 0 && !of.hasAnswered;
}
