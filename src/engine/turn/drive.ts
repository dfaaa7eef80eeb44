import {
  endOfOpenStep,
  judgeModel,
  repeatsItself,
  type AskedCall,
  type TurnVerdict,
} from '../../core/turn/decide.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { NOT_RUN } from '../../core/turn/transcript.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelOutcome } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { isDiskFull } from '../settle.ts';
import { advanceTurn, type StepPair } from './advance.ts';
import type { Claim } from './claim.ts';
import { endTurn, type Ending } from './end.ts';
import type { Live } from './live.ts';
import type { Histories } from './history.ts';
import { Session } from './session.ts';
import { outcomeOf, spentBy, type StepEnd, type StepStart } from './step.ts';
import { within } from './within.ts';

/** What a turn needs to run and to be interrupted. */
export interface Drive {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly claim: Claim;
  readonly histories: Histories;
  readonly signal: AbortSignal;
  readonly answeredBy: (provider: string, model: string) => void;
}

/**
 * How the loop left: with its recorded end, or without one (fenced, interrupted by its signal, or thrown
 * out by a fault), with the step that was running and what it came to.
 */
export type Driven =
  | { readonly kind: 'ended' }
  | {
      readonly kind: 'left';
      readonly step: StepRecord;
      readonly end: StepEnd;
      readonly fault?: unknown;
    };

type Selected = NonNullable<StepPair['selected']>;

/** Runs the model loop of a claimed turn: each step is saved before the next begins (E-1, design principle 11). */
export async function driveTurn(drive: Drive): Promise<Driven> {
  const { parts, claim, histories } = drive;
  const session = await Session.load(parts, claim, histories);
  const driven = await new TurnLoop(drive, session).run(claim.firstStep);
  if (driven.kind === 'ended') histories.keep(claim.turn, session.turns());
  return driven;
}

class TurnLoop {
  readonly #drive: Drive;
  readonly #session: Session;
  readonly #turn: TurnRecord;
  #selected: Selected | null = null;
  #news: Selected | null = null;
  #left: Extract<Driven, { kind: 'left' }> | null = null;

  constructor(drive: Drive, session: Session) {
    this.#drive = drive;
    this.#session = session;
    this.#turn = drive.claim.turn;
  }

  async run(first: StepRecord): Promise<Driven> {
    let step: StepRecord | null = first;
    while (step !== null) step = await this.#modelStep(step);
    return this.#left ?? { kind: 'ended' };
  }

  /** One model call and the calls that it asked for; gives the next model step, or null at the end. */
  async #modelStep(step: StepRecord): Promise<StepRecord | null> {
    if (this.#drive.signal.aborted) return this.#leave(step, NOT_BEGUN);
    const outcome = await this.#callModel();
    const end = endOfModel(outcome);
    if (this.#wasCut(outcome)) return this.#leave(step, end);
    const verdict = this.#judge(step, outcome);
    if (verdict.kind === 'calls') return this.#runCalls(step, end, verdict.calls);
    return this.#conclude(step, end, endingOf(verdict));
  }

  /** A fault after our own signal says nothing that could end the task; a refusal says that of itself. */
  #wasCut(outcome: ModelOutcome): boolean {
    return this.#drive.signal.aborted && outcome.kind === 'fault' && outcome.class !== 'refused';
  }

