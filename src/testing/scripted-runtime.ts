import type { SessionId } from '../kernel/ids.ts';
import type { Runtime, RuntimeOutcome, RuntimeState } from '../ports/runtime.ts';

/** What a runtime is asked for. */
export type RuntimeAction = 'compact' | 'summarise' | 'rotate' | 'seed' | 'look';

/**
 * How a call goes wrong, before its effect or after it. A call that hangs ends with its signal; one that dies
 * never settles, whatever its signal says, as of a process that is gone.
 */
export type RuntimeMishap = FailingCall | WrongAnswer;

export type FailingCall = { readonly isLate?: boolean } & (
  | { readonly kind: 'rejects'; readonly code?: string; readonly said?: string }
  | { readonly kind: 'throws'; readonly code: string }
  | { readonly kind: 'hangs' | 'dies' }
);

/** Of `summarise`: it answers for another session than it was asked for, or with another summary. */
interface WrongAnswer {
  readonly kind: 'answers';
  readonly session?: SessionId;
  readonly summary?: string;
}

export interface RuntimeCall {
  readonly action: RuntimeAction;
  /** The session that it was about; of `rotate` the one it leaves. */
  readonly session: SessionId;
  /** Of `rotate`. */
  readonly next?: SessionId;
  /** Of `seed`. */
  readonly text?: string;
  /** `open` while it has not settled. */
  readonly came: 'open' | 'done' | 'rejected' | 'threw';
}

/** What it keeps of a session. */
export interface KeptSession {
  readonly tokens: number;
  readonly compactions: number;
  readonly seed: string | null;
  /** The session that it was rotated to. */
  readonly next: SessionId | null;
}

export interface ScriptedRuntimeOptions {
  /** Whether a session that was never named before is one of its own; default yes. */
  readonly adopts?: boolean;
  /** What a session takes that is new to it; default 10000. */
  readonly tokens?: number;
  /** What a compact makes of them; default half. */
  readonly compacted?: (tokens: number) => number;
  readonly summary?: (session: SessionId) => string;
}

/** A runtime in memory whose sessions can be looked at, and whose calls can be made to go wrong. */
export class ScriptedRuntime implements Runtime {
  readonly name = 'scripted';
  readonly #calls: RuntimeCall[] = [];
  readonly #sessions = new Map<SessionId, KeptSession>();
  readonly #next = new Map<RuntimeAction, RuntimeMishap[]>();
  readonly #always = new Map<RuntimeAction, RuntimeMishap>();
  readonly #adopts: boolean;
  readonly #fresh: KeptSession;
  readonly #compacted: (tokens: number) => number;
  readonly #summary: (session: SessionId) => string;

  constructor(options: ScriptedRuntimeOptions = {}) {
    const { adopts = true, tokens = 10_000, compacted, summary } = options;
    this.#adopts = adopts;
    this.#fresh = { tokens, compactions: 0, seed: null, next: null };
    this.#compacted = compacted ?? ((before) => Math.ceil(before / 2));
    this.#summary = summary ?? ((session) => `what was said in ${session}`);
  }

  /** Every call, in order. */
  get calls(): readonly RuntimeCall[] {
    return this.#calls;
  }

  /** How often it was asked for this. */
  timesAsked(action: RuntimeAction): number {
    return this.#calls.filter((call) => call.action === action).length;
  }

  /** What it keeps of a session; undefined of one that it does not know. */
  kept(session: SessionId): KeptSession | undefined {
    return this.#sessions.get(session);
  }

  /** Makes a session one of its own. */
  open(session: SessionId): void {
    this.#sessions.set(session, this.#fresh);
  }

  /** The next calls of this kind go wrong, one by one in this order. */
  fail(action: RuntimeAction, ...mishaps: readonly RuntimeMishap[]): void {
    this.#next.set(action, [...(this.#next.get(action) ?? []), ...mishaps]);
  }

  /** Every call of this kind goes wrong like this, unless one of `fail` is due; null ends it. */
  failAlways(action: RuntimeAction, mishap: RuntimeMishap | null): void {
    if (mishap === null) this.#always.delete(action);
    else this.#always.set(action, mishap);
  }

