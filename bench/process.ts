import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** As `npm start` has it. */
const HEAP = ['--max-semi-space-size=4', '--max-old-space-size=1024'];
const ARENAS = { MALLOC_ARENA_MAX: '1' };
const LAUNCHER = join(import.meta.dirname, '../bin/sekisho.mjs');
const WATCH = pathToFileURL(join(import.meta.dirname, 'loop-watch.ts')).href;
/** What is loaded before the launcher is compiled from there too: else it is the compiler that is measured. */
const COMPILED = join(import.meta.dirname, '../node_modules/.cache/sekisho');
const STUB = join(import.meta.dirname, 'stub-model.ts');

export interface HostProcess {
  readonly pid: number;
  readonly url: string;
  readonly key: string;
  readonly folder: string;
  /** From its spawn to the line that says it is ready. */
  readonly readyMs: number;
  /** Stalls of its event loop since they were asked for last. Rejects unless it is watched. */
  stalls(): Promise<Stalls>;
  /** MiB by what the runtime counts: what grows. Rejects unless it is watched. */
  memory(): Promise<Readonly<Record<string, number>>>;
  /** Drains and is gone when it resolves. */
  end(): Promise<void>;
  /** Gone at once. */
  kill(): Promise<void>;
}

/** How long an event loop stood still at a time, in milliseconds. */
export interface Stalls {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Delays that were measured. */
  readonly samples: number;
}

interface HostOptions {
  readonly model: 'answer' | 'hold';
  readonly concurrent: number;
  /** Can be asked from inside; asked for stalls, its event loop is woken a thousand times a second from then on. */
  readonly isWatched?: boolean;
}

/** Runs `work` with a stub model in another process. */
export async function withStub<T>(
  model: 'answer' | 'hold',
  work: (modelUrl: string) => Promise<T>,
): Promise<T> {
  const stub = spawn(process.execPath, [STUB, model], { stdio: ['ignore', 'pipe', 2] });
  try {
    return await work(await firstLine(stub));
  } finally {
    await ended(stub, 'SIGKILL');
  }
}

/** Runs `work` against a host from source, with a stub model in another process. */
export async function withHost<T>(
  folder: string,
  { model, concurrent, isWatched = false }: HostOptions,
  work: (host: HostProcess) => Promise<T>,
): Promise<T> {
  return withStub(model, async (modelUrl) => {
    configure(folder, { modelUrl, concurrent });
    const host = await startHost(folder, isWatched);
    try {
      return await work(host);
    } finally {
      await host.end();
    }
  });
}

/** Writes the configuration of a host that talks to the stub. */
export function configure(
  folder: string,
  {
    modelUrl,
    concurrent,
    more = [],
  }: { readonly modelUrl: string; readonly concurrent: number; readonly more?: readonly string[] },
): void {
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  writeFileSync(
    join(folder, 'sekisho.yaml'),
    [
      'data: ./data',
      'workspace: ./workspace',
      'api: { port: 0 }',
      `model: { provider: openai-compatible, baseURL: '${modelUrl}', name: stub }`,
      `limits: { concurrentConversations: ${concurrent} }`,
      'drain: { graceSeconds: 0 }',
      ...more,
      '',
    ].join('\n'),
  );
}

/** Starts the command line on a configured folder. Rejects when it is not ready. */
export async function startHost(folder: string, isWatched = false): Promise<HostProcess> {
  const config = ['--config', join(folder, 'sekisho.yaml')];
  const watch = isWatched ? ['--import', WATCH] : [];
  const argv = [...HEAP, ...profiled(), ...watch, LAUNCHER, 'start', '--no-terminal', ...config];
  const began = performance.now();
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: { NODE_COMPILE_CACHE: COMPILED, ...ARENAS, ...process.env },
    stdio: ['ignore', 'pipe', 'ignore', ...(isWatched ? (['ipc'] as const) : [])],
  });
  const line = await firstLine(child);
  const readyMs = performance.now() - began;
  const url = /^ready (\S+) /.exec(line)?.[1];
  if (url === undefined || child.pid === undefined) throw new Error(`no host: ${line}`);
  return {
    pid: child.pid,
    url,
    key: readFileSync(join(folder, 'data/api-key'), 'utf8').trim(),
    folder,
    readyMs,
    stalls: async () => (await askOf(child, 'stalls')) as Stalls,
    memory: async () => (await askOf(child, 'memory')) as Readonly<Record<string, number>>,
    end: () => ended(child, 'SIGTERM'),
    kill: () => ended(child, 'SIGKILL'),
  };
}

/** `SEKISHO_BENCH_PROFILE` names a folder: each host that ends leaves a profile of its processor time there. */
function profiled(): readonly string[] {
  const folder = process.env['SEKISHO_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function askOf(child: ChildProcess, what: 'stalls' | 'memory'): Promise<unknown> {
  if (!child.connected) throw new Error('the host is not watched');
  const told = once(child, 'message');
  child.send(what);
  const [answer] = (await told) as readonly unknown[];
  return answer;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) return '';
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return line;
  }
  return '';
}

async function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
