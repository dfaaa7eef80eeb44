// PostgreSQL servers that a test may kill, restart, copy and promote: folders and processes of its own.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findPrograms, freePort, serverUser, type Programs } from '../support/postgres.ts';

const START_WAIT_MS = 60_000;
const READY = /ready to accept (?:read-only )?connections/;

/** One server in a folder of its own; it may be started again after it has ended. */
export class OwnServer {
  readonly port: number;
  readonly #programs: Programs;
  readonly #data: string;
  readonly #settings: readonly string[];
  #child: ChildProcess | undefined;
  #said = '';

  private constructor(programs: Programs, data: string, order: Order) {
    this.#programs = programs;
    this.#data = data;
    this.port = order.port;
    this.#settings = order.settings;
  }

  /** A new, empty server below `root`, which its user may enter; not started. */
  static async make(
    root: string,
    name: string,
    settings: readonly string[] = [],
  ): Promise<OwnServer> {
    const programs = findPrograms();
    const data = ownFolder(root, name);
    cpSync(emptyServer(programs), data, { recursive: true });
    giveAway(data);
    return new OwnServer(programs, data, { port: await freePort(), settings });
  }

  /** A copy of one that does not run. Started with `follows` it streams from there until it is promoted. */
  static async copyOf(
    other: OwnServer,
    to: { readonly root: string; readonly name: string },
    order: { readonly settings?: readonly string[]; readonly follows?: OwnServer } = {},
  ): Promise<OwnServer> {
    const data = ownFolder(to.root, to.name);
    cpSync(other.#data, data, { recursive: true });
    const { settings = [], follows } = order;
    if (follows !== undefined) writeFileSync(join(data, 'standby.signal'), '');
    const follow =
      follows === undefined
        ? []
        : [
            `primary_conninfo=host=127.0.0.1 port=${follows.port} user=postgres application_name=${to.name}`,
          ];
    giveAway(data);
    const all = [...settings, ...follow];
    return new OwnServer(other.#programs, data, { port: await freePort(), settings: all });
  }

  get url(): string {
    return urlAt(this.port);
  }

  /** What it has logged since it was made. */
  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      // A killed server leaves no shared memory behind that way.
      'dynamic_shared_memory_type=mmap',
      ...this.#settings,
    ];
    const run = ['-D', this.#data, '-p', String(this.port), '-k', this.#data];
    const argv = [...run, ...settings.flatMap((setting) => ['-c', setting])];
    const { folder, env } = this.#programs;
    const child = spawn(join(folder, 'postgres'), argv, {
      ...serverUser(),
      cwd: this.#data,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => (this.#said += chunk.toString()));
    await this.#isReady(child);
  }

  /** Resolves when it says again that it is ready, after one of its processes was killed. */
  nextReady(): Promise<void> {
    const child = this.#child;
    if (child === undefined) throw new Error('it does not run');
    return this.#isReady(child);
  }

  #isReady(child: ChildProcess): Promise<void> {
    const from = this.#said.length;
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`it ended: ${this.#said.slice(from)}`));
      const timer = setTimeout(ended, START_WAIT_MS);
      child.once('exit', ended);
      const look = (): void => {
        if (!READY.test(this.#said.slice(from))) return;
        clearTimeout(timer);
        child.off('exit', ended);
        child.stderr?.off('data', look);
        resolve();
      };
      child.stderr?.on('data', look);
    });
  }

  /** What `pg_ctl -m immediate` does: every connection is cut, nothing is flushed, the log is replayed at the next start. */
  async quit(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** All of its processes at once, as when its machine dies. It is not started again. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || !isRunning(child)) return;
    const memory = sharedMemoryOf(this.#data);
    // Stopped first, it starts nothing anew while its processes are killed one by one.
    child.kill('SIGSTOP');
    for (const pid of childrenOf(child.pid)) killOne(pid);
    await this.#end('SIGKILL');
    if (memory !== undefined) execFileSync('ipcrm', ['-m', memory], { stdio: 'ignore' });
  }

  async #end(name: 'SIGQUIT' | 'SIGINT' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !isRunning(child)) return;
    const gone = once(child, 'exit');
    child.kill(name);
    await gone;
  }

  /** Kills the process of one connection; the server takes the others down with it and comes back by itself. */
  killBackend(pid: number): boolean {
    return killOne(pid);
  }

  /** Asks it over a connection that is made for the question alone. */
  async ask<T extends pg.QueryResultRow>(sql: string): Promise<readonly T[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

let empty: string | undefined;

/** The folder of a server that was never started, which costs seconds: made once by a process. */
function emptyServer({ folder }: Programs): string {
  if (empty !== undefined) return empty;
  const root = mkdtempSync(join(tmpdir(), 'sekisho-pg-'));
  chmodSync(root, 0o755);
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  empty = ownFolder(root, 'empty');
  const init = ['-D', empty, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(folder, 'initdb'), init, { ...serverUser(), cwd: root, stdio: 'ignore' });
  return empty;
}

interface Order {
  readonly port: number;
  readonly settings: readonly string[];
}

/** The address of the database of a server, or of what stands before it. */
export function urlAt(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

function ownFolder(root: string, name: string): string {
  const data = join(root, name);
  mkdirSync(data, { mode: 0o700 });
  giveAway(data);
  return data;
}

function giveAway(data: string): void {
  const { uid, gid } = serverUser();
  if (uid === undefined || gid === undefined) return;
  execFileSync('chown', ['-R', `${uid}:${gid}`, data]);
  chownSync(data, uid, gid);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function killOne(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // It has ended by itself meanwhile.
    return false;
  }
}

/** The id of the segment that a server holds to be alone in its folder; it outlives a kill. */
function sharedMemoryOf(data: string): string | undefined {
  const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  return lines[6]?.trim().split(/\s+/)[1];
}

/** Runs `work` with a server of its own that is gone afterwards, whatever came of it. */
export async function withServer<T>(
  settings: readonly string[],
  work: (server: OwnServer, root: string) => Promise<T>,
): Promise<T> {
  return withFolder(async (root) => {
    const server = await OwnServer.make(root, 'server', settings);
    await server.start();
    try {
      return await work(server, root);
    } finally {
      await server.quit();
    }
  });
}

/** Runs `work` with a folder that the servers' user may enter. */
export async function withFolder<T>(work: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'sekisho-pg-'));
  chmodSync(root, 0o755);
  try {
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
