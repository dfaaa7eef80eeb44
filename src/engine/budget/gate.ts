import {
  afterSign,
  cheapProbeAt,
  mayReturn,
  openLimiter,
  reserveCheapProbe,
  turnsAt,
} from '../../core/budget/limiter.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Model, ModelFault, ModelOutcome } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { asideAccount, asideOf } from './aside.ts';
import { Turnstile } from './turnstile.ts';

/** Whether a model may be called now. `go` is used by exactly one call, whose outcome is told to the gate. */
export type Passage =
  /** `probe`: the one call that finds out whether a limited account answers again. */
  | { readonly kind: 'go'; readonly probe: boolean }
  /** The provider named an instant farther away than `LIMITS.quotaParkMs` (T-12). */
  | { readonly kind: 'quota'; readonly until: Instant; readonly code: string }
  /** Known to be unreachable; a cheap probe repeats by itself. */
  | { readonly kind: 'down'; readonly code: string }
  /** Key, account or balance were refused within `LIMITS.refusedCoolMs` (T-12). */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'aborted' };

export interface GateHost {
  readonly parts: EngineParts;
  /** False while the wall clock is not trusted: then nothing finds out (design principle 8). */
  readonly mayProbe: () => boolean;
  /** Called when a limiter has changed. */
  readonly onChange: () => void;
  /** Called with what nobody waits for and failed. */
  readonly onFault: (error: unknown, where: string) => void;
}

/** What the tasks may do that wait for the provider of an account. */
export interface Returning {
  readonly limiter: LimiterRecord;
  readonly many: 'all' | 'one';
}

// A call that reached nobody.
const TRANSPORT_FAULT = 'connect';
// Rows that are read at the start and at each tick of a shared store; one a key that was ever limited.
const ACCOUNTS_MAX = 1_000;

/** The one limiter of each provider and account, for all tasks of this host and over its restarts (T-18). */
export class Gate {
  readonly #host: GateHost;
  readonly #turnstiles = new Map<string, Turnstile>();
  readonly #models = new Map<string, Model>();
  /** Accounts whose last real call of this process failed by transport. */
  readonly #unreached = new Set<string>();
  readonly #probing = new Map<string, AbortController>();
  /** What goes on in the background, awaited when the host stops. */
  readonly #pending = new Set<Promise<void>>();

  constructor(host: GateHost) {
    this.#host = host;
    const { agents, models, classifier, assessment } = host.parts;
    const known = agents.flatMap(({ model, fallbacks }) => [model, ...fallbacks]);
    for (const model of [...known, ...models, classifier, assessment, asideOf(assessment)])
      this.#models.set(model.account, model);
  }

