import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/sekisho.mjs');
/** No model of the machine is ever asked. */
const REHEARSAL = 'model: { provider: rehearsal }\napi: { port: 0 }\n';

/** Far more than a loaded machine needs: only a failure waits this long. */
const LINE_MS = 30_000;

type Environment = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with a configuration, and the real command line run in it. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'sekisho-e2e-'));
  readonly data = join(this.folder, 'data');
  readonly #running = new Set<ChildProcess>();

  constructor(config = REHEARSAL) {
    this.configure(config);
  }

  configure(config: string): void {
    writeFileSync(join(this.folder, 'sekisho.yaml'), config);
  }

  read(name: string): string {
    return readFileSync(join(this.data, name), 'utf8');
  }

  /** Runs a command to its end. */
  async run(
    args: readonly string[],
    more: { env?: Environment; input?: string } = {},
  ): Promise<Ended> {
    const child = this.spawn(args, more.env ?? {});
    child.process.stdin?.end(more.input ?? '');
    return child.ended;
  }

  /** Starts a host and waits for its ready line. Fails with what it said when it ends instead. */
  async start(more: { env?: Environment; args?: readonly string[] } = {}): Promise<RunningHost> {
    const child = this.spawn(['start', ...(more.args ?? ['--no-terminal'])], more.env ?? {});
    const ready = await child.line((text) => text.startsWith('ready '));
    return new RunningHost(child, ready, this);
  }

  spawn(args: readonly string[], env: Environment): Spawned {
    const child = new Spawned(
      spawn(process.execPath, [LAUNCHER, ...args], {
        cwd: this.folder,
        env: { PATH: process.env['PATH'] ?? '', ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
      }),
    );
    this.#running.add(child.process);
    void child.ended.then(() => this.#running.delete(child.process));
    return child;
  }

  /** Ends whatever still runs and removes the folder. */
  async clear(): Promise<void> {
    for (const child of this.#running) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A process whose output is kept and can be waited for. */
export class Spawned {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.process = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      for (const look of this.#waiting) look();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(child, 'close').then(([code]: unknown[]) => ({
      code: typeof code === 'number' ? code : null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** The first whole line of stdout that fits, as soon as it is there. */
  async line(fits: (line: string) => boolean): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = (): void => {
      const line = this.stdout.split('\n').slice(0, -1).find(fits);
      if (line !== undefined) resolve(line);
    };
    const fail = (why: string): void => reject(new Error(`${why}: ${this.stdout}${this.stderr}`));
    const late = setTimeout(() => fail('the line did not come'), LINE_MS);
    void this.ended.then(() => fail('it ended without the line'));
    this.#waiting.add(look);
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(look);
    }
  }
}

export class RunningHost {
  readonly child: Spawned;
  readonly ready: string;
  readonly url: string;
  readonly #place: Place;

  constructor(child: Spawned, ready: string, place: Place) {
    this.child = child;
    this.ready = ready;
    this.url = ready.split(' ')[1] ?? '';
    this.#place = place;
  }

  /** Speaks with the generated key as it is now, unless another is given. */
  client(key = this.#place.read('api-key').trim()): Client {
    return createClient({ url: this.url, key });
  }

  signal(name: NodeJS.Signals): void {
    this.child.process.kill(name);
  }

  /** SIGTERM, and how it ended. */
  stop(): Promise<Ended> {
    this.signal('SIGTERM');
    return this.child.ended;
  }
}