  async #callModel(): Promise<ModelOutcome> {
    const { parts, live, signal } = this.#drive;
    const { conversationId, id: turnId, taskId, runId } = this.#turn;
    let isAwaited = true;
    const call = parts.model.call(this.#session.request(), {
      signal,
      onText: (piece) => {
        if (isAwaited) live.text(conversationId, { turnId, taskId, runId, piece });
      },
      onModel: (provider, model) => this.#drive.answeredBy(provider, model),
    });
    const outcome = await within(call, () => LOST_CALL, { clock: parts.clock, signal });
    isAwaited = false;
    if (outcome.kind === 'reply') this.#noteModel(outcome.provider, outcome.model);
    else if (outcome.class !== 'aborted') this.#logFault(outcome);
    return outcome;
  }

  #logFault({ code, message }: Extract<ModelOutcome, { kind: 'fault' }>): void {
    const { id: turnId, taskId } = this.#turn;
    this.#drive.parts.log.warn('a model call failed', { taskId, turnId, code, message });
  }

  #noteModel(provider: string, model: string): void {
    this.#drive.answeredBy(provider, model);
    if (this.#selected?.provider === provider && this.#selected.model === model) return;
    this.#selected = { provider, model };
    this.#news = this.#selected;
  }

  #judge(step: StepRecord, outcome: ModelOutcome): TurnVerdict {
    const verdict = judgeModel(outcome);
    if (verdict.kind !== 'calls') return verdict;
    const fits = step.ordinal + verdict.calls.length < LIMITS.stepsPerTurnMax;
    return fits ? verdict : { kind: 'invalid', why: 'no_progress' };
  }

  /**
   * Runs the calls of one reply in order: the end of each step is saved with the start of the next.
   * Nothing is started once the turn was interrupted.
   */
  async #runCalls(
    model: StepRecord,
    end: StepEnd,
    calls: readonly AskedCall[],
  ): Promise<StepRecord | null> {
    let step = model;
    let outcome = end;
    for (const [index, call] of calls.entries()) {
      const started = await this.#advance(
        step,
        outcome,
        this.#toolStart(model.ordinal + index + 1, call),
      );
      if (started === null) return null;
      step = started;
      if (this.#drive.signal.aborted) return this.#leave(step, NOT_BEGUN);
      outcome = await this.#runTool(step, call);
    }
    const made = [
      ...this.#session.steps.filter(({ kind }) => kind === 'tool'),
      { ...step, ...outcomeOf(outcome) },
    ];
    if (repeatsItself(made, LIMITS.sameCallMax)) {
      return this.#conclude(step, outcome, { kind: 'invalid', why: 'no_progress' });
    }
    return this.#advance(step, outcome, { ordinal: step.ordinal + 1, kind: 'model' });
  }

  #toolStart(ordinal: number, call: AskedCall): StepStart {
    const tool = this.#drive.parts.tools.list.find(({ name }) => name === call.name);
    const repeatable = tool?.repeatable ?? 'yes';
    return {
      ordinal,
      kind: 'tool',
      tool: call.name,
      callId: call.id,
      repeatable,
      input: call.args,
    };
  }

  async #runTool(step: StepRecord, call: AskedCall): Promise<StepEnd> {
    const { parts, signal } = this.#drive;
    const running = parts.tools.run({ name: call.name, args: call.args, stepId: step.id }, signal);
    const outcome = await within(running, () => null, { clock: parts.clock, signal });
    if (outcome === null) return { state: endOfOpenStep(step), output: null, errorCode: 'ended' };
    if (outcome.kind === 'result')
      return { state: 'finished', output: outcome.text, errorCode: null };
    const state = outcome.code === 'ended' ? 'cut' : 'failed';
    return { state, output: outcome.text, errorCode: outcome.code };
  }

  async #advance(step: StepRecord, end: StepEnd, next: StepStart): Promise<StepRecord | null> {
    const { parts, signal } = this.#drive;
    if (signal.aborted) return this.#leave(step, end);
    const pair: StepPair = { turn: this.#turn, step, end, next, selected: this.#news };
    const advanced = await this.#save({ step, end }, () => advanceTurn(parts, pair));
    if (advanced === null) return null;
    this.#news = null;
    if (advanced.kind === 'fenced') return this.#leave(step, end);
    this.#session.saved(advanced.finished);
    return advanced.started;
  }

  async #conclude(step: StepRecord, end: StepEnd, ending: Ending): Promise<StepRecord | null> {
    const { parts } = this.#drive;
    const spent = spentBy([...this.#session.steps, { ...step, ...outcomeOf(end) }]);
    const order = { turn: this.#turn, step, end, selected: this.#news, ending, spent };
    const ended = await this.#save({ step, end }, () => endTurn(parts, order));
    if (ended === null) return null;
    this.#news = null;
    if (ended.kind === 'fenced') return this.#leave(step, end);
    this.#session.saved({ ...step, ...outcomeOf(end) });
    if (ended.kind === 'ended') return null;
    await this.#session.joined();
    return ended.started;
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
    const { live } = this.#drive;
    const { conversationId } = this.#turn;
    try {
      const saved = await this.#withRoom(save);
      live.textDone(conversationId);
      live.hint(conversationId);
      return saved;
    } catch (fault) {
      this.#left = { kind: 'left', ...came, fault };
      return null;
    }
  }

  /** A full disk is waited out: what a step came to is kept in memory until it can be saved (G-6). */
  async #withRoom<T>(save: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#drive.parts;
    for (
      let pause = LIMITS.diskFullPauseMs;
      ;
      pause = Math.min(pause * 2, LIMITS.diskFullPauseMaxMs)
    ) {
      try {
        return await save();
      } catch (error) {
        if (!isDiskFull(error) || this.#drive.signal.aborted) throw error;
        log.warn('the disk is full, a step waits to be saved', {
          turnId: this.#turn.id,
          pauseMs: pause,
        });
        await clock.sleep(pause, this.#drive.signal);
      }
    }
  }
}

/** A call that was reserved and never made: the turn was interrupted first. */
const NOT_BEGUN: StepEnd = { state: 'cut', output: NOT_RUN, errorCode: 'not_run' };

/** A model call that did not heed its signal. */
const LOST_CALL: ModelOutcome = {
  kind: 'fault',
  class: 'aborted',
  code: 'ended',
  message: 'the call was not waited for any longer',
  retryAt: null,
  usage: null,
};

function endOfModel(outcome: ModelOutcome): StepEnd {
  if (outcome.kind === 'fault') {
    const state = outcome.class === 'aborted' ? 'cut' : 'failed';
    return { state, output: outcome.message, errorCode: outcome.code, ...usageOf(outcome.usage) };
  }
  const { text, calls, provider, model, usage } = outcome;
  const output = JSON.stringify({ text, calls });
  return { state: 'finished', output, errorCode: null, provider, model, ...usageOf(usage) };
}

function usageOf(usage: Extract<ModelOutcome, { kind: 'fault' }>['usage']): Partial<StepEnd> {
  if (usage === null) return {};
  return { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cost: usage.cost };
}

function endingOf(verdict: Exclude<TurnVerdict, { kind: 'calls' }>): Ending {
  return verdict.kind === 'answer' ? { kind: 'answered', text: verdict.text } : verdict;
}
