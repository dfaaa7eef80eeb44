import { resolve } from 'node:path';
import { ApiProblem, createClient, type Client } from '../client/client.ts';
import { Fault } from '../kernel/fault.ts';
import { shellSentence } from './shell.ts';
import type { Config } from '../compose/config/load.ts';
import { keyFileOf, readGeneratedKey } from '../compose/key-file.ts';
import type { Reader } from '../compose/reader.ts';
import { runningHost } from '../compose/running.ts';
import { recordsConfigOf } from './config.ts';
import { CommandEnd, type ExitName } from './exit.ts';
import type { ReadOptions } from './program.ts';

/** A way to the records: a running host, or the store of a stopped one. */
export interface Connection {
  readonly client: Client;
  /** Where the host answers; undefined when none runs and the store is read. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Asks a running host, or else the store; maps what the API refuses to the end of the command. */
export async function ask<T>(
  options: ReadOptions,
  question: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = (await findHost(options)) ?? (await openStopped(options));
  return finish(connection, question);
}

/** As `ask`, where the records of a stopped host are opened in another way. */
export async function askThrough<T>(
  options: ReadOptions,
  open: (config: Config) => Promise<Reader>,
  question: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = (await findHost(options)) ?? (await openStopped(options, open));
  return finish(connection, question);
}

/** As `ask`, for what only a running host does. */
export async function order<T>(
  options: ReadOptions,
  wish: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await findHost(options);
  if (connection === undefined) {
    const where = await dataOf(options);
    const why = `No host runs on ${where}.`;
    throw new CommandEnd('unreachable', `${why} Start one with: sekisho start`);
  }
  return finish(connection, wish);
}

async function finish<T>(
  connection: Connection,
  act: (connection: Connection) => Promise<T>,
): Promise<T> {
  try {
    return await act(connection);
  } catch (error) {
    throw explained(error, connection.url);
  } finally {
    await connection.close();
  }
}

/** The running host; undefined when none was named and none runs on the state directory. */
async function findHost(options: ReadOptions): Promise<Connection | undefined> {
  const named = options.url ?? (process.env['SEKISHO_URL'] || undefined);
  if (named !== undefined) {
    const url = demandUrl(named);
    return connectionTo(url, await keyFor(options, url));
  }
  const data = await dataOf(options);
  const file = runningHost(data);
  if (file === undefined) return undefined;
  // It may not answer yet, or no more.
  const isThere = await createClient({ url: file.url, key: '' })
    .ready()
    .then(
      () => true,
      () => false,
    );
  return isThere ? connectionTo(file.url, await keyFor(options, file.url)) : undefined;
}

function demandUrl(text: string): string {
  if (/^https?:\/\/[^/?#@\s]+\/?$/.test(text) && URL.canParse(text)) return text;
  const what = 'takes the address of a host, as http://127.0.0.1:7420';
  throw new CommandEnd('usage', `sekisho: --url ${what}`);
}

function connectionTo(url: string, key: string): Connection {
  return { url, client: createClient({ url, key }), close: () => Promise.resolve() };
}

async function keyFor(options: ReadOptions, url: string): Promise<string> {
  const data = await dataOf(options);
  const key = process.env['SEKISHO_API_KEY'] || readGeneratedKey(data);
  if (key !== undefined) return key;
  const why = `No key for ${url}: there is no ${keyFileOf(data)}.`;
  throw new CommandEnd('usage', `${why} Set SEKISHO_API_KEY to one of the host's keys.`);
}

async function dataOf(options: ReadOptions): Promise<string> {
  const named = options.data ?? process.env['SEKISHO_DATA'];
  if (named !== undefined && named !== '') return resolve(named);
  return (await recordsConfigOf(options)).values.data;
}

async function openStopped(
  options: ReadOptions,
  open?: (config: Config) => Promise<Reader>,
): Promise<Connection> {
  const config = await recordsConfigOf(options);
  try {
    const reader = await (open ?? (await import('../compose/reader.ts')).openReader)(config);
    return { url: undefined, client: createClient(reader), close: () => reader.close() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'store_missing') throw error;
    const why = `No host runs on ${config.values.data}, and nothing is recorded there yet.`;
    throw new CommandEnd('unreachable', `${why} Start one with: sekisho start`);
  }
}

const EXITS: Readonly<Record<string, ExitName>> = {
  not_found: 'not_found',
  not_a_task: 'not_found',
  unauthorized: 'usage',
  bad_request: 'usage',
  invalid: 'usage',
  store_failed: 'store',
  disk_full: 'store',
};

/** What the host says, and where exactly a body was wrong. */
function saidBy({ code, detail, errors = [] }: ApiProblem): string {
  // A shell sends its key in the header that the API would name.
  if (code === 'unauthorized') return "Set SEKISHO_API_KEY to one of the host's keys.";
  const places = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return shellSentence([detail, ...places].join(' '));
}

function explained(error: unknown, url: string | undefined): unknown {
  if (error instanceof ApiProblem) {
    const exit =
      EXITS[error.code] ?? (error.status < 500 || error.code === 'draining' ? 'refused' : 'failed');
    return new CommandEnd(exit, `${error.code}: ${saidBy(error)}`, { cause: error });
  }
  // What `fetch` throws when nobody answers.
  if (error instanceof TypeError && url !== undefined) {
    const why = `No host answers at ${url}.`;
    return new CommandEnd('unreachable', `${why} Start one with: sekisho start`, { cause: error });
  }
  return error;
}
