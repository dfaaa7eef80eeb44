import { z } from 'zod';
import type { Engine, Idempotency } from '../engine/engine.ts';
import type { Instant } from '../kernel/time.ts';
import type { Log } from '../ports/log.ts';
import type { SocketEnv, StreamSlots } from './bounds.ts';
import type { Exporter } from './export.ts';
import type { Identity, KeyRing, Scope } from './keys.ts';
import type { StoreLook } from './store-look.ts';

/** What a key needs for a route. `any`: whichever scope it has. `none`: no key at all. */
export type Need = Scope | 'any' | 'none';

/** What every handler may use. */
export interface Door {
  readonly engine: Engine;
  readonly keys: KeyRing;
  readonly log: Log;
  readonly version: string;
  readonly slots: StreamSlots;
  /** Aborts when the door closes its streams. */
  readonly closing: AbortSignal;
  readonly exporter: Exporter;
  readonly storeLook: StoreLook;
  /** Answers by status, for the metrics. */
  readonly answered: Map<number, number>;
  openapi(): Promise<object>;
}

/** One request after its key, its query and its body were checked. */
export interface Call<Q = unknown, B = unknown> {
  readonly door: Door;
  readonly identity: Identity;
  readonly request: Request;
  readonly env: SocketEnv;
  /** The `{id}` of the path, empty where the path has none. */
  readonly id: string;
  readonly query: Q;
  readonly body: B;
  readonly idempotency: Idempotency | undefined;
}

export interface Reply {
  readonly what: string;
  readonly shape?: z.ZodType;
  /** `application/json` unless said otherwise. */
  readonly type?: 'application/json' | 'application/x-ndjson' | 'text/event-stream' | 'text/plain';
}

/** One line of the table from which the router and the OpenAPI document are made. */
export interface Route<Q = unknown, B = unknown> {
  readonly method: 'GET' | 'POST';
  /** With `{id}` where the id stands. */
  readonly path: string;
  readonly need: Need;
  readonly summary: string;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /** A body may be left out, which means `{}`. */
  readonly isBodyOptional?: boolean;
  readonly isIdempotent?: boolean;
  readonly replies: Readonly<Record<number, Reply>>;
  handle(call: Call<Q, B>): Promise<Response> | Response;
}

/** Checks one line's types and forgets them, so that the table is a plain list. */
export function route<Q, B>(line: Route<Q, B>): Route {
  return line;
}

const REPLY_HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

export function reply(status: number, body: object): Response {
  return new Response(JSON.stringify(body), { status, headers: REPLY_HEADERS });
}

/** ISO 8601, UTC, with milliseconds. */
export function iso(at: Instant): string {
  return new Date(at).toISOString();
}

export function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : iso(at);
}
