import { LIMITS } from '../kernel/limits.ts';
import type { Clock } from '../ports/clock.ts';
import { canonicalAddress } from './address.ts';
import type { AuthFailures, SocketEnv } from './bounds.ts';
import type { Need } from './call.ts';
import type { Identity, KeyRing } from './keys.ts';
import { problem } from './problems.ts';

export interface HostRules {
  /** Further names in `Host`, each as `name` (with the bound port) or `name:port`, lower case. */
  readonly allowedHosts: readonly string[];
  /** A proxy before us speaks TLS: pages come from `https` though the socket is plain. */
  readonly behindProxy: boolean;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses what a rebound name or another site's page sends: `Host` must name the address that
 * the connection reached, loopback or a configured host, and `Origin`, when there is one, the same.
 * The probes answer to any `Host`, since balancers invent theirs; they tell nothing but the status.
 */
export function checkHost(
  request: Request,
  env: SocketEnv,
  rules: HostRules & { readonly isProbe: boolean },
): void {
  const { headers } = request;
  const host = (headers.get('host') ?? new URL(request.url).host).toLowerCase();
  const port = env.incoming?.socket.localPort;
  if (!rules.isProbe && !isKnownHost(host, port, env, rules)) {
    throw problem('forbidden', { detail: 'This host name is not one of this server.' });
  }
  const origin = headers.get('origin');
  if (origin !== null && !isKnownOrigin(origin, port, env, rules)) {
    throw problem('forbidden', { detail: 'Requests from this origin are not taken.' });
  }
}

function isKnownOrigin(
  origin: string,
  port: number | undefined,
  env: SocketEnv,
  rules: HostRules,
): boolean {
  const match = /^(https?):\/\/([^/?#\\@]+)$/.exec(origin.toLowerCase());
  const [, scheme, host] = match ?? [];
  if (host === undefined) return false;
  const isTls = env.incoming !== undefined && 'encrypted' in env.incoming.socket;
  if (!rules.behindProxy && (scheme === 'https') !== isTls) return false;
  return isKnownHost(host, port, env, rules);
}

function isKnownHost(
  host: string,
  port: number | undefined,
  env: SocketEnv,
  { allowedHosts }: HostRules,
): boolean {
  const reached = env.incoming?.socket.localAddress?.replace(/^::ffff:/, '') ?? '';
  const names = [...LOOPBACK_NAMES, reached.includes(':') ? `[${reached}]` : reached];
  if (allowedHosts.includes(host)) return true;
  return [...names, ...allowedHosts].some((name) => name !== '' && isAt(host, name, port));
}

/** A port may be left out where it is the scheme's own, or where no socket says which one it is. */
function isAt(host: string, name: string, port: number | undefined): boolean {
  if (host === `${name}:${port}`) return true;
  return host === name && (port === undefined || port === 80 || port === 443);
}

export interface KeyCheck {
  readonly keys: KeyRing;
  readonly failures: AuthFailures;
  readonly behindProxy: boolean;
  /** The minute is one of the uptime: a wall clock that is set would end it early, or never. */
  readonly clock: Pick<Clock, 'uptime'>;
}

/**
 * The identity behind `Authorization: Bearer`, the only place where a key counts.
 * Throws `unauthorized`, the same for no key, a wrong and a withdrawn one, or `slow_down` for a wrong
 * one after many. A request without a credential guesses nothing and is not counted.
 */
export function demandKey(request: Request, env: SocketEnv, check: KeyCheck): Identity {
  const given = request.headers.get('authorization') ?? '';
  const secret = given.length > LIMITS.httpHeaderBytes ? '' : bearerOf(given);
  const identity = check.keys.verify(secret);
  if (identity !== undefined) return identity;
  if (given !== '') {
    check.failures.count(callerOf(request, env, check.behindProxy), check.clock.uptime());
  }
  throw problem('unauthorized', {
    detail: 'Send a valid key as "Authorization: Bearer KEY".',
    headers: { 'WWW-Authenticate': 'Bearer realm="sekisho"' },
  });
}

/**
 * The canonical address of the caller. `X-Forwarded-For` counts only behind a proxy that was
 * configured, and of it only the last entry, which that proxy wrote: the others are the caller's words.
 */
function callerOf({ headers }: Request, env: SocketEnv, behindProxy: boolean): string {
  const peer = canonicalAddress(env.incoming?.socket.remoteAddress ?? '') ?? 'unknown';
  const forwarded = behindProxy ? (headers.get('x-forwarded-for') ?? '') : '';
  return canonicalAddress(forwarded.slice(forwarded.lastIndexOf(',') + 1)) ?? peer;
}

function bearerOf(header: string): string {
  return /^bearer +([\x21-\x7e]+)$/i.exec(header)?.[1] ?? '';
}

/** Throws `forbidden` unless the key has the scope that the route needs. */
export function demandScope(identity: Identity, need: Need): void {
  if (need === 'none' || need === 'any' || identity.scopes.has(need)) return;
  throw problem('forbidden', { detail: `This needs a key with the scope ${need}.` });
}

/** Whether a key may know of a record: its own, or any with `read`. */
export function maySee(identity: Identity, owner: string): boolean {
  return identity.scopes.has('read') || identity.name === owner;
}

/**
 * Throws unless the key may change a record: `not_found` where it may not even know of it,
 * so that a foreign id and an unknown one look alike, `forbidden` where it may only read.
 */
export function demandOwn(identity: Identity, owner: string): void {
  if (identity.scopes.has('admin') || identity.name === owner) return;
  if (!maySee(identity, owner)) throw problem('not_found');
  throw problem('forbidden', { detail: 'This belongs to another key; it needs the scope admin.' });
}
