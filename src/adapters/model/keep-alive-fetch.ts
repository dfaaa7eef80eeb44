import { Agent as PlainAgent, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

/** What the adapter asks of a transport; the built-in `fetch` fits. */
export type ModelFetch = (
  url: string,
  init: {
    readonly method: 'GET' | 'POST';
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect: 'manual';
  },
) => Promise<ModelResponse>;

export interface ModelResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * A fetch over node:http that keeps its connections. It follows no redirect, so that a call is one
 * request, and unlike the built-in one it gives up on no server that thinks for more than five
 * minutes. Rejects with the transport's error, whose `code` is the system's (`ECONNREFUSED`).
 */
export function keepAliveFetch(): ModelFetch {
  const plain = new PlainAgent({ keepAlive: true });
  const tls = new TlsAgent({ keepAlive: true });
  return (url, init) => {
    const { promise, resolve, reject } = Promise.withResolvers<ModelResponse>();
    const target = new URL(url);
    const isTls = target.protocol === 'https:';
    const options: RequestOptions = {
      method: init.method,
      headers: init.headers,
      agent: isTls ? tls : plain,
      signal: init.signal,
    };
    const request = isTls ? tlsRequest(target, options) : plainRequest(target, options);
    // It stays on for the whole exchange: an error after the answer has begun would else be unheard.
    request.on('error', reject);
    request.on('response', (message) => resolve(responseOf(message)));
    request.end(init.body);
    return promise;
  };
}

function responseOf(message: IncomingMessage): ModelResponse {
  return {
    status: message.statusCode ?? 0,
    headers: { get: (name) => headerOf(message, name) },
    body: streamOf(message),
  };
}

function headerOf(message: IncomingMessage, name: string): string | null {
  const value = message.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function streamOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(sink) {
      message.on('data', (chunk: Buffer) => {
        sink.enqueue(chunk);
        if ((sink.desiredSize ?? 0) <= 0) message.pause();
      });
      message.on('end', () => sink.close());
      message.on('error', (error) => sink.error(error));
    },
    pull() {
      message.resume();
    },
    cancel() {
      message.removeAllListeners('data').removeAllListeners('end').destroy();
    },
  });
}
