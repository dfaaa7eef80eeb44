import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND, type Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { bindProcesses, type ProcessBound } from './process-bound.ts';
import { Family, threadsOf } from './processes.ts';
import { asOther, type Identity } from './sandbox.ts';
import { PROCESSES_MAX, type End, type Started } from './started.ts';

const LOOK_MS: Millis = 200;
const KILL_AGAIN_MS: Millis = 10;
const KILLS_MAX = 200;
const SIGNALLED = 128;

export interface PlainStart {
  readonly program: string;
  /** Gets the most processes that the user may have, where the kernel can hold it to that. */
  readonly args: (threadsMax: number | undefined) => readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly identity: Identity;
  readonly clock: Clock;
}

/**
 * One program without a sandbox: a process group of its own. Weaker than a sandbox: it reaches all that its user
 * reaches, and where no control group can be made, a daemon that leaves its group, its session and
 * its parent between two looks stays behind.
 */
export class PlainProcess implements Started {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #bound: ProcessBound | undefined;
  readonly #family: Family;
  readonly #exited: Promise<unknown>;
  readonly #closed: Promise<unknown>;
  readonly #over = new AbortController();
  #wasTooMany = false;
  #ending: Promise<void> | undefined;

  /** Throws the system's error when it cannot be started. */
  static async start(start: PlainStart): Promise<PlainProcess> {
    const bound = start.identity.uid === 0 ? await bindProcesses(PROCESSES_MAX) : undefined;
    try {
      return new PlainProcess(await spawned(start, bound), start.clock, bound);
    } catch (error) {
      await bound?.release(start.clock);
      throw error;
    }
  }

  private constructor({ child, family }: Spawned, clock: Clock, bound: ProcessBound | undefined) {
    this.#child = child;
    this.#family = family;
    this.#clock = clock;
    this.#bound = bound;
    this.#exited = once(child, 'exit').catch(() => undefined);
    this.#closed = once(child, 'close').catch(() => undefined);
    void this.#watch();
  }

  get output(): readonly Readable[] {
    return [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null);
  }

  async ended(): Promise<End> {
    await this.#exited;
    await this.#ending;
    this.#over.abort();
    await this.#killAll();
    await this.#settled(this.#closed, SECOND);
    // Whoever left could hold its output open for ever.
    for (const stream of this.output) stream.destroy();
    await this.#bound?.release(this.#clock);
    const { exitCode, signalCode } = this.#child;
    const signal = signalCode === null ? 0 : constants.signals[signalCode];
    return { exitCode: exitCode ?? SIGNALLED + signal, wasTooMany: this.#wasTooMany };
  }

  end(): void {
    this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    this.#signalGroup('SIGTERM');
    for (const pid of await this.#family.look()) signalTo(pid, 'SIGTERM');
    await this.#settled(this.#exited, LIMITS.toolKillGraceMs);
    await this.#killAll();
  }

  async #settled(event: Promise<unknown>, within: Millis): Promise<void> {
    const timer = new AbortController();
    await Promise.race([event, this.#clock.sleep(within, timer.signal)]);
    timer.abort();
  }

  async #killAll(): Promise<void> {
    this.#signalGroup('SIGKILL');
    for (let time = 0; time < KILLS_MAX; time += 1) {
      await this.#bound?.end();
      const left = await this.#family.look();
      if (left.length === 0) return;
      for (const pid of left) signalTo(pid, 'SIGKILL');
      await this.#clock.sleep(KILL_AGAIN_MS);
    }
  }

  #signalGroup(name: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalTo(-this.#child.pid, name);
  }

  /** Learns who belongs to it, and ends it when they are too many. */
  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      if ((await this.#family.look()).length > PROCESSES_MAX) {
        this.#wasTooMany = true;
        await this.#killAll();
      }
      await this.#clock.sleep(LOOK_MS, this.#over.signal);
    }
  }
}

interface Spawned {
  readonly child: ChildProcess;
  readonly family: Family;
}

async function spawned(start: PlainStart, bound: ProcessBound | undefined): Promise<Spawned> {
  const others = bound === undefined ? await threadsOf(start.identity.uid) : undefined;
  const args = start.args(others === undefined ? undefined : others + PROCESSES_MAX);
  const plain = { program: start.program, args };
  const wrapped = bound?.wrap(start.program, args) ?? plain;
  const child = spawn(wrapped.program, wrapped.args, {
    cwd: start.folder,
    env: start.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...asOther(start.identity),
  });
  const family = Family.of(child.pid ?? 0);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.on('error', () => undefined);
  return { child, family };
}

function signalTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
