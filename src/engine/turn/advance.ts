import type { Spent } from '../../core/budget/spend.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Rows, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { tellGoesOn } from '../task/wake.ts';
import { addNoted, finish, keepActive } from './closing.ts';
import {
  arrivedReads,
  bindJoined,
  claimJoined,
  isGenuine,
  joinedBy,
  type ArrivedReads,
} from './joined.ts';
import { finishedStep, outcomeOf, startedStep, type StepEnd, type StepStart } from './step.ts';

/**
 * `fenced`: the conversation's token has moved on, this turn may write nothing more (design principle 8).
 * `yielded`: a message interrupted the turn, which has its recorded end (T-11).
 */
export type Advanced =
  | {
      readonly kind: 'advanced';
      readonly finished: StepRecord;
      readonly started: StepRecord;
      /** What was claimed with it, so that the next model call reads it. */
      readonly hasJoined: boolean;
    }
  | { readonly kind: 'yielded'; readonly finished: StepRecord }
  | { readonly kind: 'fenced' };

export interface StepPair {
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly end: StepEnd;
  readonly next: StepStart;
  /** The model that the provider reported, when it is news to this turn (T-9). */
  readonly selected: { readonly provider: string; readonly model: string } | null;
  /** False while the host drains: the turn takes up nothing more. */
  readonly mayClaim: boolean;
  /** A turn that was to find out whether the provider answers has its first answer. */
  readonly hasReturned: boolean;
  /** Whether a model call of the turn was answered. */
  readonly hasAnswered: boolean;
  /** What the task noted in this step. */
  readonly note: string | null;
  /** What the turn has spent so far, this step included. */
  readonly spent: Spent;
}

/**
 * Saves a step's outcome and reserves the next step in one commit (E-1). What has arrived for the task
 * is claimed before a model call, or ends the turn where messages interrupt (T-11).
 */
export async function advanceTurn(parts: EngineParts, pair: StepPair): Promise<Advanced> {
  return settle(parts, (tries) => advanceUnit(parts, pair, tries));
}

type AdvanceReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly task?: Read<'task.byId'>;
  readonly last?: Read<'step.lastOf'>;
  readonly ended?: Read<'turn.byId'>;
} & Partial<ArrivedReads>;

function advanceUnit(
  parts: EngineParts,
  pair: StepPair,
  tries: number,
): Unit<AdvanceReads, Advanced> {
  const { turn, next } = pair;
  const { conversationId, id: turnId } = turn;
  const { whileBusy } = parts.options;
  const looks = pair.mayClaim && (next.kind === 'model' || whileBusy === 'interrupt');
  return {
    name: 'turn.step',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      ...(looks || pair.note !== null || pair.hasReturned
        ? { task: { read: 'task.byId', args: { id: turn.taskId } } }
        : {}),
      ...(looks ? arrivedReads(turn) : {}),
      ...(tries === 0
        ? {}
        : {
            last: { read: 'step.lastOf', args: { conversationId, turnId } },
            ended: { read: 'turn.byId', args: { id: turnId } },
          }),
    },
    decide: (rows, at) => {
      const { conversation } = rows;
      const earlier = judgeEarlier(pair, rows);
      if (earlier !== undefined) return { verdict: earlier, writes: [] };
      if (conversation === undefined || !holds(conversation, turn))
        return { verdict: { kind: 'fenced' }, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(turn.hostId));
      const finished = finishedStep(ledger, pair.step, pair.end);
      ledger.add({ write: 'step.finish', row: finished });
      addSelected(ledger, turn, pair.selected);
      const verdict = goOn(ledger, pair, { ...rows, conversation, finished, whileBusy });
      return { verdict, writes: ledger.close() };
    },
  };
}

function judgeEarlier(pair: StepPair, { last, ended }: Rows<AdvanceReads>): Advanced | undefined {
  if (last === undefined && ended === undefined) return undefined;
  const finished = { ...pair.step, ...outcomeOf(pair.end) };
  if (ended?.end === 'yielded') return { kind: 'yielded', finished };
  // What was claimed unseen is read again: at worst the inputs are loaded once more.
  return last?.ordinal === pair.next.ordinal
    ? { kind: 'advanced', finished, started: last, hasJoined: true }
    : undefined;
}

