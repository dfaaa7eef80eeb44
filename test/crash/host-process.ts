import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type Client } from '../../src/client/client.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/sekisho.mjs');

/** A host in a process of its own, ready to be asked, and killed when the test says so. */
export interface HostProcess {
  readonly url: string;
  readonly key: string;
  readonly client: Client;
  readonly pid: number;
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code after the drain. */
  end(): Promise<number | null>;
  /** The exit code of a host that ends by itself. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts the real command line, `under` a tracer when one is given, on a folder with a `sekisho.yaml` and a `data` folder.
 */
export async function startHost(
  folder: string,
  under: readonly string[] = [],
): Promise<HostProcess> {
  const start = [LAUNCHER, 'start', '--no-terminal', '--config', join(folder, 'sekisho.yaml')];
  const [command = process.execPath, ...argv] = [...under, process.execPath, ...start];
  const child = spawn(command, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.on('data', (piece: Buffer) => errors.push(piece.toString()));
  const line = await firstLine(child);
  const url = /^ready (\S+) /.exec(line ?? '')?.[1];
  if (url === undefined)
    throw new Error(`the host did not start: ${line ?? ''}\n${errors.join('')}`);
  const key = readFileSync(join(folder, 'data/api-key'), 'utf8').trim();
  return {
    url,
    key,
    client: createClient({ url, key }),
    pid: child.pid ?? 0,
    kill: () => signal(child, 'SIGKILL').then(() => undefined),
    end: () => signal(child, 'SIGTERM'),
    ended: once(child, 'exit').then(([code]: unknown[]) => code as number | null),
  };
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
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