  compact(
    session: SessionId,
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<{ readonly tokens: number }>> {
    return this.#made({ action: 'compact', session }, signal, () =>
      this.#onto(session, (kept) => {
        const tokens = this.#compacted(kept.tokens);
        this.#sessions.set(session, { ...kept, tokens, compactions: kept.compactions + 1 });
        return { kind: 'done', value: { tokens } };
      }),
    );
  }

  summarise(
    session: SessionId,
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<{ readonly session: SessionId; readonly summary: string }>> {
    return this.#made({ action: 'summarise', session }, signal, (mishap) =>
      this.#onto(session, () => {
        const given: Partial<WrongAnswer> = mishap?.kind === 'answers' ? mishap : {};
        const { session: told = session, summary = this.#summary(told) } = given;
        return { kind: 'done', value: { session: told, summary } };
      }),
    );
  }

  rotate(
    { from, next }: { readonly from: SessionId; readonly next: SessionId },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>> {
    return this.#made({ action: 'rotate', session: from, next }, signal, () =>
      this.#onto(from, (kept) => {
        if (this.#sessions.has(next)) return rejected('session_exists', `there is a ${next}`);
        this.#sessions.set(from, { ...kept, next });
        this.#sessions.set(next, { ...this.#fresh, tokens: 0 });
        return { kind: 'done', value: null };
      }),
    );
  }

  seed(
    { session, text }: { readonly session: SessionId; readonly text: string },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>> {
    return this.#made({ action: 'seed', session, text }, signal, () =>
      this.#onto(session, (kept) => {
        if (kept.seed === null) this.#sessions.set(session, { ...kept, seed: text });
        return { kind: 'done', value: null };
      }),
    );
  }

  async look(session: SessionId, signal: AbortSignal): Promise<RuntimeState | null> {
    const outcome = await this.#made<RuntimeState | null>(
      { action: 'look', session },
      signal,
      () => ({ kind: 'done', value: this.#standing(session) }),
    );
    if (outcome.kind === 'done') return outcome.value;
    throw failure(outcome.code, outcome.message);
  }

  /** Makes a call as it is scripted, and keeps what came of it. */
  async #made<T>(
    call: Omit<RuntimeCall, 'came'>,
    signal: AbortSignal,
    effect: (mishap: RuntimeMishap | undefined) => RuntimeOutcome<T>,
  ): Promise<RuntimeOutcome<T>> {
    const at = this.#calls.push({ ...call, came: 'open' }) - 1;
    const settle = (came: RuntimeCall['came']): void => {
      this.#calls[at] = { ...call, came };
    };
    const mishap = this.#next.get(call.action)?.shift() ?? this.#always.get(call.action);
    try {
      if (signal.aborted) throw failure('aborted', 'ended before it began');
      const outcome = await ends(() => effect(mishap), mishap, signal);
      settle(outcome.kind);
      return outcome;
    } catch (error) {
      settle('threw');
      throw error;
    }
  }

  /** What a call comes to that is about a session: of another than it is on, nothing. */
  #onto<T>(
    session: SessionId,
    effect: (kept: KeptSession) => RuntimeOutcome<T>,
  ): RuntimeOutcome<T> {
    const kept = this.#sessions.get(session) ?? (this.#adopts ? this.#fresh : undefined);
    if (kept === undefined) return rejected('unknown_session', `there is no ${session}`);
    if (kept.next !== null) return rejected('not_current', `${session} went on as ${kept.next}`);
    this.#sessions.set(session, kept);
    return effect(kept);
  }

  #standing(session: SessionId): RuntimeState | null {
    const kept = this.#sessions.get(session);
    if (kept === undefined) return this.#adopts ? { session, isSeeded: false } : null;
    if (kept.next !== null) return this.#standing(kept.next);
    return { session, isSeeded: kept.seed !== null };
  }
}

/** What a call comes to: what goes wrong before its effect, the effect, what goes wrong after it. */
async function ends<T>(
  effect: () => RuntimeOutcome<T>,
  mishap: RuntimeMishap | undefined,
  signal: AbortSignal,
): Promise<RuntimeOutcome<T>> {
  if (mishap === undefined || mishap.kind === 'answers') return effect();
  if (mishap.isLate === true) effect();
  return wrong(mishap, signal);
}

async function wrong(mishap: FailingCall, signal: AbortSignal): Promise<Rejection> {
  switch (mishap.kind) {
    case 'rejects':
      return rejected(mishap.code ?? 'refused', mishap.said ?? 'the runtime said no');
    case 'throws':
      throw failure(mishap.code, 'the runtime broke');
    case 'hangs':
      return ended(signal);
    case 'dies':
      return NEVER;
  }
}

type Rejection = Extract<RuntimeOutcome<never>, { readonly kind: 'rejected' }>;

const NEVER = new Promise<never>(() => {});

function ended(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(failure('aborted', 'ended by its signal'));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return promise;
}

function rejected(code: string, message: string): Rejection {
  return { kind: 'rejected', code, message };
}

/** An error as Node makes them: `code` says what it was. */
function failure(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
