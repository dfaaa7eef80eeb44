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
  readyAt: Instant;
  /** Aborted, it hastens the answer. */
  signal: AbortSignal | undefined;
  readonly linger: Millis;
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

  constructor(random: Random) {
    this.#random = random;
  }

  /** Does `work` when the answer is due and answers with what it returns; rejects with what it throws. */
  call<T>(options: CallOptions, work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#calls.push({
        epoch: options.epoch,
        label: options.label,
        readyAt: this.elapsed + Math.max(0, Math.round(options.delay)),
        signal: options.signal,
        linger: options.linger ?? 0,
        work,
        resolve,
        reject,
      });
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
  step(until: Instant = Infinity): Promise<boolean> {
    let count = 0;
    return this.drive(() => (count += 1) === 1, until);
  }

  /**
   * Answers calls for as long as `goesOn`, asked before each, says so; then true. False when no running
   * process waits for anything, or when nothing is due until `until`.
   */
  drive(goesOn: () => boolean, until: Instant = Infinity): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const work = (): void => {
        try {
          for (;;) {
            if (!goesOn()) return resolve(true);
            const next = this.#take(until);
            if (next === undefined) return resolve(false);
            const late = next.epoch.state === 'running' ? answer(next) : undefined;
            // Only what waits for the machine itself needs the event loop.
            if (late !== undefined) return void late.then(() => setImmediate(work), reject);
          }
        } catch (error) {
          reject(error);
        }
      };
      setImmediate(work);
    });
  }

  /** The next call, told of and taken from those that wait; one of a process that sleeps stays. */
  #take(until: Instant): PendingCall | undefined {
    const next = this.#next();
    if (next === undefined || next.readyAt > until) {
      if (until !== Infinity) this.elapsed = Math.max(this.elapsed, until);
      return undefined;
    }
    this.elapsed = Math.max(this.elapsed, next.readyAt);
    this.#calls.splice(this.#calls.indexOf(next), 1);
    this.steps += 1;
    this.traceHash = hashText(`${this.steps}|${next.epoch.name}|${next.label}`, this.traceHash);
    this.onStep?.({ number: this.steps, at: this.elapsed, epoch: next.epoch, label: next.label });
    // The observer may have ended or paused this very process.
    if (next.epoch.state === 'paused') this.#calls.push(next);
    return next;
  }

  #next(): PendingCall | undefined {
    let first: PendingCall | undefined;
    let [earliest, due, dead] = [Infinity, 0, 0];
    for (const call of this.#calls) {
      if (call.signal?.aborted === true) hasten(call, this.elapsed);
      if (call.epoch.state === 'dead') dead += 1;
      if (call.epoch.state !== 'running') continue;
      const readyAt = Math.max(call.readyAt, this.elapsed);
      if (readyAt > earliest) continue;
      if (readyAt < earliest) [first, due] = [call, 0];
      earliest = readyAt;
      due += 1;
    }
    if (dead > 0) this.#calls = this.#calls.filter((call) => call.epoch.state !== 'dead');
    return due > 1 ? this.#nth(this.#random.below(due), earliest) : first;
  }

  /** Of the calls that are due at this time, the one in this place. */
  #nth(place: number, at: Instant): PendingCall | undefined {
    let left = place;
    return this.#calls.find((call) => {
      if (call.epoch.state !== 'running' || Math.max(call.readyAt, this.elapsed) !== at)
        return false;
      left -= 1;
      return left < 0;
    });
  }
}

/** No time passes between an abort and the next look at the calls, so this is the time of the abort. */
function hasten(call: PendingCall, now: Instant): void {
  call.signal = undefined;
  call.readyAt = Math.min(call.readyAt, now + call.linger);
}

/** Answers a call and lets everything come to rest; a promise when the answer takes real time. */
function answer(call: PendingCall): Promise<void> | undefined {
  const value = begun(call);
  if (!(value instanceof Promise)) {
    // A value that is there costs no turn of the event loop.
    call.resolve(value as never);
    continueAll();
    return undefined;
  }
  let isSettled = false;
  const settle = async (): Promise<void> => {
    try {
      call.resolve((await value) as never);
    } catch (error) {
      call.reject(error);
    }
    isSettled = true;
  };
  const settled = settle();
  continueAll();
  return isSettled ? undefined : settled;
}

function begun({ work, reject }: PendingCall): unknown {
  try {
    return work();
  } catch (error) {
    reject(error);
    return undefined;
  }
}

/**
 * What Node does between two callbacks of its event loop: runs every continuation that can run, and
 * those that they make. A turn of the loop itself costs ten times as much.
 */
const { _tickCallback: continueAll } = process as unknown as {
  readonly _tickCallback: () => void;
};

/** Resolves when every continuation that could run has run. */
export function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