interface Found extends Rows<AdvanceReads> {
  readonly conversation: ConversationRecord;
  readonly finished: StepRecord;
  readonly whileBusy: EngineParts['options']['whileBusy'];
}

function goOn(ledger: Ledger, pair: StepPair, found: Found): Advanced {
  const { turn, next } = pair;
  const { task, finished, whileBusy } = found;
  const joined = joinedOf(turn, found);
  if (task !== undefined && whileBusy === 'interrupt' && joined.some(isGenuine)) {
    yieldTurn(ledger, pair, { task, joined });
    return { kind: 'yielded', finished };
  }
  const mayClaim = next.kind === 'model' && next.ordinal < LIMITS.stepsPerTurnMax;
  const claimed = mayClaim ? joined : [];
  if (task !== undefined) touchTask(ledger, turn, { task, note: pair.note, claimed });
  tellReturned(ledger, pair, task);
  claimJoined(ledger, turn, claimed);
  const started = startedStep(ledger, turn, next);
  ledger.add({ write: 'step.insert', row: started });
  return { kind: 'advanced', finished, started, hasJoined: claimed.length > 0 };
}

function tellReturned(ledger: Ledger, pair: StepPair, task: TaskRecord | undefined): void {
  const { id, runId } = pair.turn;
  if (task !== undefined && pair.hasReturned)
    tellGoesOn(ledger, task, { runId, key: `goes_on:${id}` });
}

/** What has arrived and joins; nothing where nothing was looked for. */
function joinedOf(turn: TurnRecord, found: Found): readonly MessageRecord[] {
  const { task, messages = [], unbound = [], whileBusy } = found;
  const { sessionId } = found.conversation;
  return task === undefined
    ? []
    : joinedBy(turn, { task, messages, unbound, sessionId }, whileBusy);
}

/** Ends the turn at its step's end: the words that arrived are the first that its next turn reads. */
function yieldTurn(
  ledger: Ledger,
  pair: StepPair,
  { task, joined }: { readonly task: TaskRecord; readonly joined: readonly MessageRecord[] },
): void {
  bindJoined(ledger, pair.turn, joined);
  keepActive(ledger, { ...pair, task, completes: true });
  finish(ledger, pair, 'yielded');
}

/**
 * Saves what changes of a task while its turn runs: its own note of its progress, and the rows that a
 * person's words end. Nothing is written when nothing changes.
 */
export function touchTask(
  ledger: Ledger,
  turn: Pick<TurnRecord, 'id' | 'taskId' | 'runId'>,
  change: {
    readonly task: TaskRecord;
    readonly note: string | null;
    readonly claimed: readonly MessageRecord[];
  },
): TaskRecord {
  const { task, note, claimed } = change;
  const spoken = claimed.some(isGenuine);
  const breaksRow = spoken && task.continuationsUsed + task.correctionsUsed > 0;
  if (note === null && !breaksRow) return task;
  const rows = breaksRow ? { continuationsUsed: 0, correctionsUsed: 0 } : {};
  const checkpoint = note ?? task.checkpoint;
  const version = task.version + 1;
  const row = { ...task, ...rows, checkpoint, version, changedAt: ledger.at.now };
  ledger.add({ write: 'task.save', row });
  addNoted(ledger, turn, note);
  return row;
}

/** Whether the turn still has its conversation under the token of its claim (V19). */
export function holds(
  conversation: ConversationRecord,
  turn: Pick<TurnRecord, 'id' | 'token'>,
): boolean {
  return conversation.turnId === turn.id && conversation.token === turn.token;
}

/** Records the reported model when it is news (T-9). */
export function addSelected(
  ledger: Ledger,
  turn: TurnRecord,
  selected: StepPair['selected'],
): void {
  if (selected === null) return;
  const { provider, model } = selected;
  ledger.event('model.selected', {
    taskId: turn.taskId,
    turnId: turn.id,
    runId: turn.runId,
    data: { provider, model },
  });
}
