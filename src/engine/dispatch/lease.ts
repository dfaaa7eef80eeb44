import { retryWorker } from '../../core/dispatch/decide.ts';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import { mayHold } from '../../core/lease/record.ts';
import type { ExecutionId, HostId } from '../../kernel/ids.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';

const BATCH = 1_000;

/**
 * Takes up the workers that say `running` though no living host runs them: they are `retrying`, whoever
 * wrote the record. An exclusive store's lock proves that every other host is dead; on a shared one
 * each host's own lease says it, so that a look at every tick finds those that end later. Held workers are
 * left as they are. Gives how many were taken up.
 */
export async function closeLost(
  parts: Pick<EngineParts, 'store' | 'clock' | 'log'>,
  hostId: HostId,
): Promise<number> {
  const args = { except: hostId, limit: BATCH };
  for (let taken = 0; ;) {
    const running = await parts.store.query('execution.runningElsewhere', args);
    let count = 0;
    for (const worker of running) count += await settle(parts, () => retryUnit(parts, worker));
    taken += count;
    // What is left has a living host.
    if (count === 0 || running.length < BATCH) return taken;
  }
}

type RetryReads = {
  readonly worker: Read<'execution.byId'>;
  readonly host?: Read<'host.byId'>;
};

/** Gives 1 for a worker that was taken up, 0 for one that its host still runs or that goes on already. */
function retryUnit(
  { store }: Pick<EngineParts, 'store'>,
  found: Pick<ExecutionRecord, 'id' | 'hostId'>,
): Unit<RetryReads, 0 | 1> {
  const { id, hostId } = found;
  const isShared = !store.traits.exclusive;
  return {
    name: 'worker.retry',
    reads: {
      worker: { read: 'execution.byId', args: { id } },
      ...(isShared && hostId !== null ? { host: { read: 'host.byId', args: { id: hostId } } } : {}),
    },
    decide: ({ worker, host }, { now }) => {
      const isSame = isRunningOf(worker, { id, hostId });
      if (!isSame || (isShared && mayHold(host, now))) return { verdict: 0, writes: [] };
      return { verdict: 1, writes: [{ write: 'execution.save', row: retryWorker(worker, now) }] };
    },
  };
}

function isRunningOf(
  worker: ExecutionRecord | undefined,
  found: { readonly id: ExecutionId; readonly hostId: HostId | null },
): worker is ExecutionRecord {
  return worker?.state === 'running' && worker.hostId === found.hostId;
}
