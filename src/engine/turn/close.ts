import { countSpent } from '../../core/task/decide.ts';
import { hasEnded } from '../../core/task/moves.ts';
import { mayHold } from '../../core/lease/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { endOfEndedStep, endOfOpenStep } from '../../core/turn/decide.ts';
import type { StepRecord, TurnEnd, TurnRecord } from '../../core/turn/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { interruptTask } from '../task/interrupt.ts';
import { finish } from './closing.ts';
import { finishedStep, NOT_BEGUN, nameOf, spentBy, type StepEnd } from './step.ts';
import { areKnown, askUncertain, questionsOf, type Questions } from './uncertain.ts';

/** `alive`: the turn's host still holds its claim. `gone`: the turn has its end already. */
export type Closed = 'interrupted' | 'stopped' | 'parked' | 'alive' | 'gone';

export interface CloseOrder {
  readonly turn: Pick<TurnRecord, 'id' | 'conversationId' | 'taskId' | 'hostId' | 'firstSeq'>;
  /** The host that closes it. */
  readonly hostId: HostId;
  /** The step that was running here, and what it came to; without it the outcome was never learnt. */
  readonly known?: { readonly step: StepRecord; readonly end: StepEnd };
}

/**
 * Gives a turn that left its loop, or whose host is gone, its recorded end: after a stop `stopped`,
 * after a pause `parked`, else `interrupted`, and then its task waits for an assessment with one notice
 * . Its running calls are recorded as what they came to, `cut`, or uncertain; of each uncertain one
 * a person is asked once (E-2, W-1).
 */
export async function closeTurn(parts: EngineParts, order: CloseOrder): Promise<Closed> {
  for (;;) {
    const questions = await questionsOf(parts, order.turn);
    const closed = await settle(parts, () => closeUnit(parts, { ...order, questions }));
    if (closed !== 'unknown') return closed;
  }
}

type Closing = CloseOrder & { readonly questions: Questions };

type CloseReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly turn: Read<'turn.byId'>;
  readonly task: Read<'task.byId'>;
  readonly steps: Read<'step.after'>;
  readonly open: Read<'step.open'>;
  readonly host: Read<'host.byId'>;
};

const STEPS_MAX = 2_000;

/** `unknown`: the turn has a call that nobody has looked at. */
function closeUnit(parts: EngineParts, order: Closing): Unit<CloseReads, Closed | 'unknown'> {
  const { id, conversationId, taskId, hostId, firstSeq: after } = order.turn;
  return {
    name: 'turn.close',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      turn: { read: 'turn.byId', args: { id } },
      task: { read: 'task.byId', args: { id: taskId } },
      steps: { read: 'step.after', args: { conversationId, after, limit: STEPS_MAX } },
      open: { read: 'step.open', args: { conversationId } },
      host: { read: 'host.byId', args: { id: hostId } },
    },
    decide: ({ conversation, turn, task, host, steps, open }, at) => {
      if (conversation === undefined || turn === undefined || task === undefined) return GONE;
      if (turn.state === 'ended') return GONE;
      const isForeign = turn.hostId !== order.hostId && !parts.store.traits.exclusive;
      if (isForeign && mayHold(host, at.now)) return { verdict: 'alive', writes: [] };
      if (!areKnown(order.questions, open, id)) return { verdict: 'unknown', writes: [] };
      const ledger = new Ledger(conversation, at, hostName(order.hostId));
      const end = endOf(order, { conversation, turn, task });
      const verdict = close(parts, ledger, order, { turn, task, steps, open, end });
      return { verdict, writes: ledger.close() };
    },
  };
}

const GONE = { verdict: 'gone', writes: [] } as const;

function close(
  parts: EngineParts,
  ledger: Ledger,
  order: Closing,
  rows: {
    readonly turn: TurnRecord;
    readonly task: TaskRecord;
    readonly steps: readonly StepRecord[];
    readonly open: readonly StepRecord[];
    readonly end: 'stopped' | 'parked' | 'interrupted';
  },
): Closed {
  const { turn, task, end } = rows;
  ledger.takeToken();
  const closed = closeSteps(ledger, order, rows);
  // Of history what its calls came to is recorded, and nothing else of it changes (V9).
  if (task.enrollment === 'held-legacy') {
    finish(ledger, { turn }, end);
    return end;
  }
  const counted = countSpent(task, spentBy(closed));
  const uncertain = closed.filter((step) => step.state === 'uncertain');
  const { id: turnId, runId } = turn;
  if (end === 'interrupted')
    interruptTask(ledger, counted, { turnId, runId, tools: uncertain.map(nameOf) });
  else saveSpent(ledger, task, counted);
  const { questions } = order;
  // A task that was stopped goes on with nothing.
  if (end !== 'stopped')
    for (const step of uncertain) askUncertain(parts, ledger, { step, task, questions });
  finish(ledger, { turn }, end);
  return end;
}

/**
 * A paused task's turn leaves at its step's border, if it lives to reach it: its calls came to their end.
 * One that was resumed before the turn got there has only lost the token: what it did is known.
 */
function endOf(
  { known }: CloseOrder,
  rows: {
    readonly conversation: ConversationRecord;
    readonly turn: TurnRecord;
    readonly task: TaskRecord;
  },
): 'stopped' | 'parked' | 'interrupted' {
  const { conversation, turn, task } = rows;
  if (turn.state === 'stopping' || hasEnded(task.state)) return 'stopped';
  const isResumed =
    task.state === 'active' && conversation.token !== turn.token && isAtBorder(known);
  return task.state === 'paused' || isResumed ? 'parked' : 'interrupted';
}

/** Whether the call that was running came to its end, or had not begun. */
function isAtBorder(known: CloseOrder['known']): boolean {
  if (known === undefined) return false;
  const { state, errorCode } = known.end;
  return state === 'finished' || state === 'failed' || errorCode === NOT_BEGUN.errorCode;
}

/** Ends the open steps of the turn and gives all its steps as they are then. */
function closeSteps(
  ledger: Ledger,
  { known }: CloseOrder,
  rows: {
    readonly turn: TurnRecord;
    readonly steps: readonly StepRecord[];
    readonly open: readonly StepRecord[];
    readonly end: TurnEnd;
  },
): readonly StepRecord[] {
  const mine = rows.steps.filter(
    (step) => step.turnId === rows.turn.id && step.state !== 'started',
  );
  const open = rows.open.filter((step) => step.turnId === rows.turn.id);
  const ended = open.map((step) => {
    const isKnown = known?.step.ordinal === step.ordinal && known.step.turnId === step.turnId;
    if (isKnown) {
      const state = endOfEndedStep(step, known.end, rows.end);
      return finishedStep(ledger, step, { ...known.end, state });
    }
    const lost: StepEnd = { state: endOfOpenStep(step), output: null, errorCode: 'interrupted' };
    return finishedStep(ledger, step, lost);
  });
  for (const row of ended) ledger.add({ write: 'step.finish', row });
  return [...mine, ...ended];
}

function saveSpent(ledger: Ledger, task: TaskRecord, counted: TaskRecord): void {
  if (counted.tokensUsed === task.tokensUsed && counted.costUsed === task.costUsed) return;
  ledger.add({ write: 'task.save', row: { ...counted, version: counted.version + 1 } });
}
