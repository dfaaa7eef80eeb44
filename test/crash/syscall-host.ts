// The real `sekisho start` under strace, which strikes it at one of its calls to the files of its data folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type Client } from '../../src/client/client.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/sekisho.mjs');

/** Every call that changes a file; `write` is of the key and of the file that says where the host is. */
export const CALLS = [
  'pwrite64',
  'write',
  'fsync',
  'fdatasync',
  'ftruncate',
  'unlink',
  'rename',
] as const;
export type CallName = (typeof CALLS)[number];

const FILES = [
  'sekisho.db',
  'sekisho.db-wal',
  'sekisho.db-shm',
  'sekisho.db-journal',
  'host.db',
  'host.db-wal',
  'host.db-shm',
  'host.db-journal',
  'host.json',
  'host.json.new',
  'api-key',
  'api-key.new',
];

/** The tests need it, and say so where it is missing. */
export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** What is done to the `at`-th call of this name. */
export interface Blow {
  readonly call: CallName;
  readonly at: number;
  readonly fate: 'kill' | 'EIO' | 'ENOSPC' | 'EROFS';
  /** And to each one after it. */
  readonly onwards?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface TracedHost {
  /** Undefined when it ended without becoming ready. */
  readonly ready: Promise<{ readonly client: Client; readonly url: string } | undefined>;
  readonly ended: Promise<Ended>;
  /** SIGTERM to the host, not to its tracer. */
  end(): Promise<Ended>;
  /** Host and tracer are gone when it resolves. */
  clear(): Promise<void>;
}

/**
 * Starts the real command line on a folder with a `sekisho.yaml`. Only its main thread is traced: it alone
 * writes to the data folder, and calls are counted by the thread.
 */
export function startTraced(folder: string, blow: Blow | undefined): TracedHost {
  const files = FILES.flatMap((file) => ['-P', join(folder, 'data', file)]);
  const inject = blow === undefined ? [] : ['-e', injection(blow)];
  const trace = ['-y', '-o', logOf(folder), ...files, '-e', `trace=${CALLS.join(',')}`, ...inject];
  const start = [LAUNCHER, 'start', '--no-terminal', '--config', join(folder, 'sekisho.yaml')];
  const child = spawn('strace', [...trace, process.execPath, ...start], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const ended = closed.then(([code, signal]) => ({ code, signal, stderr }));
  return {
    ready: readiness(child, folder),
    ended,
    end() {
      const pid = pidOf(folder);
      // One that is ending by itself has said so already, and needs no word.
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
      return ended;
    },
    async clear() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

function injection({ call, at, fate, onwards = false }: Blow): string {
  const what = fate === 'kill' ? 'signal=SIGKILL' : `error=${fate}`;
  return `inject=${call}:${what}:when=${at}${onwards ? '+' : ''}`;
}

async function readiness(child: ChildProcess, folder: string): ReturnType<typeof readyOf> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return readyOf(line, folder);
  }
  return undefined;
}

async function readyOf(line: string, folder: string) {
  const url = /^ready (\S+) /.exec(line)?.[1];
  if (url === undefined) return undefined;
  const key = readFileSync(join(folder, 'data/api-key'), 'utf8').trim();
  return { client: createClient({ url, key }), url };
}

/** Of a host that is ending its entry is gone. */
function pidOf(folder: string): number | undefined {
  const path = join(folder, 'data/host.json');
  if (!existsSync(path)) return undefined;
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly pid: number }).pid;
}

function logOf(folder: string): string {
  return join(folder, 'calls.log');
}

/** How often each call was made, by what the tracer wrote. The host must have ended. */
export function callsIn(folder: string): Readonly<Record<CallName, number>> {
  const lines = readFileSync(logOf(folder), 'latin1').split('\n');
  const count = (name: CallName): [CallName, number] => [
    name,
    lines.filter((line) => line.startsWith(`${name}(`)).length,
  ];
  return Object.fromEntries(CALLS.map(count)) as Record<CallName, number>;
}

/** How often the tracer says that it has put an error in the place of a call. */
export function injectedIn(folder: string): number {
  return readFileSync(logOf(folder), 'latin1').split('(INJECTED)').length - 1;
}

/** The file of the last call that was traced. */
export function lastCallIn(folder: string): string {
  const lines = readFileSync(logOf(folder), 'latin1').split('\n');
  return (lines.findLast((line) => /^\w+\(/.test(line)) ?? '').slice(0, 160);
}
