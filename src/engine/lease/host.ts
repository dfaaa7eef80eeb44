import type { HostId } from '../../kernel/ids.ts';
import type { Read, Unit, Write } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';

/** Writes this host's row: from here its claims can be alive. */
export async function commitHostStart(parts: EngineParts, id: HostId): Promise<void> {
  const { pid, leaseMs } = parts.options;
  await settle(parts, () =>
    hostUnit('lease.start', id, (known, now) =>
      known
        ? []
        : [
            {
              write: 'host.insert',
              row: { id, pid, startedAt: now, aliveUntil: now + leaseMs, stoppedAt: null },
            },
          ],
    ),
  );
}

/** Renews this host's row unless it was stopped. */
export async function commitHostRenewal(parts: EngineParts, id: HostId): Promise<void> {
  const { leaseMs } = parts.options;
  await settle(parts, () =>
    hostUnit('lease.renew', id, (known, now) =>
      known ? [{ write: 'host.renew', id, aliveUntil: now + leaseMs }] : [],
    ),
  );
}

/** Gives the claims of this host up at once. */
export async function commitHostStop(parts: EngineParts, id: HostId): Promise<void> {
  await settle(parts, () =>
    hostUnit('lease.stop', id, (known, now) =>
      known ? [{ write: 'host.stop', id, stoppedAt: now }] : [],
    ),
  );
}

function hostUnit(
  name: string,
  id: HostId,
  writes: (known: boolean, now: number) => readonly Write[],
): Unit<{ readonly host: Read<'host.byId'> }, void> {
  return {
    name,
    reads: { host: { read: 'host.byId', args: { id } } },
    decide: ({ host }, { now }) => ({
      verdict: undefined,
      writes: writes(host !== undefined && host.stoppedAt === null, now),
    }),
  };
}
