import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** Stands between a client and a PostgreSQL server and cuts the line at a chosen moment. */
export interface CuttingProxy {
  /** The server's address, through the proxy. */
  readonly url: string;
  /** Cuts at the next statement that contains `text`: before the server gets it, or after it answered. */
  cutAt(text: string, when: 'before' | 'after'): void;
  /** How often it has cut. */
  readonly cuts: () => number;
  close(): Promise<void>;
}

export async function cuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const target = new URL(serverUrl);
  let plan: { text: string; when: 'before' | 'after' } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let isCutting = false;
    const cut = (): void => {
      cuts += 1;
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (chunk) => {
      if (plan !== undefined && chunk.includes(plan.text)) {
        const { when } = plan;
        plan = undefined;
        if (when === 'before') return cut();
        isCutting = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => (isCutting ? cut() : client.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutAt: (text, when) => void (plan = { text, when }),
    cuts: () => cuts,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
