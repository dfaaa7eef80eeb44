import type { Instant, Millis } from '../kernel/time.ts';
import { hashText, type Random } from './sim-random.ts';

/**
 * The life of one simulated process. What a `dead` one still waits for never comes; what a `paused`
 * one waits for comes when it runs again, however late: a zombie.
 */
export class Epoch {
  readonly name: string;
  state: 'running' | 'paused' | 'dead' = 'running';
  constructor(name: string) {
    this.name = name;
  }
}

/** One call to a port that has not been answered yet. */
interface PendingCall {
  readonly epoch: Epoch;
  readonly label: string;
  readonly order: number;
  readyAt: Instant;
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface CallOptions {
  readonly epoch: Epoch;
  /** What the trace says: port, verb and whatever makes two calls different. */
  readonly label: string;
  /** How long the answer takes, in virtual milliseconds. */
  readonly delay: Millis;
  /** When it aborts, the answer is due at once, or after `linger` milliseconds. */
  readonly signal?: AbortSignal | undefined;
  readonly linger?: Millis;
}

/** What is told of each step, before its work is done. */
export interface SchedulerStep {
  readonly number: number;
  readonly at: Instant;
  readonly epoch: Epoch;
  readonly label: string;
}

/**
 * Decides alone when a call to a port is answered: one at a time, the earliest first, by seeded chance
 * among equals, and in virtual time that jumps to the next answer. Whatever the code under test does in
 * between has come to rest before the next one is answered.
 */
export class Scheduler {
  /** Virtual time since the start that only moves forward: the machine's uptime. */
  elapsed: Instant = 0;
  steps = 0;
  /** Over number, process and label of every step: equal for equal runs. */
  traceHash = hashText('');
  /** Sees each step; used for traces, for crash points and for faults of the process. */
  onStep: ((step: SchedulerStep) => void) | undefined;
  /** Sees each note. */
  onNote: ((text: string) => void) | undefined;
  readonly #random: Random;
  #calls: PendingCall[] = [];
  #order = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Does `work` when the answer is due and answers with what it returns; rejects with what it throws. */
  call<T>(options: CallOptions, work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#order += 1;
      const call: PendingCall = {
        epoch: options.epoch,
        label: options.label,
        order: this.#order,
        readyAt: this.elapsed + Math.max(0, Math.round(options.delay)),
        work,
        resolve,
        reject,
      };
      this.#calls.push(call);
      const hasten = (): void => {
        call.readyAt = Math.min(call.readyAt, this.elapsed + (options.linger ?? 0));
      };
      if (options.signal?.aborted === true) hasten();
      else options.signal?.addEventListener('abort', hasten, { once: true });
    });
  }

  /** Adds what a step did to the trace. */
  note(text: string): void {
    this.traceHash = hashText(text, this.traceHash);
    this.onNote?.(text);
  }

  /** The calls that a running process waits for, by label. */
  waiting(epoch: Epoch): readonly string[] {
    return this.#calls.filter((call) => call.epoch === epoch).map((call) => call.label);
  }

  /**
   * Answers one call. False when no running process waits for anything, or when nothing is due
   * until `until` (then the virtual time stands there).
   */
  async step(until: Instant = Infinity): Promise<boolean> {
    const next = this.#next();
    if (next === undefined || next.readyAt > until) {
      if (until !== Infinity) this.elapsed = Math.max(this.elapsed, until);
      return false;
    }
    this.elapsed = Math.max(this.elapsed, next.readyAt);
    this.#calls.splice(this.#calls.indexOf(next), 1);
    this.steps += 1;
    this.traceHash = hashText(`${this.steps}|${next.epoch.name}|${next.label}`, this.traceHash);
    this.onStep?.({ number: this.steps, at: this.elapsed, epoch: next.epoch, label: next.label });
    // The observer may have ended or paused this very process.
    const state: Epoch['state'] = next.epoch.state;
    if (state === 'dead') return true;
    if (state === 'paused') {
      this.#calls.push(next);
      return true;
    }
    await answer(next);
    return true;
  }

  /** Answers calls until `done` says so; false when nothing was left to answer or `most` steps were done. */
  async run(done: () => boolean, most = Infinity): Promise<boolean> {
    for (let count = 0; count < most; count += 1) {
      if (done()) return true;
      // oxlint-disable-next-line no-await-in-loop -- one answer at a time is the point
      if (!(await this.step())) return done();
    }
    return done();
  }

  #next(): PendingCall | undefined {
    let due: PendingCall[] = [];
    let earliest = Infinity;
    let hasDead = false;
    for (const call of this.#calls) {
      if (call.epoch.state === 'dead') hasDead = true;
      if (call.epoch.state !== 'running') continue;
      const readyAt = Math.max(call.readyAt, this.elapsed);
      if (readyAt > earliest) continue;
      if (readyAt < earliest) due = [];
      earliest = readyAt;
      due.push(call);
    }
    if (hasDead) this.#calls = this.#calls.filter((call) => call.epoch.state !== 'dead');
    return due.length > 1 ? this.#random.pick(due) : due[0];
  }
}

async function answer(call: PendingCall): Promise<void> {
  try {
    const value = call.work();
    // A value that is there costs no turn of the event loop.
    call.resolve((value instanceof Promise ? await value : value) as never);
  } catch (error) {
    call.reject(error);
  }
  await atRest();
}

/** Resolves when every continuation that could run has run. */
export function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
