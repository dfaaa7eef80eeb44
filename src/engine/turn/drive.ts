import { askedBefore, type Question } from '../../core/approval/decide.ts';
import type { Shown } from '../../core/approval/record.ts';
import { exhaustedBy, NOTHING_SPENT, type Spent } from '../../core/budget/spend.ts';
import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import {
  ASKED,
  judgeModel,
  repeatsItself,
  type AskedCall,
  type TurnVerdict,
} from '../../core/turn/decide.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { ToolCall, Tools } from '../../ports/tools.ts';
import type { Gate } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf } from '../session/agent.ts';
import { readAgain } from '../settle.ts';
import { advanceTurn, type StepPair } from './advance.ts';
import { waitingText } from './ask.ts';
import { ModelCaller, type Called } from './call.ts';
import { endOfModel } from './call-end.ts';
import type { Claim } from './claim.ts';
import type { Outcome } from './conclude.ts';
import { endTurn, type TurnEnding } from './end.ts';
import type { Histories } from './history.ts';
import type { Live } from './live.ts';
import { questionOf, toolStart } from './question.ts';
import { withRoom } from './room.ts';
import { Session, type Filled } from './session.ts';
import { NOT_BEGUN, outcomeOf, spentBy, type StepEnd, type StepStart } from './step.ts';
import { isTaskTool, readTaskTool, type TaskOrder } from './task-tools.ts';
import { endOfOrder, runTool } from './tool-end.ts';

/** What a turn needs to run and to be interrupted. */
export interface Drive {
  readonly parts: EngineParts;
  readonly gate: Gate;
  readonly live: Live;
  readonly claim: Claim;
  readonly histories: Histories;
  readonly signal: AbortSignal;
  /** False while the host drains: the turn takes up nothing more (U-1). */
  readonly mayClaim: () => boolean;
  /** Aborts when it begins to. */
  readonly draining: AbortSignal;
  /** False in safe mode: then a session that only fills up is not maintained. */
  readonly mayMaintain: () => boolean;
  /** While the wall clock is not believed no deadline has passed (design principle 8). */
  readonly isClockTrusted: () => boolean;
  readonly answeredBy: (provider: string, model: string) => void;
}

/**
 * How the loop left: with its recorded end, or without one (fenced, interrupted by its signal, or thrown
 * out by a fault), with the step that was running and what it came to.
 */
export type Driven =
  /** `dueAt`: when its task comes due by itself. `isMaintained`: its session is to be maintained now. */
  | { readonly kind: 'ended'; readonly dueAt: Instant | null; readonly isMaintained: boolean }
  | {
      readonly kind: 'left';
      readonly step: StepRecord;
      readonly end: StepEnd;
      readonly fault?: unknown;
    };

type Selected = NonNullable<StepPair['selected']>;
type Leading = Extract<TaskOrder, { kind: 'leads' }>['to'];

/** Runs the model loop of a claimed turn: each step is saved before the next begins (E-1, design principle 11). */
export async function driveTurn(drive: Drive): Promise<Driven> {
  const { parts, claim, histories } = drive;
  const session = await Session.load(parts, claim, histories);
  const driven = await new TurnLoop(drive, session).run(claim.firstStep);
  if (driven.kind === 'ended') histories.keep(claim.turn, session.history());
  return driven;
}

class TurnLoop {
  readonly #drive: Drive;
  readonly #session: Session;
  readonly #turn: TurnRecord;
  readonly #tools: Tools;
  readonly #caller: ModelCaller;
  /** As it was read last; its limits may have grown since, so that a bound is judged again at its commit. */
  #task: TaskRecord;
  #spent = NOTHING_SPENT;
  #hasAnswered = false;
  #note: string | null = null;
  #selected: Selected | null = null;
  #news: Selected | null = null;
  #left: Extract<Driven, { kind: 'left' }> | null = null;
  #dueAt: Instant | null = null;
  #isMaintained = false;

