import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../kernel/limits.ts';
import { MINUTE, SECOND, type Instant, type Millis } from '../kernel/time.ts';
import type { Log } from '../ports/log.ts';
import { problem } from './problems.ts';

/** What node's server gives beside the request; absent when the door is called without a socket. */
export interface SocketEnv {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as text and counts while it reads, whatever the length claims.
 * Throws `too_large`, `unsupported_type` for an encoded one, `bad_json` for bytes that are no UTF-8.
 */
export async function readBody(request: Request, env: SocketEnv): Promise<string> {
  const { headers } = request;
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') throw problem('unsupported_type');
  if (Number(headers.get('content-length') ?? 0) > LIMITS.httpBodyBytes) throw tooLarge();
  if (headers.get('expect') !== null) env.outgoing?.writeContinue();
  const bytes =
    env.incoming === undefined ? await readStream(request.body) : await readIncoming(env.incoming);
  try {
    return decoder.decode(bytes);
  } catch {
    throw problem('bad_json', { detail: 'The body is not UTF-8.' });
  }
}

/** Whether anything was sent as a body; an empty chunked one counts as sent. */
export function hasBody(request: Request, env: SocketEnv): boolean {
  // Without a socket no header tells of a body: `new Request` sets no length.
  if (env.incoming === undefined) return request.body !== null;
  const { headers } = request;
  const length = headers.get('content-length');
  return headers.get('transfer-encoding') !== null || (length !== null && length !== '0');
}

/** Throws `unsupported_type` unless the body says that it is JSON. */
export function demandJson({ headers }: Request): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    throw problem('unsupported_type', { detail: 'Send the body as application/json.' });
  }
}

async function readStream(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > LIMITS.httpBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

// Listeners and not `for await`: leaving that loop destroys the socket before the answer is written.
function readIncoming(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > LIMITS.httpBodyBytes) {
        incoming.pause();
        done(() => reject(tooLarge()));
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = (): void =>
      done(() => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.of()) : Buffer.concat(chunks)));
    const onGone = (): void => done(() => reject(problem('timeout')));
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

function tooLarge(): Error {
  const detail = `A body has at most ${LIMITS.httpBodyBytes} bytes.`;
  return problem('too_large', { detail, headers: { Connection: 'close' } });
}

/** Requests of one second, by key. */
export class RequestRate {
  readonly #most: number;
  readonly #counts = new Map<string, number>();
  #second = -1;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws `slow_down` once a key has had its share of this second. */
  count(name: string, now: Instant): void {
    const second = Math.floor(now / SECOND);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts.clear();
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count > this.#most) {
      throw problem('slow_down', { detail: `A key has ${this.#most} requests a second.` });
    }
  }
}

/** How many failures of authentication a minute are answered as such. */
export interface FailureBounds {
  readonly perAddress: number;
  /** From all addresses together: many of them are no way around the first bound. */
  readonly overall: number;
}

/** What stands for all addresses where a burst is told. */
const EVERYWHERE = 'every address';

/**
 * Failures of authentication of the last minute, by canonical address. Beyond the bounds a wrong
 * key is answered `slow_down` in place of `unauthorized`, on a connection that is then closed.
 *
 * A right key is never slowed. Many callers share an address (this machine, a proxy, an office): one
 * of them that fails, by mistake or on purpose, would otherwise shut out the others, and anybody on
 * the machine could lock out its owner. A guesser gains nothing that counts: what stands against
 * guessing is the length of the key, 32 random bytes where the host makes it, and a configured one
 * that is short is named at each start. Only answered failures are kept, so that no flood of
 * addresses takes more memory than `overall` of them.
 */
export class AuthFailures {
  readonly #bounds: FailureBounds;
  readonly #log: Log;
  #kept: readonly { readonly address: string; readonly at: Millis }[] = [];
  /** When a burst was last seen, by what it was told as. */
  readonly #bursts = new Map<string, Millis>();

  constructor(bounds: FailureBounds, log: Log) {
    this.#bounds = bounds;
    this.#log = log;
  }

  /** Counts one failure at this uptime; throws `slow_down` when there were too many before it. */
  count(address: string, now: Millis): void {
    this.#kept = this.#kept.filter(({ at }) => now - at < MINUTE);
    const own = this.#kept.filter((failure) => failure.address === address);
    const isOwn = own.length >= this.#bounds.perAddress;
    if (!isOwn && this.#kept.length < this.#bounds.overall) {
      this.#kept = [...this.#kept, { address, at: now }];
      return;
    }
    this.#tell(isOwn ? address : EVERYWHERE, now);
    const [oldest] = isOwn ? own : this.#kept;
    const wait = Math.max(1, Math.ceil(((oldest?.at ?? now) + MINUTE - now) / SECOND));
    throw problem('slow_down', {
      detail: 'Too many wrong keys came from here.',
      headers: { 'Retry-After': String(wait), Connection: 'close' },
    });
  }

  /** One line for a burst, however long it lasts: a minute without it ends it. */
  #tell(address: string, now: Millis): void {
    for (const [told, at] of this.#bursts) if (now - at >= MINUTE) this.#bursts.delete(told);
    if (!this.#bursts.has(address)) {
      this.#log.warn('repeated failures of authentication are slowed', { address });
    }
    this.#bursts.set(address, now);
  }
}

/** Open streams by key. */
export class StreamSlots {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place until the returned function is called; throws `slow_down` when none is free. */
  take(name: string): () => void {
    const open = this.#open.get(name) ?? 0;
    if (open >= this.#most) {
      throw problem('slow_down', { detail: `A key has ${this.#most} streams at once.` });
    }
    this.#open.set(name, open + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#open.get(name) ?? 1) - 1;
      if (left === 0) this.#open.delete(name);
      else this.#open.set(name, left);
    };
  }

  get count(): number {
    return [...this.#open.values()].reduce((sum, open) => sum + open, 0);
  }
}
