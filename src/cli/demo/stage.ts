import { randomBytes } from 'node:crypto';
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
const KEY_BYTES = 32;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The product did not do what it promises, or could not be watched: the demo says what it saw. */
class DemoFailed extends CommandEnd {
  constructor(what: string, saw: string) {
    super('failed', `The demo did not see what it should: ${what}.\nIt saw: ${saw}`);
  }
}

/** Somebody with an API key of a name of its own. */
export interface DemoKey {
  readonly name: string;
  readonly scopes: readonly ('run' | 'read' | 'admin')[];
}

export interface StageConfig {
  /** Of the model, in tokens; without it the default. */
  readonly window?: number;
  /** Without any the host makes its own. */
  readonly keys?: readonly DemoKey[];
  /** Further lines of the configuration. */
  readonly more?: readonly string[];
}

interface CommandOutput {
  readonly code: unknown;
  readonly said: string;
}

/** A folder of its own with real processes of the product in it; `clear` leaves nothing behind. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'sekisho-demo-'));
  /** The state directory, as the configuration names it. */
  data = 'data';
  readonly #secrets = new Map<string, string>();
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
  configure(url: string, { window, keys = [], more = [] }: StageConfig = {}): void {
    mkdirSync(this.workspace(), { recursive: true });
    const sees = window === undefined ? '' : `, contextWindow: ${window}`;
    const lines = [
      `data: ./${this.data}`,
      `model: { provider: openai-compatible, baseURL: "${url}", name: demo${sees}, price: { input: 0, output: 0 } }`,
      `api: { port: 0, keys: [${keys.map((who) => this.#makeKey(who)).join(', ')}] }`,
      'tools: { command: { approval: never } }',
      'recovery: { spacingSeconds: 2 }',
      'tick: { seconds: 1 }',
      ...more,
    ];
    writeFileSync(join(this.folder, 'sekisho.yaml'), `${lines.join('\n')}\n`);
  }

  /** A key of its own for somebody; the first who gets one is whom the demo speaks for. */
  #makeKey({ name, scopes }: DemoKey): string {
    const secret = randomBytes(KEY_BYTES).toString('base64url');
    this.#secrets.set(name, secret);
    writeFileSync(join(this.folder, `${name}.key`), `${secret}\n`, { mode: 0o600 });
    return `{ name: ${name}, scopes: [${scopes.join(', ')}], secret: { file: ./${name}.key } }`;
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
    return this.#demand(await this.#end(args), args, EXIT.done);
  }

  /** One that the host refuses, by whoever has this key; gives what it printed. Fails when it does not. */
  async refused(args: readonly string[], by?: string): Promise<string> {
    return this.#demand(await this.#end(args, by), args, EXIT.refused);
  }

  #demand(end: CommandOutput, args: readonly string[], code: number): string {
    if (end.code === code) return end.said;
    throw new DemoFailed(
      `sekisho ${args.join(' ')} ends with ${code}`,
      `${String(end.code)}: ${end.said}`,
    );
  }

  async #end(args: readonly string[], by?: string): Promise<CommandOutput> {
    const child = this.#spawn(args, by);
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => void said.push(text));
    const [code]: unknown[] = await once(child, 'close');
    return { code, said: said.join('').trim() };
  }

  get client(): Client {
    const key = this.#secret() ?? readGeneratedKey(join(this.folder, this.data)) ?? '';
    return createClient({ url: this.#url, key });
  }

  #secret(by?: string): string | undefined {
    const [first] = this.#secrets.keys();
    return this.#secrets.get(by ?? first ?? '');
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
  #spawn(args: readonly string[], by?: string): ChildProcess {
    const env = Object.entries(process.env).filter(([name]) => !name.startsWith('SEKISHO_'));
    const secret = this.#secret(by);
    if (secret !== undefined) env.push(['SEKISHO_API_KEY', secret]);
    return spawn(process.execPath, [LAUNCHER, ...args], {
      cwd: this.folder,
      env: Object.fromEntries(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