  constructor(drive: Drive, session: Session) {
    const { parts, gate, live, claim, signal, draining, answeredBy } = drive;
    this.#drive = drive;
    this.#session = session;
    this.#turn = claim.turn;
    this.#task = claim.task;
    this.#tools = agentOf(parts, claim.task.agent).tools;
    const { chain } = session;
    const { turn } = claim;
    const host = { parts, gate, live, signal, draining, answeredBy };
    this.#caller = new ModelCaller({ ...host, turn, chain });
  }

  async run(first: StepRecord): Promise<Driven> {
    let step = await this.#firstStep(first);
    while (step !== null) step = await this.#modelStep(step);
    return this.#left ?? { kind: 'ended', dueAt: this.#dueAt, isMaintained: this.#isMaintained };
  }

  /** The model step that the loop begins with; null when the turn has ended before it. */
  async #firstStep(first: StepRecord): Promise<StepRecord | null> {
    if (this.#isLate()) return this.#conclude(first, NOT_BEGUN, { kind: 'expired' });
    return first.kind === 'tool' ? this.#approvedStep(first) : first;
  }

  #isLate(): boolean {
    const { parts, isClockTrusted } = this.#drive;
    const { deadline } = this.#task;
    return deadline !== null && deadline <= parts.clock.now() && isClockTrusted();
  }

  /** The call that a person has approved: exactly what was shown, or nothing (E-4). */
  async #approvedStep(step: StepRecord): Promise<StepRecord | null> {
    const { approval } = this.#drive.claim;
    if (this.#drive.signal.aborted || approval === undefined) return this.#leave(step, NOT_BEGUN);
    const call = { name: approval.tool, args: approval.input, stepId: step.id };
    const end = await this.#runTool(step, call, JSON.parse(approval.shown) as Shown);
    return this.#toModel(step, end);
  }

  /** One model call and the calls that it asked for; gives the next model step, or null at the end. */
  async #modelStep(step: StepRecord): Promise<StepRecord | null> {
    if (this.#drive.signal.aborted) return this.#leave(step, NOT_BEGUN);
    const made = this.#session.request();
    if (made.kind === 'full') return this.#overflow(step, NOT_BEGUN, made.filled);
    const called = await this.#caller.call(step, made.request);
    const end = endOfModel(called, this.#caller.failed);
    switch (called.kind) {
      case 'fenced':
      case 'ended':
        return this.#leave(step, end);
      case 'missed':
        return this.#miss(step, end, called.missed);
      case 'nonsense':
        if (this.#drive.signal.aborted) return this.#leave(step, end);
        return this.#conclude(step, end, { kind: 'invalid', why: 'nonsense' });
      case 'reply': {
        this.#hasAnswered = true;
        this.#session.answered(called.reply.usage);
        this.#noteModel(called.reply.provider, called.reply.model);
        const verdict = this.#judge(step, called.reply);
        if (verdict.kind !== 'calls') return this.#conclude(step, end, outcomeOfVerdict(verdict));
        return this.#runCalls(step, end, { calls: verdict.calls, said: called.reply.text });
      }
    }
  }

  /** No candidate answered. A fault after our own signal says nothing of the task; a refusal speaks for itself. */
  async #miss(
    step: StepRecord,
    end: StepEnd,
    missed: Extract<Called, { kind: 'missed' }>['missed'],
  ): Promise<StepRecord | null> {
    if (missed.kind === 'too_long') return this.#overflow(step, end, this.#session.tooLong());
    if (missed.kind === 'refused') return this.#conclude(step, end, { ...missed, kind: 'failed' });
    if (this.#drive.signal.aborted) return this.#leave(step, end);
    return this.#conclude(step, end, { kind: 'parked', missed });
  }

  /** The session is maintained before the turn's work goes on (M-8). */
  async #overflow(step: StepRecord, end: StepEnd, filled: Filled): Promise<StepRecord | null> {
    const isBegun = this.#session.steps.some(({ state }) => state === 'finished');
    return this.#conclude(step, end, {
      kind: 'overflows',
      isBegun,
      ...filled,
      ...this.#session.sizes(),
    });
  }

  #noteModel(provider: string, model: string): void {
    this.#drive.answeredBy(provider, model);
    if (this.#selected?.provider === provider && this.#selected.model === model) return;
    this.#selected = { provider, model };
    this.#news = this.#selected;
  }

  #judge(step: StepRecord, reply: Parameters<typeof judgeModel>[0]): TurnVerdict {
    const verdict = judgeModel(reply);
    if (verdict.kind !== 'calls') return verdict;
    const fits = step.ordinal + verdict.calls.length < LIMITS.stepsPerTurnMax;
    return fits ? verdict : { kind: 'invalid', why: 'no_progress' };
  }

  /**
   * Runs the calls of one reply in order: the end of each step is saved with the start of the next.
   * Nothing is started once the turn was interrupted, or a call waits for a person (E-4).
   */
  async #runCalls(
    model: StepRecord,
    end: StepEnd,
    reply: { readonly calls: readonly AskedCall[]; readonly said: string },
  ): Promise<StepRecord | null> {
    let step = model;
    let outcome = end;
    let leads: Leading | null = null;
    for (const [index, call] of reply.calls.entries()) {
      const question = await questionOf(this.#drive.parts, this.#tools, call);
      const start = toolStart(this.#tools, call, {
        ordinal: model.ordinal + index + 1,
        isAsked: question !== null,
      });
      const started = await this.#advance(step, outcome, start);
      if (started === null) return null;
      step = started;
      if (this.#drive.signal.aborted) return this.#leave(step, NOT_BEGUN);
      if (question !== null)
        return this.#ask(step, { question, behind: reply.calls.slice(index + 1) });
      const order = this.#readOrder(call, leads);
      leads = order?.kind === 'leads' ? order.to : leads;
      const run = { ...call, stepId: step.id };
      outcome = order === null ? await this.#runTool(step, run) : this.#carryOut(order);
    }
    return this.#afterCalls(step, outcome, { leads, said: reply.said });
  }

  async #afterCalls(
    step: StepRecord,
    end: StepEnd,
    { leads, said }: { readonly leads: Leading | null; readonly said: string },
  ): Promise<StepRecord | null> {
    if (leads !== null) {
      const outcome: Outcome = leads.kind === 'waits' ? { ...leads, said } : leads;
      return this.#conclude(step, end, outcome);
    }
    const made = [...this.#session.calls, { ...step, ...outcomeOf(end) }];
    if (repeatsItself(made, LIMITS.sameCallMax))
      return this.#conclude(step, end, { kind: 'invalid', why: 'no_progress' });
    return this.#toModel(step, end);
  }

  #readOrder(call: AskedCall, leads: Leading | null): TaskOrder | null {
    if (!isTaskTool(call.name)) return null;
    const { deadline } = this.#task;
    const order = readTaskTool(call, { now: this.#drive.parts.clock.now(), deadline });
    const isSecond = order.kind === 'leads' && leads !== null;
    return isSecond ? { kind: 'error', text: 'the turn ends already by an earlier call' } : order;
  }

  #carryOut(order: TaskOrder): StepEnd {
    if (order.kind === 'note') this.#note = order.note;
    return endOfOrder(order);
  }

  async #ask(
    step: StepRecord,
    { question, behind }: { readonly question: Question; readonly behind: readonly AskedCall[] },
  ): Promise<StepRecord | null> {
    const notRun = behind.map((one, index) =>
      toolStart(this.#tools, one, { ordinal: step.ordinal + index + 1, isAsked: true }),
    );
    const { taskId } = this.#turn;
    const open = await readAgain(this.#drive.parts, 'approval.openOfTask', { taskId });
    const before = askedBefore(open, step, question);
    const asked = before === undefined ? question : { ...question, id: before.id };
    const end: StepEnd = { state: 'finished', output: waitingText(asked.id), errorCode: ASKED };
    const isRepeat = before !== undefined;
    return this.#conclude(step, end, { kind: 'asks', question: asked, isRepeat, notRun });
  }

  async #runTool(step: StepRecord, call: ToolCall, approved?: Shown): Promise<StepEnd> {
    const { parts, signal } = this.#drive;
    return runTool(this.#tools, { step, call, approved }, { clock: parts.clock, signal });
  }

  /** Goes on with a model call, unless a bound forbids it: checked before the spend (T-7). */
  async #toModel(step: StepRecord, end: StepEnd): Promise<StepRecord | null> {
    const budget = exhaustedBy(this.#task, this.#spentWith(end));
    if (budget !== undefined) return this.#conclude(step, end, { kind: 'exhausted', budget });
    if (this.#isLate()) return this.#conclude(step, end, { kind: 'expired' });
    return this.#advance(step, end, { ordinal: step.ordinal + 1, kind: 'model' });
  }

  #spentWith(end: StepEnd): Spent {
    const last = spentBy([{ inputTokens: null, outputTokens: null, cost: null, ...end }]);
    return { tokens: this.#spent.tokens + last.tokens, cost: this.#spent.cost + last.cost };
  }

  async #advance(step: StepRecord, end: StepEnd, next: StepStart): Promise<StepRecord | null> {
    const { parts, signal } = this.#drive;
    if (signal.aborted) return this.#leave(step, end);
    const { spent, note } = this.#booking(end);
    const pair: StepPair = {
      turn: this.#turn,
      step,
      end,
      next,
      selected: this.#news,
      mayClaim: this.#drive.mayClaim(),
      hasReturned: this.#hasReturned(),
      hasAnswered: this.#hasAnswered,
      note,
      spent,
    };
    const advanced = await this.#save({ step, end }, () => advanceTurn(parts, pair));
    if (advanced === null) return null;
    if (advanced.kind === 'fenced') return this.#leave(step, end);
    this.#booked(advanced.finished, spent);
    if (advanced.kind === 'yielded') return null;
    if (advanced.hasJoined) await this.#session.joined();
    return advanced.started;
  }

  async #conclude(step: StepRecord, end: StepEnd, outcome: Outcome): Promise<StepRecord | null> {
    const { parts } = this.#drive;
    const { spent, note } = this.#booking(end);
    const order: TurnEnding = {
      turn: this.#turn,
      step,
      end,
      selected: this.#news,
      mayClaim: this.#drive.mayClaim(),
      note,
      outcome,
      spent,
      hasAnswered: this.#hasAnswered,
      filled: this.#drive.mayMaintain() ? this.#session.filled() : null,
    };
    const ended = await this.#save({ step, end }, () => endTurn(parts, order));
    if (ended === null) return null;
    if (ended.kind === 'fenced') return this.#leave(step, end);
    this.#booked({ ...step, ...outcomeOf(end) }, spent);
    if (ended.kind === 'ended') {
      this.#dueAt = ended.dueAt;
      this.#isMaintained = ended.isMaintained;
      return null;
    }
    this.#task = ended.task;
    await this.#session.joined();
    return ended.started;
  }

  /** Its person was not told yet that the task goes on: once, with the first step after an answer. */
  #hasReturned(): boolean {
    const { inputs = [] } = this.#drive.claim;
    const isFirst = this.#hasAnswered && this.#session.steps.length === 0;
    return isFirst && inputs.some(({ channel }) => channel === HOST_CHANNELS.scout);
  }

  #booking(end: StepEnd): { readonly spent: Spent; readonly note: string | null } {
    return { spent: this.#spentWith(end), note: this.#note };
  }

  #booked(step: StepRecord, spent: Spent): void {
    this.#session.saved(step);
    this.#spent = spent;
    this.#note = null;
    this.#news = null;
  }

  #leave(step: StepRecord, end: StepEnd): null {
    this.#left = { kind: 'left', step, end };
    return null;
  }

  /** Saves what a step came to. A fault leaves the loop, and what the step came to goes with it. */
  async #save<T>(
    came: { readonly step: StepRecord; readonly end: StepEnd },
    save: () => Promise<T>,
  ): Promise<T | null> {
    const { live, parts, signal } = this.#drive;
    const { conversationId, id: turnId } = this.#turn;
    try {
      const saved = await withRoom(parts, { turnId, signal }, save);
      live.textDone(conversationId);
      live.hint(conversationId);
      return saved;
    } catch (fault) {
      this.#left = { kind: 'left', ...came, fault };
      return null;
    }
  }
}

function outcomeOfVerdict(verdict: Exclude<TurnVerdict, { kind: 'calls' }>): Outcome {
  return verdict.kind === 'answer' ? { kind: 'answered', text: verdict.text } : verdict;
}
