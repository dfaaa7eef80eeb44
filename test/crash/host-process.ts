import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Client } from '../../src/client/client.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/sekisho.mjs');

/** A host in a process of its own, ready to be asked, and killed when the test says so. */
export interface HostProcess {
  readonly url: string;
  readonly key: string;
  readonly client: Client;
  readonly pid: number;
  /** How long it took to be ready. */
  readonly startMs: number;
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code after the drain. */
  end(): Promise<number | null>;
  /** The exit code of a host that ends by itself. */
  readonly ended: Promise<number | null>;
}

/** A start that came to nothing: what whoever started it got to see. */
export interface RefusedStart {
  readonly code: number | null;
  readonly printed: string;
}

/**
 * Starts the real command line, `under` a tracer when one is given and with further variables in its
 * environment, on a folder with a `sekisho.yaml` and a `data` folder.
 */
export async function startHost(
  folder: string,
  under: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HostProcess> {
  const began = performance.now();
  const { child, line, printed } = await started(folder, under, env);
  const url = /^ready (\S+) /.exec(line ?? '')?.[1];
  if (url === undefined)
    throw new Error(`the host did not start: ${line ?? ''}\n${printed.join('')}`);
  const key = readFileSync(join(folder, 'data/api-key'), 'utf8').trim();
  return {
    url,
    key,
    client: createClient({ url, key }),
    pid: child.pid ?? 0,
    startMs: performance.now() - began,
    kill: () => signal(child, 'SIGKILL').then(() => undefined),
    end: () => signal(child, 'SIGTERM'),
    ended: once(child, 'exit').then(([code]: unknown[]) => code as number | null),
  };
}

/** Starts a host that has to refuse. One that is ready all the same is ended, and its code is null. */
export async function startRefused(folder: string): Promise<RefusedStart> {
  const { child, line, printed } = await started(folder, [], {});
  if (line !== undefined) {
    await signal(child, 'SIGKILL');
    return { code: null, printed: `${line}\n${printed.join('')}` };
  }
  if (child.exitCode === null) await once(child, 'close');
  return { code: child.exitCode, printed: printed.join('') };
}

/** Starts a host and kills it after `ms`; true when it was not ready by then. */
export async function cutStart(folder: string, ms: number): Promise<boolean> {
  const child = spawnHost(folder, [], {});
  let isReady = false;
  child.stdout.once('data', () => (isReady = true));
  child.stderr.resume();
  await pause(ms);
  if (child.exitCode !== null) throw new Error(`a start ended by itself with ${child.exitCode}`);
  await signal(child, 'SIGKILL');
  return !isReady;
}

interface Started {
  readonly child: ChildProcess;
  /** Its first line; undefined when it ended without one. */
  readonly line: string | undefined;
  readonly printed: readonly string[];
}

async function started(
  folder: string,
  under: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Started> {
  const child = spawnHost(folder, under, env);
  const printed: string[] = [];
  child.stderr.on('data', (piece: Buffer) => printed.push(piece.toString()));
  return { child, line: await firstLine(child.stdout), printed };
}

type PipedChild = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

function spawnHost(
  folder: string,
  under: readonly string[],
  env: Readonly<Record<string, string>>,
): PipedChild {
  const start = [LAUNCHER, 'start', '--no-terminal', '--config', join(folder, 'sekisho.yaml')];
  const [command = process.execPath, ...argv] = [...under, process.execPath, ...start];
  return spawn(command, argv, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function firstLine(stdout: Readable): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    stdout.resume();
    return line;
  }
  return undefined;
}

async function signal(child: ChildProcess, name: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(name);
  await gone;
  return child.exitCode;
}
