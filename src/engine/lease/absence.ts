import { mayHold, type HostRecord } from '../../core/lease/record.ts';
import type { Absence } from '../../core/task/wait.ts';
import type { HostId } from '../../kernel/ids.ts';
import { SECOND, type Instant, type Millis } from '../../kernel/time.ts';
import type { EngineParts } from '../engine.ts';
import { HOSTS_MAX } from './host.ts';

/** What a host that starts finds out about the time before it. */
export interface Before {
  readonly absence: Absence;
  /** The newest instant that the store is known to hold; null for a new one. */
  readonly lastCommit: Instant | null;
}

// On a shared store instants are the store's own: its clock and ours may stand this far apart (L-4).
const CLOCKS_APART_MS = 2 * SECOND;

/**
 * Reads when no host ran before this one, and up to when something was committed. The former host's row
 * says whether it stopped cleanly; where another host lives there was no such time.
 */
export async function readBefore(parts: EngineParts, hostId: HostId): Promise<Before> {
  const { store, options } = parts;
  const hosts = await store.query('host.list', { limit: HOSTS_MAX });
  const others = hosts.filter(({ id }) => id !== hostId);
  const own = hosts.find(({ id }) => id === hostId);
  const turn = await store.query('turn.newest', {});
  const apart = store.traits.exclusive ? 0 : CLOCKS_APART_MS;
  const startedAt = own?.startedAt ?? parts.clock.now();
  const known = [
    ...others.flatMap((host) => instantsOf(host, { leaseMs: options.leaseMs, startedAt })),
    ...(turn === undefined ? [] : [turn.startedAt, turn.endedAt ?? turn.startedAt]),
  ];
  return {
    // What was committed under a clock that was set back since stood there before this start all the same.
    absence: isAnyAlive(parts, others, startedAt)
      ? null
      : absenceOf(formerOf(parts, others), { startedAt, until: startedAfter(startedAt, known) }),
    lastCommit: known.length === 0 ? null : Math.max(...known) - apart,
  };
}

/** This host's start, or under a clock that was set back since an instant after all that was there before it. */
function startedAfter(startedAt: Instant, known: readonly Instant[]): Instant {
  const last = Math.max(startedAt, ...known);
  return last > startedAt ? last + 1 : startedAt;
}

/** The lock of an exclusive store proves that no other host lives, whatever its row says. */
function isAnyAlive({ store }: EngineParts, others: readonly HostRecord[], at: Instant): boolean {
  return !store.traits.exclusive && others.some((host) => mayHold(host, at));
}

/**
 * The hosts before this one: all that no start has closed, or on a shared store, whose instants are its own,
 * the newest. There a host that slept past its lease may wake, and its row is its own to close.
 */
function formerOf({ store }: EngineParts, others: readonly HostRecord[]): readonly HostRecord[] {
  return store.traits.exclusive ? others : others.slice(0, 1);
}

/** Since the last stop; one host whose unclean end this start has found makes the beginning unknown. */
function absenceOf(
  others: readonly HostRecord[],
  { startedAt, until }: { readonly startedAt: Instant; readonly until: Instant },
): Absence {
  if (others.length === 0) return null;
  const known = others.flatMap((host) => stopBefore(host, startedAt) ?? []);
  return { until, from: known.length === others.length ? Math.max(...known) : null };
}

/** When a host stopped, as far as it was known before this start. */
function stopBefore({ stoppedAt, end }: HostRecord, startedAt: Instant): Instant | null {
  return end === 'lost' && stoppedAt === startedAt ? null : stoppedAt;
}

/** When the store is known to have been written by this host, or by whoever found its end. */
function instantsOf(
  host: HostRecord,
  { leaseMs, startedAt }: { readonly leaseMs: Millis; readonly startedAt: Instant },
): readonly Instant[] {
  const stoppedAt = stopBefore(host, startedAt) ?? host.startedAt;
  return [host.startedAt, stoppedAt, host.aliveUntil - leaseMs];
}
