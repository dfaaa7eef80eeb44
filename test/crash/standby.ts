// A synchronous standby takes over from a primary that is killed under load; two hosts follow it by themselves.
import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../src/testing/sim-random.ts';
import type { KillTally } from './kill-checks.ts';
import { checkShared } from './postgres-checks.ts';
import { Load } from './postgres-load.ts';
import { Pair } from './postgres-pair.ts';
import { OwnServer, urlAt, withFolder } from './postgres-server.ts';

export interface FailoverTally extends KillTally {
  /** From the end of the promotion to the next thing that was committed and acknowledged. */
  readonly writableMs: number;
  /** From the death of the primary on. */
  readonly outageMs: number;
  /** Acknowledged before the primary died. */
  readonly ackedBefore: number;
  /** Commits whose outcome a host did not learn. */
  readonly unknownCommits: number;
}

export interface FailoverOrder {
  readonly seed: number;
  /** Whether the address leads to the standby before it is promoted: until then it only reads. */
  readonly movesEarly: boolean;
}

/** One failover under load; checks everything. Throws an `AssertionError` at the first breach. */
export async function failOver(order: FailoverOrder): Promise<FailoverTally> {
  return withFolder(async (root) => {
    const template = await OwnServer.make(root, 'template');
    const settings = ['synchronous_standby_names=standby'];
    const primary = await OwnServer.copyOf(template, { root, name: 'primary' }, { settings });
    const follows = primary;
    const standby = await OwnServer.copyOf(template, { root, name: 'standby' }, { follows });
    const address = await movingAddress(primary.port);
    try {
      await primary.start();
      await standby.start();
      return await failOverUnderLoad({ primary, standby, address }, order);
    } finally {
      await address.close();
      await primary.quit();
      await standby.quit();
    }
  });
}

interface Cluster {
  readonly primary: OwnServer;
  readonly standby: OwnServer;
  readonly address: MovingAddress;
}

async function failOverUnderLoad(
  { primary, standby, address }: Cluster,
  { seed, movesEarly }: FailoverOrder,
): Promise<FailoverTally> {
  const random = seededRandom(seed, 'standby');
  const pair = await Pair.start({ storeUrl: urlAt(address.port), random });
  try {
    const load = new Load(pair, random);
    load.begin();
    await load.acknowledged(random.between(3, 10));
    await pause(random.between(500, 3_000));
    await assertSynchronous(primary);
    const died = performance.now();
    await primary.kill();
    const ackedBefore = load.acked.size;
    if (movesEarly) address.moveTo(standby.port);
    // What watches a cluster notices a death late or at once.
    await pause(random.between(0, 1_500));
    await standby.ask('select pg_promote()');
    address.moveTo(standby.port);
    const writableMs = Math.round(await load.writableMs());
    const outageMs = Math.round(performance.now() - died);
    await load.settle();
    await pair.end();
    const { asked, ledger } = pair;
    const witness = { acked: load.acked, asked, ledger, cycles: 1 };
    const tally = await checkShared(standby.url, witness);
    const unknown = ['"code":"unknown"', 'again'] as const;
    const unknownCommits = pair.logged(0, ...unknown) + pair.logged(1, ...unknown);
    return { ...tally, writableMs, outageMs, ackedBefore, unknownCommits };
  } finally {
    await pair.close();
  }
}

/** A failover that was not synchronous would prove nothing. */
async function assertSynchronous(primary: OwnServer): Promise<void> {
  const rows = await primary.ask<{ state: string }>(
    'select sync_state as state from pg_stat_replication',
  );
  assert.deepEqual(rows, [{ state: 'sync' }]);
}

interface MovingAddress {
  readonly port: number;
  /** New connections go there; those that stand are cut unless they went there already. */
  moveTo(port: number): void;
  close(): Promise<void>;
}

/** What a cluster puts before its servers: `pg` connects to one address and knows no list of servers. */
async function movingAddress(first: number): Promise<MovingAddress> {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(port) {
      if (port === target) return;
      target = port;
      cut();
    },
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => resolve());
      }),
  };
}
