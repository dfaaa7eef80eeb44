import { spawn, type ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND, type Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { bindProcesses, type ProcessBound } from './process-bound.ts';
import { countInNamespaceOf, descendantsOf, isRunning } from './processes.ts';
import { asOther, type Identity } from './sandbox.ts';
import { PROCESSES_MAX, type End, type Started } from './started.ts';

const LOOK_MS: Millis = 100;
const GONE_LOOK_MS: Millis = 10;
const GONE_LOOKS_MAX = 500;
const STATUS_CHARS_MAX = 10_000;
/** A sandbox that has not come up by then is ended from outside. */
const SETUP_MS: Millis = 2 * SECOND;

export interface Start {
  readonly bwrap: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly identity: Identity;
  readonly clock: Clock;
}

/**
 * One program in its sandbox. The sandbox is a namespace of processes: whatever the program starts,
 * in whatever group or session, ends with the namespace's first process.
 */
export class SandboxedProcess implements Started {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #bound: ProcessBound | undefined;
  readonly #over = new AbortController();
  readonly #closed: Promise<void>;
  readonly #up: Promise<void>;
  #first: number | undefined;
  #exitCode: number | undefined;
  #wasTooMany = false;
  #hasExited = false;
  #ending: Promise<void> | undefined;

  /** Throws the system's error when it cannot be started. */
  static async start(start: Start): Promise<SandboxedProcess> {
    const isRoot = start.identity.uid === 0;
    const bound = isRoot ? await bindProcesses(PROCESSES_MAX) : undefined;
    const child = await spawned(start, bound).catch(async (error: unknown) => {
      await bound?.release(start.clock);
      throw error;
    });
    const started = new SandboxedProcess(child, start.clock, bound);
    if (isRoot && bound === undefined) void started.#watch();
    return started;
  }

  private constructor(child: ChildProcess, clock: Clock, bound: ProcessBound | undefined) {
    this.#child = child;
    this.#clock = clock;
    this.#bound = bound;
    child.on('error', () => undefined);
    child.once('exit', () => {
      this.#hasExited = true;
    });
    this.#closed = new Promise((resolve) => {
      child.once('close', () => {
        this.#over.abort();
        resolve();
      });
    });
    this.#up = this.#readStatus();
  }

  get output(): readonly Readable[] {
    return [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null);
  }

  async ended(): Promise<End> {
    await this.#closed;
    await this.#ending;
    for (let look = 0; look < GONE_LOOKS_MAX && (await this.#isFirstRunning()); look += 1) {
      await this.#clock.sleep(GONE_LOOK_MS);
    }
    await this.#bound?.release(this.#clock);
    return { exitCode: this.#exitCode, wasTooMany: this.#wasTooMany };
  }

  end(): void {
    this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    await this.#settled(this.#up, SETUP_MS);
    if (this.#first !== undefined && !this.#wasTooMany) {
      for (const pid of await descendantsOf(this.#first)) signal(pid, 'SIGTERM');
    }
    await this.#settled(this.#closed, LIMITS.toolKillGraceMs);
    this.#kill();
    await this.#settled(this.#closed, SECOND);
    this.#killGroup();
  }

  async #settled(event: Promise<void>, within: Millis): Promise<void> {
    const timer = new AbortController();
    await Promise.race([event, this.#clock.sleep(within, timer.signal)]);
    timer.abort();
  }

  /** The first process is collected by its parent in our group, so its number is its own until then. */
  #kill(): void {
    if (this.#first === undefined) this.#killGroup();
    else if (!this.#hasExited) signal(this.#first, 'SIGKILL');
  }

  #killGroup(): void {
    if (!this.#hasExited && this.#child.pid !== undefined) signal(-this.#child.pid, 'SIGKILL');
  }

  async #isFirstRunning(): Promise<boolean> {
    return this.#first !== undefined && (await isRunning(this.#first));
  }

  /** Resolves when the sandbox is up, or will never be. */
  #readStatus(): Promise<void> {
    const status = this.#child.stdio[3];
    if (!(status instanceof Readable)) return Promise.resolve();
    let text = '';
    return new Promise((resolve) => {
      status.setEncoding('utf8');
      status.on('data', (piece: string) => {
        text = (text + piece).slice(0, STATUS_CHARS_MAX);
        this.#first ??= numberIn(text, /"child-pid": (\d+)/);
        this.#exitCode ??= numberIn(text, /"exit-code": (\d+)/);
        if (this.#first !== undefined) resolve();
      });
      status.once('close', resolve);
      status.once('error', () => resolve());
    });
  }

  /** Weaker than a bound of the kernel: many can be started between two looks. */
  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#clock.sleep(LOOK_MS, this.#over.signal);
      if (this.#first === undefined) continue;
      if ((await countInNamespaceOf(this.#first)) <= PROCESSES_MAX) continue;
      this.#wasTooMany = true;
      this.#kill();
    }
  }
}

async function spawned(start: Start, bound: ProcessBound | undefined): Promise<ChildProcess> {
  const plain = { program: start.bwrap, args: start.args };
  const { program, args } = bound?.wrap(start.bwrap, start.args) ?? plain;
  const child = spawn(program, args, {
    cwd: '/',
    env: start.environment,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    ...asOther(start.identity),
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return child;
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
