// Every call that reached a provider, and what must hold of it at the moment at which it is made.
import type { LimiterRecord } from '../../src/core/budget/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { MINUTE, type Millis } from '../../src/kernel/time.ts';
import type { ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Look } from './look.ts';

export interface ProviderCall {
  readonly number: number;
  readonly host: string;
  readonly account: string;
  /** Begun while the account was limited: the one that finds out (T-18). */
  readonly isProbe: boolean;
  /** The step that it is of, where its request tells. */
  readonly stepId: string | null;
}

export interface CallBookParts {
  readonly look: Look;
  readonly elapsed: () => Millis;
  readonly wall: () => number;
  readonly isAlive: (host: string) => boolean;
  /** Which of these turns the host claimed last. */
  readonly ownTurn: (host: string, conversationId: string) => string | undefined;
  readonly problem: (text: string) => void;
  /** Whether what one host knows of an account is what the store has. */
  readonly isAlone: boolean;
}

/** `unknown`: the request names no message that could tell. */
type Step = ReturnType<Look['lastStepOf']> | 'unknown';

interface Begun {
  readonly host: string;
  readonly account: string;
  readonly step: Step;
}

/** An account that was closed for longer than a unit takes to be decided must not be called. */
const GRACE = MINUTE;

export class CallBook {
  readonly #parts: CallBookParts;
  readonly #ofStep = new Map<string, string[]>();
  readonly #used = new Map<string, number>();
  readonly #out = new Set<ProviderCall>();
  /** By the uptime clock: since when each account that is not open is closed. */
  readonly #closedAt = new Map<string, Millis>();
  /** By step and account: when it was called last, by the uptime clock. */
  readonly #accounts = new Map<string, Millis>();
  #count = 0;

  constructor(parts: CallBookParts) {
    this.#parts = parts;
  }

  /** Calls of turns so far. */
  get count(): number {
    return this.#count;
  }

  begin(call: {
    readonly host: string;
    readonly name: string;
    readonly account: string;
    readonly request: ModelRequest;
  }): ProviderCall {
    this.#count += 1;
    const { host, account, name } = call;
    const step = this.#stepOf(host, call.request);
    const isProbe = this.#judgeLimiter({ host, account, step });
    this.#judgeStep(host, name, step);
    if (typeof step === 'object')
      this.#accounts.set(`${step.id} ${account}`, this.#parts.elapsed());
    const stepId = typeof step === 'object' ? step.id : null;
    const made = { number: this.#count, host, account, isProbe, stepId };
    this.#out.add(made);
    return made;
  }

  /** The call came to this; null when nobody heard of it. */
  end(call: ProviderCall, outcome: ModelOutcome | null): void {
    this.#out.delete(call);
    if (outcome?.usage == null || call.stepId === null) return;
    const { inputTokens, outputTokens } = outcome.usage;
    const before = this.#used.get(call.stepId) ?? 0;
    this.#used.set(call.stepId, before + inputTokens + outputTokens);
  }

  /** Tokens that the calls of a step used, as their providers said. */
  usedBy(stepId: string): number {
    return this.#used.get(stepId) ?? 0;
  }

  /** A limiter was committed. */
  limited({ account, state }: LimiterRecord): void {
    if (state === 'open') this.#closedAt.delete(account);
    else if (!this.#closedAt.has(account)) this.#closedAt.set(account, this.#parts.elapsed());
  }

  /** V5 and T-18: a call was reserved before it was made, and there are no more than the rule allows. */
  #judgeStep(host: string, model: string, step: Step): void {
    const { problem } = this.#parts;
    // A request that names no message cannot be laid to a step; the sum of all calls is judged too.
    if (step === 'unknown') return;
    if (step === undefined) return problem(`E-1 ${host} called ${model} for no step`);
    const made = [...(this.#ofStep.get(step.id) ?? []), model];
    this.#ofStep.set(step.id, made);
    if (made.length > step.tries)
      problem(`V5 step ${step.id} made ${made.length} calls and reserved ${step.tries}`);
    const counts = [...Map.groupBy(made, (name) => name).values()].map(({ length }) => length);
    const repeated = counts.filter((count) => count > 1);
    const isBounded = repeated.length <= 1 && counts.every((count) => count <= TRIES_MAX);
    if (!isBounded) problem(`T-18 step ${step.id} made the calls ${made.join(' ')}`);
  }

  #stepOf(host: string, request: ModelRequest): Step {
    const { look, ownTurn } = this.#parts;
    let isNamed = false;
    for (const message of request.messages) {
      if (message.role !== 'user') continue;
      for (const marker of message.text.match(/#\d+#/g) ?? []) {
        isNamed = true;
        const conversationId = look.conversationOf(marker);
        const turnId = conversationId && ownTurn(host, conversationId);
        if (turnId) return look.lastStepOf(turnId);
      }
    }
    return isNamed ? undefined : 'unknown';
  }

  /** T-18 and T-12: a closed account is not called, a limited one by one call at a time. */
  #judgeLimiter(begun: Begun): boolean {
    const { host, account } = begun;
    const { look, isAlone, problem } = this.#parts;
    const limiter = look.limiterOf(account);
    if (limiter === undefined || limiter.state === 'open') return false;
    const isProbe = limiter.probeUntil !== null;
    if (!isAlone) return isProbe;
    const closedFor = this.#parts.elapsed() - (this.#closedAt.get(account) ?? 0);
    if (!isProbe && closedFor > GRACE && !this.#isFallback(begun))
      problem(`T-18 ${host} called ${account}, which is ${limiter.state} for ${closedFor} ms`);
    const others = this.#probesOf(account);
    if (isProbe && others > 0)
      problem(`T-18 ${host} called the limited ${account} beside ${others} more`);
    return isProbe;
  }

  /** A fallback on the account whose tries were just used up is asked once (T-18). */
  #isFallback({ account, step }: Begun): boolean {
    if (typeof step !== 'object') return false;
    const before = this.#accounts.get(`${step.id} ${account}`);
    return before !== undefined && this.#parts.elapsed() - before < GRACE;
  }

  /** Calls that are out to find an account out. */
  #probesOf(account: string): number {
    const out = [...this.#out].filter(
      (call) => call.account === account && call.isProbe && this.#parts.isAlive(call.host),
    );
    return out.length;
  }
}

const TRIES_MAX = 1 + LIMITS.modelRetriesMax;
