import { mayHold, type HostRecord } from '../../core/lease/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Read, Unit, Write } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';

/** The hosts that are asked; of a shared store those that live are among the newest. */
export const HOSTS_MAX = 200;

/**
 * Writes this host's row: from here its claims can be alive. The same commit closes the rows of hosts that
 * are gone without a stop: this start, and no later one, has found their unclean end.
 * Which of them was the last is not read off its instants, since a clock may have been set back between them.
 */
export async function commitHostStart(parts: EngineParts, id: HostId): Promise<void> {
  const { pid, leaseMs } = parts.options;
  await settle(parts, () => ({
    name: 'lease.start',
    reads: { ...ownRow(id), hosts: { read: 'host.list', args: { limit: HOSTS_MAX } } as const },
    decide: ({ host, hosts }, { now }) => {
      if (host !== undefined) return { verdict: undefined, writes: [] };
      const row = {
        id,
        pid,
        startedAt: now,
        aliveUntil: now + leaseMs,
        stoppedAt: null,
        end: null,
      };
      const lost = hosts.filter((one) => isLost(parts, one, now));
      return {
        verdict: undefined,
        writes: [
          { write: 'host.insert', row },
          ...lost.map((one) => stopWrite(one.id, now, 'lost')),
        ],
      };
    },
  }));
}

/** The lock of an exclusive store proves that every other host is dead, the lease of a shared one that it may be. */
function isLost({ store }: EngineParts, host: HostRecord, now: Instant): boolean {
  return host.stoppedAt === null && (store.traits.exclusive || !mayHold(host, now));
}

/**
 * Renews this host's row unless it has stopped. One that slept past its lease and was found lost lives
 * again: what it claimed was taken from it by tokens, and its end was none.
 */
export async function commitHostRenewal(parts: EngineParts, id: HostId): Promise<void> {
  const { leaseMs } = parts.options;
  await settle(parts, () =>
    hostUnit('lease.renew', id, (host, now) =>
      host.end === 'clean' ? [] : [{ write: 'host.renew', id, aliveUntil: now + leaseMs }],
    ),
  );
}

/** Renews it again and again; a renewal that fails is told and tried at the next. */
export async function keepRenewing(
  parts: EngineParts,
  id: HostId,
  until: {
    readonly signal: AbortSignal;
    readonly onFault: (error: unknown, where: string) => void;
  },
): Promise<void> {
  const { signal, onFault } = until;
  for (;;) {
    await parts.clock.sleep(parts.options.leaseRenewMs, signal);
    if (signal.aborted) return;
    try {
      await commitHostRenewal(parts, id);
    } catch (error) {
      onFault(error, 'lease');
    }
  }
}

/** Gives the claims of this host up at once. */
export async function commitHostStop(parts: EngineParts, id: HostId): Promise<void> {
  await settle(parts, () =>
    hostUnit('lease.stop', id, (host, now) =>
      host.stoppedAt === null ? [stopWrite(id, now, 'clean')] : [],
    ),
  );
}

function stopWrite(id: HostId, stoppedAt: Instant, end: 'clean' | 'lost'): Write {
  return { write: 'host.stop', id, stoppedAt, end };
}

type OwnRow = { readonly host: Read<'host.byId'> };

function ownRow(id: HostId): OwnRow {
  return { host: { read: 'host.byId', args: { id } } };
}

function hostUnit(
  name: string,
  id: HostId,
  writes: (host: HostRecord, now: Instant) => readonly Write[],
): Unit<OwnRow, void> {
  return {
    name,
    reads: ownRow(id),
    decide: ({ host }, { now }) => ({
      verdict: undefined,
      writes: host === undefined ? [] : writes(host, now),
    }),
  };
}
