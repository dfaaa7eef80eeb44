import { Connection, demand } from './connection.ts';
import { inFolder, median, quantile, round, usedBy, type Figures } from './measure.ts';
import { withHost, type HostProcess } from './process.ts';

const CONNECTIONS = 64;
const WARM_UP = 50;
const MESSAGES = 400;

/**
 * messages over 64 connections, each into its own conversation and each acknowledged after its
 * fsync before the next is sent. The model holds its one turn, so that the host does nothing else.
 */
export async function benchIntake(): Promise<Figures> {
  return inFolder((folder) =>
    withHost(folder, { model: 'hold', concurrent: 1 }, async (host) => {
      const senders = await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, n) => openSender(host, n)),
      );
      await Promise.all(senders.map((sender) => sender.send(WARM_UP)));
      const before = usedBy(host.pid);
      const began = performance.now();
      const times = (await Promise.all(senders.map((sender) => sender.send(MESSAGES)))).flat();
      const seconds = (performance.now() - began) / 1000;
      const after = usedBy(host.pid);
      for (const sender of senders) sender.close();
      const messagesPerSecond = round(times.length / seconds);
      const p99Ms = round(quantile(times, 0.99), 1);
      return {
        met: messagesPerSecond >= 4_000 && p99Ms <= 60,
        messagesPerSecond,
        p50Ms: round(median(times), 1),
        p99Ms,
        cpuMs: round((after.cpuMs - before.cpuMs) / times.length, 3),
      };
    }),
  );
}

async function openSender(
  host: HostProcess,
  number: number,
): Promise<{ send(count: number): Promise<number[]>; close(): void }> {
  const connection = await Connection.open(host);
  const { id } = await demand(connection, {
    path: '/v1/conversations',
    body: { address: `sender${number}` },
    status: 201,
  });
  const path = `/v1/conversations/${String(id)}/messages`;
  return {
    async send(count) {
      const times: number[] = [];
      for (let sent = 0; sent < count; sent += 1) {
        const began = performance.now();
        await demand(connection, { path, body: { text: 'hello' }, status: 202 });
        times.push(performance.now() - began);
      }
      return times;
    },
    close: () => connection.close(),
  };
}
