import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND, type Instant } from '../kernel/time.ts';
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
