import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Client } from '../../client/client.ts';
import { readGeneratedKey } from '../../compose/key-file.ts';
import { holderIn } from '../../compose/running.ts';
import { SECOND } from '../../kernel/time.ts';
import { CommandEnd, EXIT } from '../exit.ts';

const LAUNCHER = join(import.meta.dirname, '../../../bin/sekisho.mjs');
/** Far more than a loaded machine takes: whatever comes later does not come. */
const LONGEST_MS = 45 * SECOND;
const LOOK_EACH_MS = 10;
const OUTPUT_KEPT = 4_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The product did not do what it promises, or could not be watched: the demo says what it saw. */
class DemoFailed extends CommandEnd {
  constructor(what: string, saw: string) {
    super('failed', `The demo did not see what it should: ${what}.\nIt saw: ${saw}`);
  }
}

/** A folder of its own with real processes of the product in it; `clear` leaves nothing behind. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'sekisho-demo-'));
  /** The state directory, as the configuration names it. */
  data = 'data';
  #host: ChildProcess | undefined;
  #output = '';
  #url = '';
  /** Whoever leaves in the middle leaves nothing behind either. */
  readonly #vanish = (): void => {
    this.#host?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  };
  readonly #leave = (): void => process.exit(EXIT.failed);

  constructor() {
    process.on('exit', this.#vanish);
    for (const signal of SIGNALS) process.on(signal, this.#leave);
  }

  /** The folder that the tools work in, or a path below it. */
  workspace(...below: readonly string[]): string {
    return join(this.folder, 'workspace', ...below);
  }

  /** Writes `sekisho.yaml` for a model at `url` and the state directory as it is named now. */
  configure(url: string): void {
    mkdirSync(this.workspace(), { recursive: true });
    const lines = [
      `data: ./${this.data}`,
      `model: { provider: openai-compatible, baseURL: "${url}", name: demo, price: { input: 0, output: 0 } }`,
      'api: { port: 0 }',
      'tools: { command: { approval: never } }',
      'recovery: { spacingSeconds: 2 }',
      'tick: { seconds: 1 }',
    ];
    writeFileSync(join(this.folder, 'sekisho.yaml'), `${lines.join('\n')}\n`);
  }

  get pid(): number {
    return this.#host?.pid ?? 0;
  }

  /** What the host said last, for whoever has to explain a failure. */
  get output(): string {
    return this.#output.trim();
  }

  /** `sekisho start` as a process of its own; gives its ready line. */
  async start(): Promise<string> {
    const host = this.#begin();
    const ready = await this.until('the host is ready', () =>
      Promise.resolve(this.#output.split('\n').find((line) => line.startsWith('ready '))),
    );
    this.#url = ready.split(' ')[1] ?? '';
    if (host.exitCode !== null) throw new DemoFailed('the host stays', this.output);
    return ready;
  }

  /** `sekisho start`, killed as soon as it has the records. */
  async startAndKill(): Promise<void> {
    const host = this.#begin();
    await this.until('the host takes its records', () =>
      Promise.resolve(holderIn(join(this.folder, this.data))?.pid === host.pid || undefined),
    );
    await this.kill();
  }

  #begin(): ChildProcess {
    this.#output = '';
    const host = this.#spawn(['start', '--no-terminal']);
    for (const stream of [host.stdout, host.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-OUTPUT_KEPT);
      });
    this.#host = host;
    return host;
  }

  /** `kill -9`: nothing of the host can prepare for it. */
  async kill(): Promise<void> {
    const host = this.#host;
    if (host === undefined || host.exitCode !== null || host.signalCode !== null) return;
    const ended = once(host, 'close');
    host.kill('SIGKILL');
    await ended;
  }

  /** A command of the shell, run to its end; gives what it printed. Fails when it does not end with 0. */
  async run(...args: readonly string[]): Promise<string> {
    const child = this.#spawn(args);
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => void said.push(text));
    const [code]: unknown[] = await once(child, 'close');
    if (code === 0) return said.join('').trim();
    throw new DemoFailed(
      `sekisho ${args.join(' ')} ends with 0`,
      `${String(code)}: ${said.join('')}`,
    );
  }

  get client(): Client {
    const key = readGeneratedKey(join(this.folder, this.data)) ?? '';
    return createClient({ url: this.#url, key });
  }

  /** Looks until there is something to see, and gives it. */
  async until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const late = Date.now() + LONGEST_MS;
    for (;;) {
      const seen = await look();
      if (seen !== undefined) return seen;
      const host = this.#host;
      const isOver = host !== undefined && (host.exitCode !== null || host.signalCode !== null);
      if (isOver || Date.now() > late) throw new DemoFailed(what, this.output || 'nothing');
      await pause(LOOK_EACH_MS);
    }
  }

  /** Throws unless it holds. */
  expect(isSo: boolean, what: string, saw: unknown): void {
    if (!isSo) throw new DemoFailed(what, JSON.stringify(saw));
  }

  read(...below: readonly string[]): string {
    try {
      return readFileSync(this.workspace(...below), 'utf8');
    } catch {
      return '';
    }
  }

  async clear(): Promise<void> {
    await this.kill();
    this.#vanish();
    process.off('exit', this.#vanish);
    for (const signal of SIGNALS) process.off(signal, this.#leave);
  }

  /** In its own folder, and without what this shell says about another host. */
  #spawn(args: readonly string[]): ChildProcess {
    const env = Object.entries(process.env).filter(([name]) => !name.startsWith('SEKISHO_'));
    return spawn(process.execPath, [LAUNCHER, ...args], {
      cwd: this.folder,
      env: Object.fromEntries(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