  /** Accounts that are not open. */
  get limited(): readonly LimiterRecord[] {
    return [...this.#turnstiles.values()].map(({ row }) => row).filter(isLimited);
  }

  /**
   * Answers at once for an open account, without a read or a commit. On a limited one it waits its turn
   * in memory, in the order of arrival; it ends at once when `signal` aborts. Rejects with a `StoreFault`.
   */
  async pass(model: Model, signal: AbortSignal): Promise<Passage> {
    return this.#of(model).pass(signal);
  }

  /** Commits what a failed call says of the account. Not called for aborted (`release`) or nonsense (`succeeded`: it answered). */
  async failed(model: Model, fault: ModelFault, passage: Passage): Promise<void> {
    this.noteCall(model, fault);
    await this.#of(model).failed(fault, passage);
  }

  /** The account answered: after a probe it is open again. */
  async succeeded(model: Model, passage: Passage): Promise<void> {
    await this.#of(model).succeeded(passage);
    await this.#wasReached(model);
  }

  /**
   * What a real call of this process has found out: whether its provider can be reached. A call that is no
   * step of a turn says only this, and limits nobody.
   */
  noteCall(model: Model, outcome: ModelOutcome): void {
    if (outcome.kind === 'reply') this.#hold(this.#wasReached(model));
    else if (outcome.code === TRANSPORT_FAULT) this.#unreached.add(model.account);
  }

  /**
   * Whether the provider is known to be unreachable: a real call of this process failed by transport, none
   * has succeeded since, and a cheap probe fails too, the last one or one that is made now.
   */
  async isUnreachable(model: Model, signal: AbortSignal): Promise<boolean> {
    if (!this.#unreached.has(model.account)) return false;
    if (this.#at(asideAccount(model.account)).row.state === 'down') return true;
    return (await this.#signOf(model, signal)) === 'unreachable';
  }

  /**
   * The tries of a step are used up by transport failures, timeouts, 5xx, overload or rate limits: the
   * account is `down` until a probe finds it. Committed before the task waits for it.
   */
  async exhausted(model: Model, code: string): Promise<void> {
    await this.#of(model).exhausted(code);
  }

  /** Gives a probe's turn back when its caller was aborted. Nothing for any other passage. */
  release(model: Model, passage: Passage): void {
    this.#hold(this.#of(model).released(passage));
  }

  /** Reads the limiters that the store has: at the start, and again where other hosts change them. */
  async load(): Promise<void> {
    const { store } = this.#host.parts;
    const rows = await store.query('limiter.list', { limit: ACCOUNTS_MAX });
    for (const row of rows) this.#at(row.account).learn(row);
  }

  /** Looks at whoever waits, and begins the cheap probes that are due. */
  look(): void {
    if (!this.#host.mayProbe()) return;
    const now = this.#host.parts.clock.now();
    for (const turnstile of this.#turnstiles.values()) {
      turnstile.wake();
      const at = cheapProbeAt(turnstile.row, now);
      if (at !== null && at <= now) this.#findOut(turnstile);
    }
  }

  /** The accounts whose waiting tasks may return; one that somebody is about to find out is none. */
  returning(): readonly Returning[] {
    const now = this.#host.parts.clock.now();
    return [...this.#turnstiles.values()].flatMap(({ row: limiter, isAwaited }) => {
      const many = limiter.version === 0 ? 'none' : mayReturn(limiter, now);
      return many === 'none' || (many === 'one' && isAwaited) ? [] : [{ limiter, many }];
    });
  }

  /** When a limiter changes by itself next, or is probed; null when none does. */
  nextAt(): Instant | null {
    const now = this.#host.parts.clock.now();
    const instants = this.limited.map((row) => turnsAt(row, now)).filter((at) => at !== null);
    return instants.length === 0 ? null : Math.min(...instants);
  }

  async close(): Promise<void> {
    for (const turnstile of this.#turnstiles.values()) turnstile.close();
    for (const probing of this.#probing.values()) probing.abort();
    await Promise.all(this.#pending);
  }

  #of(model: Model): Turnstile {
    this.#models.set(model.account, model);
    return this.#at(model.account);
  }

  #at(account: string): Turnstile {
    const known = this.#turnstiles.get(account);
    if (known !== undefined) return known;
    const turnstile = new Turnstile(this.#host, account);
    this.#turnstiles.set(account, turnstile);
    return turnstile;
  }

  #findOut(turnstile: Turnstile): void {
    const { account } = turnstile;
    if (this.#probing.has(account)) return;
    const probing = new AbortController();
    this.#probing.set(account, probing);
    this.#hold(this.#probe(turnstile, probing.signal).finally(() => this.#probing.delete(account)));
  }

  /** Reserved before it is made; only a sign of life changes what the reservation has written. */
  async #probe(turnstile: Turnstile, signal: AbortSignal): Promise<void> {
    const model = this.#models.get(turnstile.account);
    if (model === undefined) return this.#forget(turnstile);
    const reserved = await turnstile.apply((row, now) => {
      const at = cheapProbeAt(row, now);
      return at !== null && at <= now ? reserveCheapProbe(row, now) : row;
    });
    if (reserved?.moved !== true || signal.aborted) return;
    const sign = await this.#signOf(model, signal);
    if (sign === 'alive') await turnstile.apply(afterSign);
  }

  async #signOf(model: Model, signal: AbortSignal): Promise<'alive' | 'unreachable'> {
    const over = new AbortController();
    const late = this.#host.parts.clock.sleep(LIMITS.probeCallMs, over.signal);
    const ended = new AbortController();
    const unreachable = late.then(() => 'unreachable' as const);
    const onAbort = (): void => over.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([model.probe(ended.signal), unreachable]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      over.abort();
      ended.abort();
    }
  }

  /** A real call has reached the provider: what waits for it aside need not find that out. */
  async #wasReached({ account }: Model): Promise<void> {
    if (!this.#unreached.delete(account)) return;
    await this.#at(asideAccount(account)).apply((row, now) =>
      row.state === 'open' ? row : { ...openLimiter(row.account, now), version: row.version },
    );
  }

  /** No configured model uses this account any more: nothing can find it, and nobody needs to wait for it. */
  async #forget(turnstile: Turnstile): Promise<void> {
    this.#host.parts.log.info('a limited account is no longer configured', {
      account: turnstile.account,
    });
    await turnstile.apply((row, now) =>
      row.state === 'down' ? { ...openLimiter(row.account, now), version: row.version } : row,
    );
  }

  #hold(work: Promise<void>): void {
    const held = work
      .catch((error: unknown) => this.#host.onFault(error, 'limiter'))
      .finally(() => this.#pending.delete(held));
    this.#pending.add(held);
  }
}

function isLimited({ state }: LimiterRecord): boolean {
  return state !== 'open';
}
