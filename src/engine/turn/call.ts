import { judgeMissed, type Missed } from '../../core/turn/decide.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type {
  Model,
  ModelFault,
  ModelOutcome,
  ModelReply,
  ModelRequest,
  ModelUsage,
} from '../../ports/model.ts';
import type { Gate, Passage } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import type { Live } from './live.ts';
import { reserveTry } from './retry.ts';
import { withRoom } from './room.ts';
import { sumOf } from './step.ts';
import { within } from './within.ts';

/**
 * What a model step came to. `missed`: no candidate answered, and what the turn does then. `ended`: by
 * our own signal. `fenced`: a further try could not be reserved, the turn has lost its conversation.
 * `last` is the fault of the last call that was made, if any was.
 */
export type Called =
  | { readonly kind: 'reply'; readonly reply: ModelReply }
  | { readonly kind: 'nonsense'; readonly last: ModelFault }
  | { readonly kind: 'missed'; readonly missed: Missed; readonly last: ModelFault | null }
  | { readonly kind: 'ended'; readonly last: ModelFault }
  | { readonly kind: 'fenced'; readonly last: ModelFault | null };

export interface CallerParts {
  readonly parts: EngineParts;
  readonly gate: Gate;
  readonly live: Live;
  readonly turn: TurnRecord;
  readonly signal: AbortSignal;
  /** Aborts when the host drains: a call that would wait for its account is not waited for. */
  readonly draining: AbortSignal;
  /** The model that is asked first, then the fallbacks in order (T-13). */
  readonly chain: readonly Model[];
  readonly answeredBy: (provider: string, model: string) => void;
}

type Stop = Exclude<Called, { kind: 'missed' }>;
/** Left of one candidate: why it gave nothing. */
type Tried = Stop | { readonly kind: 'next'; readonly missed: Missed };

/**
 * Makes the calls of one model step: the first model up to five times more, each fallback once, each
 * further call reserved in the step's row before it is made (T-18). The limiter of the account decides
 * when a call may go out; what a fault says is never an answer.
 */
export class ModelCaller {
  readonly #of: CallerParts;
  #calls = 0;
  /** A call of this turn has said something: what the next one says is another text. */
  #hasSaid = false;
  #last: ModelFault | null = null;
  #failed: ModelUsage | null = null;
  /** Accounts whose tries this step has used up. */
  readonly #spent = new Set<string>();

  constructor(of: CallerParts) {
    this.#of = of;
  }

  /** What the calls of the last step used that failed; null when none said so. */
  get failed(): ModelUsage | null {
    return this.#failed;
  }

  async call(step: StepRecord, request: ModelRequest): Promise<Called> {
    this.#calls = 0;
    this.#last = null;
    this.#failed = null;
    this.#spent.clear();
    const missed: Missed[] = [];
    for (const [index, model] of this.#of.chain.entries()) {
      const callsMax = index === 0 ? 1 + LIMITS.modelRetriesMax : 1;
      const tried = await this.#try(step, request, { model, callsMax });
      if (tried.kind !== 'next') return tried;
      missed.push({ ...tried.missed, model: `${model.provider}/${model.name}` });
      // No fallback is asked the same too long prompt (M-13).
      if (tried.missed.kind === 'too_long') break;
    }
    return { kind: 'missed', missed: judgeMissed(missed), last: this.#last };
  }

  async #try(
    step: StepRecord,
    request: ModelRequest,
    { model, callsMax }: { readonly model: Model; readonly callsMax: number },
  ): Promise<Tried> {
    for (let made = 1; ; made += 1) {
      const passage = await this.#withRoom(() => this.#pass(model));
      if (passage.kind !== 'go') return this.#closed(model, passage);
      const outcome = await this.#once(step, request, { model, passage });
      if (outcome.kind !== 'fault') return outcome;
      const missed = judgeFault(this.#of.parts, model, outcome.last, callsMax > 1);
      if (missed !== undefined) return next(missed);
      if (made < callsMax) continue;
      if (callsMax > 1) await this.#exhausted(model, outcome.last);
      return next(downOf(model, outcome.last));
    }
  }

  async #exhausted(model: Model, { code, retryAt }: ModelFault): Promise<void> {
    await this.#withRoom(() => this.#of.gate.exhausted(model, code));
    // Before an instant that the provider named nobody of the account is asked.
    if (retryAt === null) this.#spent.add(model.account);
  }

  /**
   * A fallback on the account whose tries this very step has used up is asked once all the same: often
   * one model alone is overloaded (T-18). A draining host's turns wait for no account: they park, and
   * the next host finds out (U-1).
   */
  async #pass(model: Model): Promise<Passage> {
    const { gate, signal, draining } = this.#of;
    const { account } = model;
    if (this.#spent.has(account) && !signal.aborted) return { kind: 'go', probe: false };
    const isOpen = !gate.limited.some((limiter) => limiter.account === account);
    if (isOpen) return gate.pass(model, signal);
    const passage = await gate.pass(model, AbortSignal.any([signal, draining]));
    if (passage.kind !== 'aborted' || signal.aborted) return passage;
    const code = this.#last?.code ?? 'draining';
    await gate.exhausted(model, code);
    return { kind: 'down', code };
  }

