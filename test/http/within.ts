// The real router without a socket: sweeps of tens of thousands of requests run through it in seconds.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { createApi, type Api, type ApiOptions } from '../../src/http/api.ts';
import type { SocketEnv } from '../../src/http/bounds.ts';
import { KeyRing, type KeyGrant } from '../../src/http/keys.ts';
import { REFUSALS } from '../../src/kernel/fault.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Store } from '../../src/ports/store.ts';
import { Installation } from '../support/host.ts';
import { GRANTS, NOTHING, SECRETS, type KeyName } from './door.ts';
import type { Maker } from './subjects.ts';

/** The address and port that every in-process request seems to have reached. */
export const PORT = 7420;
export const HOST = `127.0.0.1:${PORT}`;

/** The codes of the surface; `internal` is none that a caller may provoke. */
const DOOR_CODES = [
  'bad_json bad_request unknown_event unauthorized forbidden not_found method_not_allowed timeout',
  'too_large unsupported_type expectation_failed invalid slow_down headers_too_large draining',
  'store_failed disk_full',
].flatMap((line) => line.split(' '));
const CODES: ReadonlySet<string> = new Set([...DOOR_CODES, ...Object.keys(REFUSALS)]);

/** What a refusal may take to say: it repeats no megabyte of what it was sent. */
const PROBLEM_BYTES_MAX = 16_384;

export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  /** Empty for a stream, which is left at once. */
  readonly text: string;
  /** Units of the store that wrote something while this request was answered. */
  readonly writes: number;
  /** What the answer took of the processor, in milliseconds. */
  readonly cpuMs: number;
}

export interface Said {
  readonly key?: KeyName;
  /** Sent as it is; a body makes it `application/json` unless `headers` say otherwise. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's address, 127.0.0.1 without it. */
  readonly from?: string;
}

export interface Within {
  readonly installation: Installation;
  readonly engine: Engine;
  readonly api: Api;
  readonly keys: KeyRing;
  readonly say: (method: string, path: string, said?: Said) => Promise<Heard>;
}

export interface WithinOptions {
  readonly options?: Partial<ApiOptions>;
  readonly log?: Log;
  readonly grants?: readonly KeyGrant[];
  readonly keyFile?: string;
}

/** Failures of authentication that are never slowed. */
export const UNBOUNDED = {
  perAddress: Number.POSITIVE_INFINITY,
  overall: Number.POSITIVE_INFINITY,
};

/** A host in memory and its router; the rates are without bound, since the clock stands still. */
export async function openWithin(context: TestContext, given: WithinOptions): Promise<Within> {
  const installation = new Installation();
  const { clock } = installation;
  const log = given.log ?? { debug() {}, info() {}, warn() {}, error() {} };
  const asking = new AsyncLocalStorage<{ writes: number }>();
  const engine = await installation.host({ store: countWrites(installation.store, asking), log });
  const { keyFile, grants = GRANTS } = given;
  const keys = new KeyRing({ grants, clock, log, ...(keyFile === undefined ? {} : { keyFile }) });
  const options = {
    version: '1.2.3',
    requestsPerSecondPerKey: Number.POSITIVE_INFINITY,
    authFailuresPerMinute: UNBOUNDED,
    ...given.options,
  };
  const api = createApi({ engine, keys, log, exporter: NOTHING, options });
  context.after(async () => {
    api.closeStreams();
    await engine.stop(0);
  });
  const say = async (method: string, path: string, said: Said = {}): Promise<Heard> => {
    const { request, env } = requestOf(method, path, said);
    const count = { writes: 0 };
    const before = process.threadCpuUsage();
    const response = await asking.run(count, () => api.fetch(request, env));
    const text = await textOf(response);
    const { user, system } = process.threadCpuUsage(before);
    const { status, headers } = response;
    return { status, headers, text, writes: count.writes, cpuMs: (user + system) / 1_000 };
  };
  return { installation, engine, api, keys, say };
}

/** The store, telling the request in whose course a unit decided to write something. */
function countWrites(store: Store, asking: AsyncLocalStorage<{ writes: number }>): Store {
  return {
    ...store,
    commit(unit) {
      const count = asking.getStore();
      return store.commit({
        ...unit,
        decide(rows, at) {
          const decision = unit.decide(rows, at);
          if (count !== undefined && decision.writes.length > 0) count.writes += 1;
          return decision;
        },
      });
    },
  };
}

function requestOf(
  method: string,
  path: string,
  { key, raw, headers = {}, from = '127.0.0.1' }: Said,
): { request: Request; env: SocketEnv } {
  const bytes = Buffer.from(raw ?? '');
  const sent = new Headers({
    Host: HOST,
    ...(key === undefined ? {} : { Authorization: `Bearer ${SECRETS[key]}` }),
    ...(raw === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(raw === undefined ? {} : { 'Content-Length': String(bytes.length) }),
    ...headers,
  });
  const socket = { remoteAddress: from, localAddress: '127.0.0.1', localPort: PORT };
  const incoming = Object.assign(Readable.from(raw === undefined ? [] : [bytes]), { socket });
  // The router reads the body of the socket, so the request itself has none.
  const request = new Request(`http://${HOST}${path}`, { method, headers: sent });
  return { request, env: { incoming } as unknown as SocketEnv };
}

async function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  if (!isStream) return response.text();
  await response.body?.cancel();
  return '';
}

/** What makes the subjects of a sweep, all of this key. */
export function makerOf({ installation, engine, say }: Within, key: KeyName): Maker {
  const post: Maker['post'] = async (path, body) => {
    const { status, text } = await say('POST', path, { key, raw: JSON.stringify(body) });
    assert.equal(status, 202, text);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return { installation, engine, post };
}

/** The `code` of a problem after a look at its form, or undefined for an answer that is none. */
export function heardCode({ status, headers, text }: Heard, where: string): string | undefined {
  assert.ok(status < 500, `${where}: ${status} ${text}`);
  if (status < 400) return undefined;
  assert.equal(headers.get('content-type'), 'application/problem+json', where);
  assert.ok(text.length <= PROBLEM_BYTES_MAX, `${where}: a problem of ${text.length} characters`);
  const body = JSON.parse(text) as { status: number; code: string };
  assert.equal(body.status, status, where);
  assert.ok(CODES.has(body.code), `${where}: ${body.code} is not of the surface`);
  return body.code;
}

/** Every row of every table, so that "nothing is stored" can be held to the letter. */
export async function dumpOf({ installation }: Within): Promise<Readonly<Record<string, unknown>>> {
  const schema = await installation.rows('sqlite_master');
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const rows = await Promise.all(tables.map((table) => installation.rows(table)));
  return Object.fromEntries(tables.map((table, at) => [table, rows[at]]));
}

/** A stalled event loop is everybody's: no single answer may take the processor for longer. */
const STALL_MS = 100;

/** Asks, and asks again what took long: a machine that was busy is not the request's doing. */
export async function cpuBound(where: string, ask: () => Promise<Heard>): Promise<Heard> {
  const heard = await ask();
  if (heard.cpuMs < STALL_MS) return heard;
  const again = await ask();
  assert.ok(again.cpuMs < STALL_MS, `${where} took the processor for ${again.cpuMs} ms`);
  return heard;
}
