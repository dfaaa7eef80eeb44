import { getRequestListener } from '@hono/node-server';
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIPv6, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '../kernel/fault.ts';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND } from '../kernel/time.ts';
import type { SocketEnv } from './bounds.ts';
import { isLoopback } from './loopback.ts';
import { problem, problemResponse, type Problem } from './problems.ts';

export interface ServeOptions {
  readonly fetch: (request: Request, env: SocketEnv) => Promise<Response>;
  /** An address to bind, or `localhost`. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM texts, both. Without them the socket is plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Says that a proxy with TLS stands before a plain socket that others can reach. */
  readonly behindProxy?: boolean;
  readonly limits?: Partial<ServeLimits>;
}

export interface ServeLimits {
  readonly headerBytes: number;
  readonly headersMs: number;
  readonly requestMs: number;
}

export interface Served {
  /** As callers type it: `http://127.0.0.1:7420`. */
  readonly url: string;
  /** Takes no further connection, lets requests end for so long, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/**
 * Listens. Rejects with a `Fault`: `bind_refused` for an address that others can reach without TLS or
 * `behindProxy`, `port_taken`, `bind_failed`, `bad_tls`.
 */
export async function serveApi(options: ServeOptions): Promise<Served> {
  const { host, port, tls } = options;
  demandSafeBind(options);
  const server = createFor(options);
  await listen(server, { host, port });
  const { port: bound } = server.address() as AddressInfo;
  const name = isIPv6(host) ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${bound}`,
    close: (graceMs) => close(server, graceMs),
  };
}

function demandSafeBind({ host, tls, behindProxy }: ServeOptions): void {
  if (isLoopback(host) || tls !== undefined || behindProxy === true) return;
  throw new Fault(
    'bind_refused',
    'stop',
    `${host} can be reached by others, so a plain socket is refused there. Either give TLS ` +
      `(api.tls with keyFile and certFile) or say that a proxy with TLS stands before it ` +
      `(api.behindProxy: true).`,
  );
}

function createFor(options: ServeOptions): Server {
  const { headerBytes, headersMs, requestMs } = {
    headerBytes: LIMITS.httpHeaderBytes,
    headersMs: LIMITS.httpHeadersMs,
    requestMs: LIMITS.httpRequestMs,
    ...options.limits,
  };
  const listener = getRequestListener((request, env) => options.fetch(request, env as SocketEnv), {
    errorHandler: () => problemResponse(problem('bad_request')),
  }) as RequestListener;
  const bounds = {
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    // How often the two timeouts are looked at: a late client is told within a second of its time.
    connectionsCheckingInterval: Math.min(SECOND, headersMs),
  };
  const server = makeServer(options, bounds, listener);
  server.on('clientError', refuseRaw);
  // A body is asked for only once the key was seen; `readBody` then says "go on".
  server.on('checkContinue', listener);
  server.on('checkExpectation', (_request, response) => {
    const { status, text } = rawProblem(problem('expectation_failed'));
    response.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(text);
  });
  return server;
}

function makeServer(
  { tls }: ServeOptions,
  bounds: Parameters<typeof createServer>[0],
  listener: RequestListener,
): Server {
  if (tls === undefined) return createServer(bounds, listener);
  try {
    return createTlsServer({ ...bounds, ...tls, minVersion: 'TLSv1.2' }, listener);
  } catch (error) {
    const message = 'the TLS key and certificate cannot be used together';
    throw new Fault('bad_tls', 'stop', message, { cause: error });
  }
}

/** Answers what never became a request: node would close these with a bare line, or with none. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, text } = rawProblem(problem(codeOf(error)));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function codeOf({ code }: NodeJS.ErrnoException): 'headers_too_large' | 'timeout' | 'bad_request' {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'bad_request';
}

function rawProblem({ body }: Problem): { readonly status: number; readonly text: string } {
  return { status: body.status, text: JSON.stringify(body) };
}

function listen(
  server: Server,
  at: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const where = `${at.host}:${at.port}`;
      const why = isTaken ? `${where} is taken by another program` : `${where} cannot be bound`;
      reject(new Fault(isTaken ? 'port_taken' : 'bind_failed', 'stop', why, { cause: error }));
    });
    server.listen(at.port, at.host, resolve);
  });
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
