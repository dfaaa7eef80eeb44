import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { createApi, type Api, type ApiOptions } from '../../src/http/api.ts';
import type { Exporter } from '../../src/http/export.ts';
import { KeyRing, type KeyGrant } from '../../src/http/keys.ts';
import { serveApi, type ServeOptions } from '../../src/http/serve.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Installation, SILENT, type GivenParts } from '../support/host.ts';

/** Keys of every kind; long enough to be taken without a warning. */
export const SECRETS = {
  ops: 'ops-secret-0123456789abcdef0123456789abcdef',
  runner: 'runner-secret-0123456789abcdef0123456789ab',
  other: 'other-secret-0123456789abcdef0123456789abc',
  reader: 'reader-secret-0123456789abcdef0123456789ab',
} as const;
export type KeyName = keyof typeof SECRETS;

export const GRANTS: readonly KeyGrant[] = [
  { name: 'ops', scopes: ['admin'], secret: SECRETS.ops },
  { name: 'runner', scopes: ['run'], secret: SECRETS.runner },
  { name: 'other', scopes: ['run'], secret: SECRETS.other },
  { name: 'reader', scopes: ['read'], secret: SECRETS.reader },
];

/** A store in memory can be read by nobody else, so nothing is exported. */
export const NOTHING: Exporter = () =>
  Promise.resolve({ pieces: noPieces(), close: () => Promise.resolve() });

async function* noPieces(): AsyncGenerator<Uint8Array, void> {}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  readonly json: Record<string, unknown>;
}

export interface Asked {
  readonly key?: KeyName;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestDoor {
  readonly installation: Installation;
  readonly engine: Engine;
  readonly api: Api;
  readonly keys: KeyRing;
  readonly url: string;
  readonly host: string;
  /** Speaks to the real socket; nothing is filled in but the key and the body's type. */
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  client(key?: KeyName): Client;
  /** How many streams wait for their next comment. */
  resting(): number;
  /** Rows of every table, so that "nothing is stored" can be held. */
  counts(): Promise<Record<string, number>>;
}

/** A host in memory behind a real socket; closed when the test ends. */
export async function openDoor(
  context: TestContext,
  options: Partial<ApiOptions> = {},
  limits: ServeOptions['limits'] = {},
  given: (installation: Installation) => GivenParts = () => ({}),
): Promise<TestDoor> {
  return openDoorOf(context, new Installation(), { options, limits, given });
}

/** The next host of an installation, behind a socket of its own. */
export async function openDoorOf(
  context: TestContext,
  installation: Installation,
  how: {
    readonly options?: Partial<ApiOptions>;
    readonly limits?: ServeOptions['limits'];
    readonly given?: (installation: Installation) => GivenParts;
    readonly exporter?: Exporter;
  } = {},
): Promise<TestDoor> {
  const { options = {}, limits = {}, given = () => ({}) } = how;
  const { clock } = installation;
  const resting = countRests(clock);
  const engine = await installation.host(given(installation));
  const keys = new KeyRing({ grants: GRANTS, clock, log: SILENT });
  const api = createApi({
    engine,
    keys,
    log: SILENT,
    exporter: how.exporter ?? NOTHING,
    options: { version: '1.2.3', ...options },
  });
  const served = await serveApi({
    fetch: (request, env) => api.fetch(request, env),
    host: '127.0.0.1',
    port: 0,
    limits,
  });
  context.after(async () => {
    api.closeStreams();
    await served.close(0);
    await engine.stop(0);
  });
  const { url } = served;
  return {
    installation,
    engine,
    api,
    keys,
    url,
    host: new URL(url).host,
    ask: (method, path, asked) => ask(url, { method, path, ...asked }),
    client: (key = 'ops') => createClient({ url, key: SECRETS[key] }),
    resting,
    counts: () => countRows(installation),
  };
}

function countRests(clock: Clock): () => number {
  const sleep = clock.sleep.bind(clock);
  let resting = 0;
  clock.sleep = async (ms, signal) => {
    const isRest = ms === LIMITS.httpKeepAliveCommentMs;
    if (isRest) resting += 1;
    await sleep(ms, signal);
    if (isRest) resting -= 1;
  };
  return () => resting;
}

function ask(
  url: string,
  asked: Asked & { readonly method: string; readonly path: string },
): Promise<Answer> {
  const { method, path, key, body, raw } = asked;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const headers: Record<string, string> = {
    ...(key === undefined ? {} : { Authorization: `Bearer ${SECRETS[key]}` }),
    ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) }),
    ...asked.headers,
  };
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            get json() {
              return JSON.parse(text) as Record<string, unknown>;
            },
          });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

async function countRows(installation: Installation): Promise<Record<string, number>> {
  const tables = (await installation.rows('sqlite_master'))
    .filter(({ type }) => type === 'table')
    .map(({ name }) => String(name));
  const counts: Record<string, number> = {};
  for (const table of tables) counts[table] = (await installation.rows(table)).length;
  return counts;
}

/** The `code` of a problem, after a look at its form. */
export function codeOf(answer: Answer): string {
  if (answer.headers['content-type'] !== 'application/problem+json') {
    throw new Error(`no problem: ${answer.status} ${answer.text}`);
  }
  return String(answer.json['code']);
}
