import {
  admit,
  afterFault,
  afterRelease,
  afterSuccess,
  afterTries,
  openLimiter,
  reserveProbe,
  type Heard,
} from '../../core/budget/limiter.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { Millis } from '../../kernel/time.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import type { Passage } from './gate.ts';
import { commitLimiter, type LimiterMoved, type LimiterRule } from './limiter.ts';

export interface TurnstileHost {
  readonly parts: EngineParts;
  /** False while the wall clock is not trusted: then no call finds out (design principle 8). */
  readonly mayProbe: () => boolean;
  /** Called when a limiter has changed. */
  readonly onChange: () => void;
}

interface Waiter {
  readonly answer: (passage: Passage) => void;
  readonly fail: (error: unknown) => void;
}

const GO: Passage = { kind: 'go', probe: false };
const ABORTED: Passage = { kind: 'aborted' };
// The store's clock and ours may differ: what it says is not due yet is not asked for again at once.
const AGAIN_MS: Millis = 50;

/** The gate of one account: who waits for it, in the order of arrival, and who has its one turn. */
export class Turnstile {
  readonly account: string;
  readonly #host: TurnstileHost;
  readonly #waiters = new Set<Waiter>();
  #row: LimiterRecord;
  #probe: Passage | null = null;
  #timer: AbortController | null = null;
  #isServing = false;
  #isAgain = false;

  constructor(host: TurnstileHost, account: string) {
    this.account = account;
    this.#host = host;
    this.#row = openLimiter(account, host.parts.clock.now());
  }

  /** On an exclusive store without the turn of a call that died with its host. */
  get row(): LimiterRecord {
    const isLost = this.#isAlone && this.#probe === null && this.#row.state !== 'down';
    return isLost ? withoutProbe(this.#row) : this.#row;
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  async pass(signal: AbortSignal): Promise<Passage> {
    if (signal.aborted) return ABORTED;
    if (this.#row.state === 'open') return GO;
    // Another host may have found it meanwhile.
    if (!this.#isAlone) await this.reload();
    return this.#enqueue(signal);
  }

  async failed(fault: ModelFault, passage: Passage): Promise<void> {
    await this.#heard(passage, (row, heard) => afterFault(row, fault, heard));
  }

  async succeeded(passage: Passage): Promise<void> {
    await this.#heard(passage, afterSuccess);
  }

  async released(passage: Passage): Promise<void> {
    if (passage === this.#probe) await this.#heard(passage, afterRelease);
  }

  async exhausted(code: string): Promise<void> {
    await this.apply((row, now) => afterTries(row, code, now));
  }

  /** Commits a change; what would change nothing is not committed. */
  async apply(rule: LimiterRule): Promise<LimiterMoved | undefined> {
    const { clock } = this.#host.parts;
    if (rule(this.#row, clock.now()) === this.#row) return undefined;
    const moved = await commitLimiter(this.#host.parts, this.account, rule);
    this.learn(moved.row);
    return moved;
  }

  /** Takes what the store has, unless something newer is known. */
  learn(row: LimiterRecord): void {
    if (row.version < this.#row.version) return;
    const isNews = row.version > this.#row.version;
    this.#row = row;
    if (!isNews) return;
    this.wake();
    this.#host.onChange();
  }

  async reload(): Promise<void> {
    const { account } = this;
    // A turn waits for it: a passing fault must not cost it its host.
    const row = await readAgain(this.#host.parts, 'limiter.byAccount', { account });
    if (row !== undefined) this.learn(row);
  }

  /** Looks again at whoever waits. */
  wake(): void {
    if (this.#isServing) this.#isAgain = true;
    else if (this.#waiters.size > 0) void this.#serve();
  }

  /** Waits for no instant any more; who still waits is answered by its own signal. */
  close(): void {
    this.#timer?.abort();
    this.#timer = null;
  }

  get #isAlone(): boolean {
    return this.#host.parts.store.traits.exclusive;
  }

  /** Commits what an outcome says; whoever had the turn has it no longer, whatever becomes of the commit. */
  async #heard(
    passage: Passage,
    rule: (row: LimiterRecord, heard: Heard) => LimiterRecord,
  ): Promise<void> {
    const isProbe = passage === this.#probe;
    try {
      await this.apply((row, now) => rule(row, { now, isProbe }));
    } finally {
      if (isProbe && passage === this.#probe) this.#probe = null;
      this.wake();
    }
  }

  async #enqueue(signal: AbortSignal): Promise<Passage> {
    const { promise, resolve, reject } = Promise.withResolvers<Passage>();
    const waiter: Waiter = { answer: resolve, fail: reject };
    const onAbort = (): void => {
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) this.close();
      resolve(ABORTED);
    };
    if (signal.aborted) return ABORTED;
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiters.add(waiter);
    this.wake();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    do {
      this.#isAgain = false;
      while (this.#waiters.size > 0 && (await this.#serveNext()));
    } while (this.#isAgain);
    this.#isServing = false;
  }

  /** Answers whom it can; false when the rest has to wait for an instant or an outcome. */
  async #serveNext(): Promise<boolean> {
    const admission = admit(this.row, this.#host.parts.clock.now());
    switch (admission.kind) {
      case 'wait':
        this.#arm(admission.until - this.#host.parts.clock.now());
        return false;
      case 'probe':
        return this.#host.mayProbe() && (await this.#serveProbe());
      case 'go':
        this.#answerAll(GO);
        return false;
      case 'quota':
      case 'down':
      case 'refused':
        this.#answerAll(admission);
        return false;
    }
  }

  /** Gives the one turn to who waits longest, once it is committed. */
  async #serveProbe(): Promise<boolean> {
    const passage: Passage = { kind: 'go', probe: true };
    this.#probe = passage;
    try {
      const isGiven = await this.#reserve();
      if (!isGiven) {
        this.#probe = null;
        return false;
      }
    } catch (error) {
      this.#probe = null;
      this.#takeNext()?.fail(error);
      return true;
    }
    const next = this.#takeNext();
    if (next === undefined) await this.released(passage).catch(() => {});
    else next.answer(passage);
    return true;
  }

  async #reserve(): Promise<boolean> {
    const own = this.#isAlone ? withoutProbe : (row: LimiterRecord) => row;
    const { row, moved, now } = await commitLimiter(this.#host.parts, this.account, (found, at) =>
      admit(own(found), at).kind === 'probe' ? reserveProbe(found, at) : found,
    );
    this.learn(row);
    if (moved) return true;
    const admission = admit(own(row), now);
    const until = admission.kind === 'wait' ? admission.until : now;
    this.#arm(Math.max(until - now, AGAIN_MS));
    return false;
  }

  #takeNext(): Waiter | undefined {
    const [next] = this.#waiters;
    if (next !== undefined) this.#waiters.delete(next);
    return next;
  }

  #answerAll(passage: Passage): void {
    const waiting = [...this.#waiters];
    this.#waiters.clear();
    this.close();
    for (const { answer } of waiting) answer(passage);
  }

  #arm(ms: Millis): void {
    this.close();
    this.#timer = new AbortController();
    void this.#wakeIn(ms, this.#timer.signal);
  }

  async #wakeIn(ms: Millis, signal: AbortSignal): Promise<void> {
    await this.#host.parts.clock.sleep(ms, signal);
    if (!signal.aborted) this.wake();
  }
}

function withoutProbe(row: LimiterRecord): LimiterRecord {
  return row.probeUntil === null ? row : { ...row, probeUntil: null };
}
