import { Hono, type Context } from 'hono';
import type { Engine } from '../engine/engine.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../ports/log.ts';
import { askBody, askIdempotency, askQuery } from './ask.ts';
import { checkHost, demandKey, demandScope } from './auth.ts';
import {
  AuthFailures,
  RequestRate,
  StreamSlots,
  type FailureBounds,
  type SocketEnv,
} from './bounds.ts';
import type { Door, Route } from './call.ts';
import { StoreLook } from './store-look.ts';
import type { Exporter } from './export.ts';
import type { Identity, KeyRing } from './keys.ts';
import { Problem, problem, problemOf, problemResponse } from './problems.ts';
import { ROUTES } from './routes.ts';

export interface ApiParts {
  readonly engine: Engine;
  readonly keys: KeyRing;
  readonly log: Log;
  /** Of the store behind the engine. */
  readonly exporter: Exporter;
  readonly options: ApiOptions;
}

export interface ApiOptions {
  /** The version of the product, for status and the OpenAPI document. */
  readonly version: string;
  /** Further names that `Host` and `Origin` may have, as `name` (with the bound port) or `name:port`. */
  readonly allowedHosts?: readonly string[];
  /** A proxy before this host speaks TLS with the callers. */
  readonly behindProxy?: boolean;
  readonly streamsPerKey?: number;
  readonly requestsPerSecondPerKey?: number;
  readonly authFailuresPerMinute?: FailureBounds;
}

export interface Api {
  /** Answers one request. `env` is what node's server gives; without it there is no socket to look at. */
  fetch(request: Request, env?: SocketEnv): Promise<Response>;
  /** Ends every stream and every `wait`; further ones end at once. */
  closeStreams(): void;
}

interface Vars {
  Bindings: SocketEnv;
  Variables: { identity: Identity };
}

/**
 * The HTTP door. Before a body is read: `Host` and `Origin`, the key, its share of
 * requests and its scope. What is refused there changed nothing and read nothing.
 */
export function createApi(parts: ApiParts): Api {
  const { options, engine } = parts;
  const closing = new AbortController();
  const door = openDoor(parts, closing.signal);
  const most = options.requestsPerSecondPerKey ?? LIMITS.httpRequestsPerSecondPerKey;
  const rate = new RequestRate(most);
  const rules = {
    allowedHosts: (options.allowedHosts ?? []).map((host) => host.toLowerCase()),
    behindProxy: options.behindProxy ?? false,
  };
  const bounds = options.authFailuresPerMinute ?? LIMITS.authFailuresPerMinute;
  const check = {
    keys: parts.keys,
    failures: new AuthFailures(bounds, parts.log),
    behindProxy: rules.behindProxy,
    clock: engine.parts.clock,
  };
  const probes = new Set(ROUTES.filter(({ need }) => need === 'none').map(({ path }) => path));
  const app = new Hono<Vars>();
  app.use('*', async (context, next) => {
    const request = context.req.raw;
    const isProbe = probes.has(context.req.path);
    checkHost(request, context.env, { ...rules, isProbe });
    if (!isProbe) {
      const identity = demandKey(request, context.env, check);
      rate.count(identity.name, engine.parts.clock.now());
      context.set('identity', identity);
    }
    await next();
  });
  for (const line of ROUTES)
    app.on(line.method, pathOf(line), (context) => serve(door, line, context));
  for (const [path, allow] of methodsByPath())
    app.all(path, ({ req }) => otherMethod(req.method, allow));
  app.notFound(() => problemResponse(problem('not_found')));
  app.onError((error, { req }) => explain(door, error, req));
  return {
    async fetch(request, env = {}) {
      const response = await app.fetch(request, env);
      door.answered.set(response.status, (door.answered.get(response.status) ?? 0) + 1);
      return response;
    },
    closeStreams: () => closing.abort(),
  };
}

function openDoor({ engine, keys, log, exporter, options }: ApiParts, closing: AbortSignal): Door {
  const { version } = options;
  let document: Promise<object> | undefined;
  return {
    engine,
    keys,
    log,
    version,
    slots: new StreamSlots(options.streamsPerKey ?? LIMITS.httpStreamsPerKey),
    closing,
    exporter,
    storeLook: new StoreLook(engine.store),
    answered: new Map(),
    openapi: () => (document ??= describe(version)),
  };
}

// Few ask for it, and a start does not wait for it.
async function describe(version: string): Promise<object> {
  const { describeRoutes } = await import('./openapi.ts');
  return describeRoutes(ROUTES, version);
}

function pathOf({ path }: Route): string {
  return path.replace('{id}', ':id');
}

function methodsByPath(): ReadonlyMap<string, string> {
  const methods = new Map<string, string>();
  for (const line of ROUTES) {
    const own = line.method === 'GET' ? 'GET, HEAD' : line.method;
    const path = pathOf(line);
    const before = methods.get(path);
    methods.set(path, before === undefined ? own : `${before}, ${own}`);
  }
  return methods;
}

function otherMethod(method: string, allow: string): Response {
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } });
  throw problem('method_not_allowed', { detail: `Here go ${allow}.`, headers: { Allow: allow } });
}

async function serve(door: Door, line: Route, context: Context<Vars>): Promise<Response> {
  const request = context.req.raw;
  const { env } = context;
  const identity = context.get('identity');
  if (line.need !== 'none') demandScope(identity, line.need);
  const query = askQuery(line, request.url);
  const { body, canonical } = await askBody(line, request, env);
  const idempotency = line.isIdempotent
    ? askIdempotency(door, request, `${line.method} ${context.req.path}\n${canonical}`)
    : undefined;
  const id = context.req.param('id') ?? '';
  return line.handle({ door, identity, request, env, id, query, body, idempotency });
}

function explain(door: Door, error: Error, req: { method: string; path: string }): Response {
  const answer = problemOf(error);
  if (!(error instanceof Problem)) {
    const fields = { method: req.method, path: req.path, error: String(error.stack ?? error) };
    door.log.error('a request failed', fields);
  }
  return problemResponse(answer);
}