  #closed(model: Model, passage: Exclude<Passage, { kind: 'go' }>): Tried {
    return passage.kind === 'aborted'
      ? { kind: 'ended', last: this.#last ?? ENDED }
      : next(closedOf(model, passage, this.#last?.message ?? ''));
  }

  async #once(
    step: StepRecord,
    request: ModelRequest,
    { model, passage }: { readonly model: Model; readonly passage: Passage },
  ): Promise<Stop | { readonly kind: 'fault'; readonly last: ModelFault }> {
    const { gate } = this.#of;
    this.#calls += 1;
    if (this.#calls > 1) {
      const about = { model, tries: this.#calls, code: this.#last?.code ?? '' };
      const reserved = await this.#reserve(step, about, passage);
      if (reserved === 'fenced') return { kind: 'fenced', last: this.#last };
    }
    const outcome = await this.#make(model, request);
    if (outcome.kind === 'reply') {
      await this.#withRoom(() => gate.succeeded(model, passage));
      return { kind: 'reply', reply: outcome };
    }
    this.#last = outcome;
    this.#failed = sumOf(this.#failed, outcome.usage);
    if (outcome.class === 'aborted') {
      gate.release(model, passage);
      return { kind: 'ended', last: outcome };
    }
    if (outcome.class === 'nonsense') {
      // A reply that cannot be read is a reply: the provider can be reached.
      await this.#withRoom(() => gate.succeeded(model, passage));
      return { kind: 'nonsense', last: outcome };
    }
    await this.#withRoom(() => gate.failed(model, outcome, passage));
    return { kind: 'fault', last: outcome };
  }

  /** What a call came to is paid for: a full disk is waited out before it is thrown away (G-6). */
  async #withRoom<T>(save: () => Promise<T>): Promise<T> {
    const { parts, turn, signal } = this.#of;
    return withRoom(parts, { turnId: turn.id, signal }, save);
  }

  /** A try that could not be reserved gives the account's turn back: another may find out. */
  async #reserve(
    step: StepRecord,
    about: { readonly model: Model; readonly tries: number; readonly code: string },
    passage: Passage,
  ): Promise<'reserved' | 'fenced'> {
    const { parts, gate, turn } = this.#of;
    let reserved: 'reserved' | 'fenced' = 'fenced';
    try {
      reserved = await this.#withRoom(() => reserveTry(parts, { turn, step, ...about }));
      return reserved;
    } finally {
      if (reserved === 'fenced') gate.release(about.model, passage);
    }
  }

  async #make(model: Model, request: ModelRequest): Promise<ModelOutcome> {
    const { parts, live, turn, signal, answeredBy } = this.#of;
    const { conversationId, id: turnId, taskId, runId } = turn;
    let isAwaited = true;
    let isAnew = this.#hasSaid;
    const call = model.call(request, {
      signal,
      onText: (piece) => {
        if (isAwaited) live.text(conversationId, { turnId, taskId, runId, piece, isAnew });
        this.#hasSaid ||= piece !== '';
        isAnew = false;
      },
      onModel: answeredBy,
    });
    const outcome = await within(call, () => ENDED, { clock: parts.clock, signal });
    isAwaited = false;
    if (outcome.kind === 'fault' && outcome.class !== 'aborted') {
      const { code, message } = outcome;
      // What a call that failed had said so far is no part of what the next one says.
      live.textDone(conversationId);
      parts.log.warn('a model call failed', { taskId, turnId, model: model.name, code, message });
    }
    return outcome;
  }
}

function next(missed: Missed): Tried {
  return { kind: 'next', missed };
}

/** What a fault says for good of a candidate; undefined when it may pass. */
function judgeFault(
  parts: EngineParts,
  model: Model,
  fault: ModelFault,
  isFirst: boolean,
): Missed | undefined {
  if (isFarQuota(parts, fault)) return quotaOf(model, fault);
  const { code, message: said } = fault;
  if (fault.class !== 'refused') return undefined;
  // A fallback with a smaller window says nothing of the session.
  return { kind: code === CONTEXT_TOO_LONG && isFirst ? 'too_long' : 'refused', code, said };
}

/** The one code of every provider's "the prompt is too long". */
export const CONTEXT_TOO_LONG = 'context_too_long';

/** What a closed gate says of a candidate. */
function closedOf(
  { account }: Model,
  passage: Exclude<Passage, { kind: 'go' | 'aborted' }>,
  said: string,
): Missed {
  const { code } = passage;
  if (passage.kind === 'quota') return { kind: 'quota', account, until: passage.until, code, said };
  return passage.kind === 'down'
    ? { kind: 'down', account, code, said }
    : { kind: 'refused', code, said };
}

/** Whether the provider named an instant that is too far away to be waited for in the turn (T-12). */
function isFarQuota(
  { clock }: EngineParts,
  fault: ModelFault,
): fault is ModelFault & { retryAt: number } {
  return fault.retryAt !== null && fault.retryAt - clock.now() > LIMITS.quotaParkMs;
}

function quotaOf(model: Model, fault: ModelFault & { readonly retryAt: number }): Missed {
  const { code, message: said, retryAt: until } = fault;
  return { kind: 'quota', account: model.account, until, code, said };
}

function downOf(model: Model, { code, message: said }: ModelFault): Missed {
  return { kind: 'down', account: model.account, code, said };
}

/** A model call that did not heed its signal, or was never made. */
const ENDED: ModelFault = {
  kind: 'fault',
  class: 'aborted',
  code: 'ended',
  message: 'the call was not waited for any longer',
  retryAt: null,
  usage: null,
};
