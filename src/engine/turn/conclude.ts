import { openApproval, type Question } from '../../core/approval/decide.ts';
import {
  exhaustedBy,
  exhaustedForContinuation,
  grantFor,
  type Budget,
} from '../../core/budget/spend.ts';
import { HOST_CHANNELS, type MessageRecord } from '../../core/inbox/record.ts';
import { mayMaintain } from '../../core/maintenance/size.ts';
import { WAIT_REASONS, type TaskEnd, type TaskReason } from '../../core/task/moves.ts';
import type { Missed } from '../../core/turn/decide.ts';
import type { StepRecord, TurnEnd } from '../../core/turn/record.ts';
import type { MessageId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import { CORRECTIVES } from '../../text/model.ts';
import { withdraw } from '../approval/close.ts';
import type { EngineParts } from '../engine.ts';
import { closeAll, closeClaimed } from '../inbox/close.ts';
import { queueText } from '../outbox/queue.ts';
import { endRun, failRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { requestOf } from '../task/mandate.ts';
import { touchTask } from './advance.ts';
import { askApproval, waitForApproval } from './ask.ts';
import {
  booked,
  endInWait,
  finish,
  keepActive,
  save,
  tellNext,
  type Ended,
  type Ending,
} from './closing.ts';
import { generate } from '../inbox/generate.ts';
import { bindJoined, claimJoined, isGenuine, isSameOutage, isWaiting, joinedBy } from './joined.ts';
import type { Filled, Sizes } from './session.ts';
import { startedStep, type StepStart } from './step.ts';

/** How the model loop came to its end. */
export type Outcome =
  | { readonly kind: 'answered'; readonly text: string }
  /** All models refused for good (T-12). */
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly said: string;
      readonly model?: string;
    }
  /** Neither an answer nor a call (T-8), or no progress (T-19). */
  | { readonly kind: 'invalid'; readonly why: 'empty' | 'nonsense' | 'cut_off' | 'no_progress' }
  /** The task set a wait (T-6); `said` is what the model said beside it. */
  | { readonly kind: 'waits'; readonly said: string; readonly wait: SetWait }
  /** A call waits for a person (E-4); `notRun` are the calls behind it. */
  | {
      readonly kind: 'asks';
      readonly question: Question;
      /** The question was found open already: the very same bytes. */
      readonly isRepeat: boolean;
      readonly notRun: readonly StepStart[];
    }
  | { readonly kind: 'continues'; readonly note: string }
  | { readonly kind: 'parked'; readonly missed: Away }
  /** The loop saw a budget reached or the deadline passed; it is judged again here. */
  | { readonly kind: 'exhausted'; readonly budget: Budget }
  | { readonly kind: 'expired' }
  /** The next request does not fit (M-13). `isBegun`: the turn has come somewhere before. */
  | ({ readonly kind: 'overflows'; readonly isBegun: boolean } & Filled & Sizes);

/** Nobody can be asked now: a quota or an outage. */
type Away = Extract<Missed, { readonly kind: 'quota' | 'down' }>;

export type SetWait =
  /** `isOrder`: the instant is the order's own time, not a pause (T-15). */
  | { readonly kind: 'instant'; readonly until: Instant; readonly isOrder: boolean }
  | { readonly kind: 'answer'; readonly question: string };

export interface Concluding {
  readonly parts: EngineParts;
  readonly ledger: Ledger;
  readonly ending: Ending;
  /** False while the host drains: what arrives is left for the next (U-1). */
  readonly mayClaim: boolean;
  /** The step that ended the loop, as it was reserved. */
  readonly step: StepRecord;
  /** Of the generated input that the end may make, given so that a repeated commit is recognised. */
  readonly inputId: MessageId;
}

type Joined = readonly MessageRecord[];
type Conclusions = {
  readonly [K in Outcome['kind']]: (
    of: Concluding,
    joined: Joined,
    outcome: Extract<Outcome, { readonly kind: K }>,
  ) => Ended;
};

const CONCLUSIONS: Conclusions = {
  answered: (of, joined, { text }) => answer(of, joined, text),
  failed: (of, _joined, outcome) => fail(of, outcome),
  invalid: (of, joined, { why }) => invalid(of, joined, why),
  // What a person says goes before what the model meant to wait for (T-11).
  waits: (of, joined, outcome) =>
    joined.length > 0 ? goOn(of, joined) : hasInput(of) ? yieldTurn(of) : wait(of, outcome),
  continues: (of, joined, { note }) =>
    joined.length > 0 ? goOn(of, joined) : continueTask(of, note),
  asks: ask,
  parked: (of, _joined, { missed }) => park(of, missed),
  exhausted: (of, joined, { budget }) =>
    exhaustedBy(of.ending.task, of.ending.spent) === undefined
      ? goOn(of, joined)
      : exhaust(of, budget),
  expired: (of, joined) => expire(of, joined),
  overflows: (of, joined, outcome) => overflow(of, joined, outcome),
};

/** Writes where the turn's end leads its task, with the last word and the run's end (O-1, T-16). */
export function conclude(of: Concluding, outcome: Outcome): Ended {
  const { turn } = of.ending;
  const joined = of.mayClaim ? joinedBy(turn, of.ending, of.parts.options.whileBusy) : [];
  const by = CONCLUSIONS[outcome.kind] as (
    of: Concluding,
    joined: Joined,
    outcome: Outcome,
  ) => Ended;
  const ending = { ...of.ending, completes: COMPLETES.has(outcome.kind) };
  return by({ ...of, ending }, joined, outcome);
}

/** Ends that complete a turn; a parked, invalid, failed or blocked one has come to nothing. */
const COMPLETES: ReadonlySet<Outcome['kind']> = new Set(['answered', 'waits', 'asks', 'continues']);

function ask(
  of: Concluding,
  joined: Joined,
  { question, isRepeat, notRun }: Extract<Outcome, { kind: 'asks' }>,
): Ended {
  const { approvals, task } = of.ending;
  const { mandatePrincipal: requestedBy } = task;
  const before = approvals.find(({ id }) => id === question.id);
  // It begins to expire at the instant of its commit.
  const { now: at } = of.ledger.at;
  const expiresAt = at + of.parts.options.approvalMs;
  const asked = { kind: 'call', requestedBy, at, expiresAt } as const;
  // What was found open may have been answered since: then this is a question of its own.
  const id = isRepeat ? of.ledger.at.ids.next('approval') : question.id;
  const approval = before ?? openApproval(of.step, { ...question, ...asked, id });
  askApproval(of.ledger, of.ending, { approval, notRun, isNew: before === undefined });
  if (joined.length > 0) return goOn(of, joined, notRun.length);
  return hasInput(of) ? yieldTurn(of) : waitForApproval(of.ledger, of.ending, approval);
}

/**
 * Whether something is bound to the task that this turn may not take up, a person's words or a call that was
 * approved meanwhile: it is its next turn's, and goes before what the model meant to wait for.
 */
function hasInput({ ending }: Concluding): boolean {
  return ending.messages.some(isWaiting);
}

/** Ends the turn and leaves its task active for what waits for it. */
function yieldTurn({ ledger, ending }: Concluding): Ended {
  keepActive(ledger, ending);
  return finish(ledger, ending, 'yielded');
}

/** A further model call of the same turn, unless a bound forbids it: checked before the spend (T-7). */
function goOn(of: Concluding, joined: readonly MessageRecord[], further = 0): Ended {
  const { ledger, ending } = of;
  const { turn, task, spent, note } = ending;
  const budget = exhaustedBy(task, spent);
  const ordinal = of.step.ordinal + further + 1;
  if (budget !== undefined) {
    bindJoined(ledger, turn, joined);
    return exhaust(of, budget);
  }
  if (ordinal > LIMITS.stepsPerTurnMax) {
    bindJoined(ledger, turn, joined);
    return yieldTurn(of);
  }
  const touched = touchTask(ledger, turn, { task, note, claimed: joined });
  claimJoined(ledger, turn, joined);
  const started: StepRecord = startedStep(ledger, turn, { ordinal, kind: 'model' });
  ledger.add({ write: 'step.insert', row: started });
  return { kind: 'continued', started, task: touched };
}

function answer(of: Concluding, joined: readonly MessageRecord[], text: string): Ended {
  const { ledger, ending } = of;
  const { messages, approvals, run, turn, task, spent } = ending;
  const budget = exhaustedBy(task, spent);
  const isLast = of.step.ordinal >= LIMITS.stepsPerTurnMax || budget !== undefined;
  if (joined.length > 0 && !isLast) {
    // What it has read so far has this answer; what has arrived gets its own.
    closeClaimed(ledger, messages, reply(ledger, ending, text, of.step.ordinal));
    return goOn(of, joined);
  }
  const replyId = reply(ledger, ending, text);
  closeClaimed(ledger, messages, replyId);
  const pending = messages.filter(isWaiting).length + joined.length;
  if (pending > 0) {
    bindJoined(ledger, turn, joined);
    keepActive(ledger, ending);
    return finish(ledger, ending, 'answered');
  }
  const asked = approvals.find(({ kind }) => kind === 'call');
  if (asked !== undefined) return waitForApproval(ledger, ending, asked);
  withdraw(ledger, approvals, turn.hostId);
  save(ledger, ending, { to: 'completed', reason: 'answered' });
  endRun(ledger, run, { state: 'completed', code: null, outcomeId: replyId });
  return finish(ledger, ending, 'answered');
}

/** `ordinal`: of a step that answers before the turn's end, which goes on with what has arrived. */
function reply(
  ledger: Ledger,
  { turn }: Ending,
  text: string,
  ordinal?: number,
): ReturnType<typeof queueText> {
  const { conversationId, taskId, id: turnId, runId } = turn;
  const key = ordinal === undefined ? `reply:${turnId}` : `reply:${turnId}:${ordinal}`;
  const about = { conversationId, key, kind: 'reply', text, subjectId: taskId } as const;
  return queueText(ledger, { ...about, taskId, runId });
}

function fail(of: Concluding, { code, ...missed }: Extract<Outcome, { kind: 'failed' }>): Ended {
  const data = { detail: code, ...wordsOf(missed) };
  return endTask(of, { to: 'failed', reason: 'model_refused', end: 'failed', data });
}

function invalid(of: Concluding, joined: readonly MessageRecord[], why: string): Ended {
  const { ledger, ending, parts, inputId } = of;
  const { turn, task } = ending;
  // What a person said meanwhile is the next turn's input: a reply is a way out (W-7).
  if (joined.some(isGenuine)) {
    bindJoined(ledger, turn, joined);
    keepActive(ledger, ending);
    return finish(ledger, ending, 'invalid');
  }
  const reason = why === 'no_progress' ? 'no_progress' : 'no_outcome';
  if (task.correctionsUsed >= LIMITS.correctiveTurnsMax) return block(of, reason, { detail: why });
  // Another message of the conversation may stand before it, so the request is quoted.
  const text = `${CORRECTIVES[reason]}\n\n> ${requestOf(task)}`;
  generate(parts, ledger, turn, {
    id: inputId,
    channel: HOST_CHANNELS.corrective,
    externalId: inputId,
    text,
  });
  keepActive(ledger, ending, { correctionsUsed: task.correctionsUsed + 1 });
  return finish(ledger, ending, 'invalid');
}

function block(
  of: Concluding,
  reason: 'no_outcome' | 'no_progress' | 'quota' | 'budget_exhausted' | 'base_too_large',
  data: Readonly<Record<string, string | number>>,
): Ended {
  const { ledger } = of;
  // Whatever the turn said or meant to, a bound has ended it.
  const ending = { ...of.ending, completes: false };
  const noticeId = tellNext(ledger, ending, reason, data);
  closeClaimed(ledger, ending.messages, noticeId);
  const moved = save(ledger, ending, { to: 'blocked', reason, data });
  failRun(ledger, ending.run, reason, noticeId);
  const isInvalid = reason === 'no_outcome' || reason === 'no_progress';
  return finish(ledger, ending, isInvalid ? 'invalid' : 'blocked', moved);
}

function exhaust(of: Concluding, budget: Budget): Ended {
  const grant = grantFor(booked(of.ending), budget);
  return block(of, 'budget_exhausted', { detail: budget, grant });
}

/**
 * Ends the turn so that its session can be maintained; its task goes on after with what is saved (M-8). A turn
 * that has come somewhere counts as completed, one that could not begin has not (M-19).
 */
function overflow(
  of: Concluding,
  joined: Joined,
  { isBegun, window, base, message }: Extract<Outcome, { kind: 'overflows' }>,
): Ended {
  const { ledger, parts, inputId } = of;
  const ending = { ...of.ending, completes: isBegun };
  const { turn, task } = ending;
  if (!mayMaintain(task)) return block(of, 'base_too_large', { window, base, message });
  const budget = exhaustedBy(task, ending.spent);
  if (budget !== undefined) return exhaust(of, budget);
  generate(parts, ledger, turn, {
    id: inputId,
    channel: HOST_CHANNELS.maintenance,
    externalId: inputId,
    text: '',
  });
  bindJoined(ledger, turn, joined);
  keepActive(ledger, ending);
  return finish(ledger, ending, isBegun ? 'continued' : 'parked');
}

function wait(of: Concluding, { said, wait: set }: Extract<Outcome, { kind: 'waits' }>): Ended {
  const { ledger, ending } = of;
  const { task } = ending;
  if (set.kind === 'answer') {
    const texts = said.includes(set.question) ? [said] : [said, set.question];
    reply(ledger, ending, texts.filter((text) => text.trim() !== '').join('\n\n'));
    const window = ledger.at.now + LIMITS.answerWaitMs;
    const until = task.deadline === null ? window : Math.min(window, task.deadline);
    const { question } = set;
    return endInWait(ledger, ending, { kind: 'answer', id: null, until, question });
  }
  if (said.trim() !== '') reply(ledger, ending, said);
  const { until, isOrder } = set;
  tellNext(ledger, ending, WAIT_REASONS.instant, { until });
  const counts = isOrder ? { orderAt: until } : {};
  const pause = { kind: 'instant', id: null, until } as const;
  return endInWait(ledger, ending, pause, { end: 'waited', counts });
}

function continueTask(of: Concluding, note: string): Ended {
  const { ledger, ending, parts, inputId } = of;
  const { turn, task } = ending;
  const budget = exhaustedForContinuation(task) ?? exhaustedBy(task, ending.spent);
  if (budget !== undefined) return exhaust(of, budget);
  const continuationsUsed = task.continuationsUsed + 1;
  const { id: turnId, runId, taskId } = turn;
  const data = { note, continuationsUsed };
  ledger.event('task.continued', { taskId, turnId, runId, data });
  generate(parts, ledger, turn, {
    id: inputId,
    channel: HOST_CHANNELS.wake,
    externalId: inputId,
    text: note,
  });
  keepActive(ledger, ending, { continuationsUsed });
  return finish(ledger, ending, 'continued');
}

/** What the provider said, and which model was asked. */
function wordsOf({ said, model }: Pick<Missed, 'said' | 'model'>): JsonObject {
  const words = said.slice(0, LIMITS.providerWordsMax);
  return model === undefined ? { said: words } : { said: words, model };
}

/** No model can be called: the turn ends without an interruption, the task waits (T-12, T-18). */
function park(of: Concluding, missed: Away): Ended {
  const { ledger, ending } = of;
  const { account: id, code: detail } = missed;
  const data = { detail, ...wordsOf(missed) };
  const parked = { end: 'parked', data } as const;
  if (missed.kind === 'down') {
    if (!isSameOutage(ending)) tellNext(ledger, ending, WAIT_REASONS.provider, data);
    return endInWait(ledger, ending, { kind: 'provider', id, until: null }, parked);
  }
  const { until } = missed;
  const { quotaWaits, deadline } = booked(ending);
  if (quotaWaits >= LIMITS.quotaWaitsMax) return block(of, 'quota', { detail: 'count' });
  if (deadline !== null && until > deadline) return block(of, 'quota', { detail: 'deadline' });
  tellNext(ledger, ending, WAIT_REASONS.quota, { until, ...data });
  const counts = { quotaWaits: quotaWaits + 1 };
  return endInWait(ledger, ending, { kind: 'quota', id, until }, { ...parked, counts });
}

function expire(of: Concluding, joined: readonly MessageRecord[]): Ended {
  const { deadline } = of.ending.task;
  if (deadline === null || deadline > of.ledger.at.now) return goOn(of, joined);
  return endTask(of, { to: 'expired', reason: 'deadline_passed', end: 'blocked' });
}

/** Ends the task without an answer, and everything that it had (T-16, A-2). */
function endTask(
  { ledger, ending }: Concluding,
  {
    end,
    ...ended
  }: {
    readonly to: TaskEnd;
    readonly reason: TaskReason;
    readonly end: TurnEnd;
    readonly data?: JsonObject;
  },
): Ended {
  const { reason, data } = ended;
  const noticeId = tellNext(ledger, ending, reason, data);
  closeAll(ledger, ending.messages, noticeId);
  withdraw(ledger, ending.approvals, ending.turn.hostId);
  const moved = save(ledger, ending, ended);
  failRun(ledger, ending.run, reason, noticeId);
  return finish(ledger, ending, end, moved);
}
