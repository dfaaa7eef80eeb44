import type { ConfigName } from '../../compose/config/keys.ts';
import { createHost, type Host, type StartedHost } from '../../compose/host.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND } from '../../kernel/time.ts';
import { LogLines } from '../chat/log-lines.ts';
import { configOf } from '../config.ts';
import { EXIT } from '../exit.ts';
import { printError, printText } from '../print.ts';

export interface StartOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: string;
  /** False with `--no-terminal`. */
  readonly terminal: boolean;
  readonly verbose?: boolean;
}

/** `start`: runs the host until a signal, or until the person at its terminal leaves. */
export async function start(options: StartOptions): Promise<void> {
  const config = await configOf(options, flagsOf(options));
  const log = isChatting(options) ? new LogLines(printError) : new LogLines();
  const host = createHost({
    config,
    env: process.env,
    logLevel: logLevelOf(options),
    // What goes to a file goes there.
    ...(process.stderr.isTTY ? { showLog: log.show } : {}),
    onFailed: (reason) => void failed(host, reason),
  });
  const over = new AbortController();
  const ended = endOnSignals(host, over);
  const since = Date.now();
  const started = await host.start().catch((error: unknown) => {
    log.release();
    throw error;
  });
  // A signal that came while it started has stopped it already.
  if (over.signal.aborted) {
    log.release();
    return ended;
  }
  const { url, model } = started;
  printText(`ready ${url} ${model.provider}/${model.name} ${model.price}`);
  const graceSeconds = config.values['drain.graceSeconds'];
  over.signal.addEventListener('abort', () => void tellDrain(started, graceSeconds));
  if (options.terminal) void talk(started, { over, since, log });
  return ended;
}

function flagsOf(options: StartOptions): Partial<Record<ConfigName, string>> {
  const given = { 'api.host': options.host, 'api.port': options.port };
  return Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined));
}

/** On the screen of a chat only what a person must know; the file has everything. */
function logLevelOf(options: StartOptions): 'debug' | 'info' | 'warn' {
  if (options.verbose === true) return 'debug';
  return isChatting(options) ? 'warn' : 'info';
}

/** Whether a chat opens where log lines would stand. */
function isChatting({ terminal }: StartOptions): boolean {
  return terminal && process.stdin.isTTY && process.stderr.isTTY;
}

/** Resolves when the host has let go of everything. A second signal cuts the drain. */
function endOnSignals(host: Host, over: AbortController): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  over.signal.addEventListener('abort', () => {
    const late = setTimeout(() => process.exit(EXIT.failed), LIMITS.shutdownMs);
    late.unref();
    host.stop().then(resolve, reject);
  });
  const onSignal = (): void => {
    if (over.signal.aborted) void host.stop();
    over.abort();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  // Node's own last words would show whatever the error holds.
  process.on('uncaughtException', (error) => void broken(host, error));
  return promise;
}

/** Says what a host that ends still waits for; nothing when nothing runs. */
async function tellDrain({ client }: StartedHost, graceSeconds: number): Promise<void> {
  const { runningTurns } = await client.status().catch(() => ({ runningTurns: 0 }));
  if (runningTurns === 0) return;
  const turns = `${runningTurns} ${runningTurns === 1 ? 'turn' : 'turns'}`;
  printError(`Draining: ${turns} may end within ${graceSeconds} s. A second signal cuts it.`);
}

async function broken(host: Host, error: unknown): Promise<void> {
  await host.crash(error);
  process.exit(EXIT.failed);
}

/**
 * The store cannot be trusted any more: say so, answer 503 with the reason long enough to be seen, and
 * end whatever still hangs (G-6).
 */
async function failed(host: Host, reason: string): Promise<void> {
  printError(`store_failed: ${reason}`);
  setTimeout(() => process.exit(EXIT.store), LIMITS.storeFailedExitMs - SECOND);
  await pause(LIMITS.storeFailedShownMs);
  await host.stop(0).catch(() => {});
  process.exit(EXIT.store);
}

/** The chat below the ready line; leaving it ends the host, a pipe that ends does not. */
async function talk(
  { client }: StartedHost,
  {
    over,
    since,
    log,
  }: { readonly over: AbortController; readonly since: number; readonly log: LogLines },
): Promise<void> {
  const options = { signal: over.signal, since, log };
  try {
    if (process.stdin.isTTY) {
      const { chatAtTerminal } = await import('../chat/terminal.ts');
      await chatAtTerminal(client, options);
      over.abort();
    } else {
      const { chatFromPipe } = await import('../chat/pipe.ts');
      await chatFromPipe(client, options);
    }
  } catch (error) {
    log.release();
    if (!over.signal.aborted) printError(`the chat ended: ${String(error)}`);
  }
}
