import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LIMITS } from '../../kernel/limits.ts';
import type { Target } from './fetch-target.ts';
import { ToolProblem } from './tool-problem.ts';
import { codeOf } from './workspace-path.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly location: string | undefined;
  readonly bytes: Uint8Array;
  /** More would have come. */
  readonly isCut: boolean;
}

const HEADERS = {
  'user-agent': 'sekisho',
  accept: 'text/html, text/plain, application/json, */*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
};

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the host refused the connection',
  ECONNRESET: 'the host cut the connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  EPIPE: 'the host cut the connection',
  HPE_HEADER_OVERFLOW: 'the head of the answer is too large',
};

/**
 * One request to the checked addresses and nowhere else. Throws `ToolProblem`, whose text never
 * names an address, and the signal's reason.
 */
export async function hop(target: Target, signal: AbortSignal): Promise<Answer> {
  try {
    const message = await answered(target, signal);
    const { statusCode: status = 0, headers } = message;
    const location = REDIRECTS.has(status) ? headers.location : undefined;
    const contentType = headers['content-type'] ?? '';
    if (location !== undefined) {
      message.destroy();
      return { status, contentType, location, bytes: new Uint8Array(), isCut: false };
    }
    return { status, contentType, location, ...(await readBody(message)) };
  } catch (error) {
    signal.throwIfAborted();
    throw failure(error);
  }
}

/** An agent of its own: none is kept alive, and proxies of the environment are the shared one's. */
function answered(target: Target, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, host, port, addresses } = target;
  const isSecure = url.protocol === 'https:';
  const lookup: LookupFunction = (_name, options, found) => {
    const [first] = addresses;
    if (options.all === true)
      found(
        null,
        addresses.map((one) => ({ ...one })),
      );
    else found(null, first?.address ?? '', first?.family);
  };
  const options = {
    host,
    port,
    path: `${url.pathname}${url.search}`,
    headers: { ...HEADERS, host: url.host },
    lookup,
    signal,
    agent: isSecure ? new HttpsAgent() : new HttpAgent(),
    ...(isSecure && isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = isSecure ? httpsRequest(options) : httpRequest(options);
    request.once('response', resolve);
    request.on('error', reject);
    request.end();
  });
}

async function readBody(
  message: IncomingMessage,
): Promise<{ readonly bytes: Uint8Array; readonly isCut: boolean }> {
  const body = unpacked(message);
  const chunks: Buffer[] = [];
  let total = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      total += chunk.length;
      if (total > LIMITS.fetchBytesMax) break;
    }
  } finally {
    body.destroy();
    message.destroy();
  }
  const bytes = Buffer.concat(chunks).subarray(0, LIMITS.fetchBytesMax);
  return { bytes, isCut: total > LIMITS.fetchBytesMax };
}

/** The bound is on what comes out: a small answer can unpack to a huge one. */
function unpacked(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return message;
  const unpacker =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (unpacker === undefined)
    throw new ToolProblem('failed', 'the answer is packed in an unknown way');
  message.on('error', (error) => unpacker.destroy(error));
  return message.pipe(unpacker);
}

function failure(error: unknown): ToolProblem {
  if (error instanceof ToolProblem) return error;
  const code = codeOf(error) ?? '';
  const text = FAILURES[code] ?? words(code);
  return new ToolProblem('failed', text, { cause: error });
}

function words(code: string): string {
  if (/CERT|SELF_SIGNED|ALTNAME|ISSUER/.test(code))
    return 'the certificate of the host is not valid';
  if (code.startsWith('HPE_')) return 'the answer is no HTTP';
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return 'the answer cannot be unpacked';
  return 'the connection failed';
}
