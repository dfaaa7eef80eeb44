import type { Spent } from '../../core/budget/spend.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { MessageId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { openMaintenance, openingReads, type OpeningReads } from '../maintenance/open.ts';
import { settle } from '../settle.ts';
import { addSelected, holds, type StepPair } from './advance.ts';
import { conclude, type Outcome } from './conclude.ts';
import type { Ended } from './closing.ts';
import { arrivedReads, type ArrivedReads } from './joined.ts';
import type { Filled } from './session.ts';
import { finishedStep, type StepEnd } from './step.ts';

export interface TurnEnding {
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly end: StepEnd;
  readonly selected: StepPair['selected'];
  readonly note: string | null;
  readonly outcome: Outcome;
  /** What the turn's model calls spent, this step included. */
  readonly spent: Spent;
  /** False while the host drains: the turn takes up nothing more. */
  readonly mayClaim: boolean;
  /** Whether one of them was answered. */
  readonly hasAnswered: boolean;
  /** Why its session is to be maintained once the turn has ended; null while it is not (M-13). */
  readonly filled: Filled | null;
}

/** Saves the last step, the task's next state, the last word and the run's end in one commit (O-1, T-16). */
export async function endTurn(parts: EngineParts, order: TurnEnding): Promise<Ended> {
  const inputId = parts.ids.next('message');
  const { outcome } = order;
  const filled = outcome.kind === 'overflows' ? outcome : order.filled;
  return settle(parts, (tries) => endUnit(parts, { ...order, filled, inputId }, tries));
}

type EndOrder = TurnEnding & { readonly inputId: MessageId };

type EndReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task: Read<'task.byId'>;
  readonly approvals: Read<'approval.openOfTask'>;
  readonly run?: Read<'run.byId'>;
  readonly last?: Read<'step.lastOf'>;
  readonly turn?: Read<'turn.byId'>;
} & ArrivedReads &
  OpeningReads;

function endUnit(parts: EngineParts, order: EndOrder, tries: number): Unit<EndReads, Ended> {
  const { id: turnId, conversationId, taskId, runId } = order.turn;
  return {
    name: 'turn.end',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      task: { read: 'task.byId', args: { id: taskId } },
      approvals: { read: 'approval.openOfTask', args: { taskId } },
      ...arrivedReads(order.turn),
      ...(order.filled === null ? {} : openingReads(order.turn)),
      ...(runId === null ? {} : { run: { read: 'run.byId', args: { id: runId } } }),
      ...(tries === 0
        ? {}
        : {
            last: { read: 'step.lastOf', args: { conversationId, turnId } },
            turn: { read: 'turn.byId', args: { id: turnId } },
          }),
    },
    decide: (rows, at) => {
      const { conversation, task } = rows;
      if (conversation === undefined || task === undefined)
        return { verdict: { kind: 'fenced' }, writes: [] };
      const earlier = judgeEarlier(order, { ...rows, task }, holds(conversation, order.turn));
      if (earlier !== undefined) return { verdict: earlier, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(order.turn.hostId));
      ledger.add({ write: 'step.finish', row: finishedStep(ledger, order.step, order.end) });
      addSelected(ledger, order.turn, order.selected);
      const { messages, unbound, approvals, run } = rows;
      const { spent, hasAnswered, note, step, inputId, mayClaim } = order;
      const { sessionId } = conversation;
      const ending = { turn: order.turn, task, messages, unbound, sessionId, approvals, run };
      const verdict = conclude(
        {
          parts,
          ledger,
          ending: { ...ending, spent, hasAnswered, note },
          mayClaim,
          step,
          inputId,
        },
        order.outcome,
      );
      const { filled } = order;
      const opening = { ...rows, conversation, task, filled };
      const maintained = openMaintenance(parts, ledger, opening, verdict);
      return { verdict: maintained, writes: ledger.close() };
    },
  };
}

function judgeEarlier(
  order: EndOrder,
  { turn, last, task }: Rows<EndReads> & { readonly task: TaskRecord },
  isHeld: boolean,
): Ended | undefined {
  if (turn !== undefined && hasOwnEnd(turn))
    return { kind: 'ended', dueAt: task.dueAt, isMaintained: true, completes: false };
  if (!isHeld) return { kind: 'fenced' };
  return last !== undefined && last.kind === 'model' && last.ordinal > order.step.ordinal
    ? { kind: 'continued', started: last, task }
    : undefined;
}

/** Whether the turn's loop itself, by an earlier try, has given it its end. */
function hasOwnEnd({ state, end }: TurnRecord): boolean {
  return state === 'ended' && end !== 'interrupted' && end !== 'stopped';
}
