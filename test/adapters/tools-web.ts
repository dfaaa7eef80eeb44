// What the suites of `fetch` share: servers on this machine that count, and a resolver that never asks anyone.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FetchOptions, Resolved } from '../../src/adapters/tools/fetch-target.ts';
import { bench, type Bench } from './tools-workbench.ts';

export interface Site extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly connections: () => number;
}

/** Listens on every address of this machine, or on one. Dispose of it. */
export async function site(answer: RequestListener, host?: string): Promise<Site> {
  let connections = 0;
  const server = createServer(answer);
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Knows these names alone. */
export function names(known: Readonly<Record<string, readonly string[]>>): FetchOptions['resolve'] {
  return async (name) => {
    const found = known[name];
    if (found === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    return found.map((address): Resolved => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}

/** A workspace whose `fetch` reaches `site.com` on this machine, by name. */
export function surfing(options: Partial<FetchOptions> = {}): Promise<Bench> {
  const resolve = names({ 'site.com': ['127.0.0.1'] });
  return bench({ fetch: { allow: ['site.com'], resolve, ...options } });
}
