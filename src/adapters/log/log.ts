import { pino, type Level } from 'pino';
import { printableJson } from '../../kernel/printable.ts';
import type { Log } from '../../ports/log.ts';
import { openLogFile, type LogFile } from './file.ts';

/** Lines that a reader of stderr has not taken; more are dropped rather than kept or waited for. */
const STDERR_WAITING_BYTES_MAX = 1_000_000;
/** How long the end of the process waits for stderr to take what is left. */
const STDERR_END_MS = 500;

export interface LogOptions {
  /** Masks every known secret in a finished line: the last thing before it leaves. */
  readonly redact: (line: string) => string;
  /** The least level that goes to stderr; the file gets `info` and above, or this when it is lower. */
  readonly stderr: 'debug' | 'info' | 'warn';
  /** Takes a line before stderr gets it; true: it was shown, and stderr is left alone. */
  readonly show?: ((line: string) => boolean) | undefined;
  /** The path of the log file; without one lines go to stderr alone. */
  readonly file?: string;
}

export interface OpenLog extends Log {
  /** Writes what waits, for as long as stderr takes it, and gives up the file. */
  close(): Promise<void>;
}

/**
 * One JSON object a line: `time`, `level`, `msg` and the fields (G-5). It never throws and never waits:
 * a full disk or a reader that stopped reading costs lines, not the host.
 */
export function createLog(options: LogOptions): OpenLog {
  const stderr = pino.destination({
    dest: 2,
    sync: false,
    maxLength: STDERR_WAITING_BYTES_MAX,
  });
  stderr.on('error', () => {});
  const file = options.file === undefined ? undefined : openLogFile(options.file);
  // Whoever watches a log does it at a terminal, and what broke may have been a model's words.
  const finished = (line: string): string => printableJson(options.redact(line));
  const tell = (line: string): void => {
    if (options.show?.(line) !== true) stderr.write(line);
  };
  const logger = pino(
    {
      level: options.stderr === 'debug' ? 'debug' : 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.multistream([
      { level: options.stderr, stream: { write: (line) => tell(finished(line)) } },
      { level: 'debug', stream: { write: (line) => file?.write(finished(line)) } },
    ]),
  );
  const at =
    (level: Level): Log['info'] =>
    (message, fields = {}) =>
      logger[level](plain(fields), message);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    close: () => closeAll(stderr, file),
  };
}

/** An error has no own enumerable properties: JSON would show nothing of it. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  );
}

async function closeAll(
  stderr: ReturnType<typeof pino.destination>,
  file: LogFile | undefined,
): Promise<void> {
  file?.close();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, STDERR_END_MS);
  stderr.flush(() => resolve());
  await promise;
  clearTimeout(timer);
}
