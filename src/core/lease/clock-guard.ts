import { LIMITS } from '../../kernel/limits.ts';
import type { Instant, Millis } from '../../kernel/time.ts';

/** The two clocks, read together: the wall's, which people and networks set, and the machine's uptime. */
export interface Clocks {
  readonly wall: Instant;
  readonly uptime: Millis;
}

/** Whether the wall clock is believed, and against what it is measured (design principle 8). */
export interface ClockGuard {
  /** When both were last believed. */
  readonly reference: Clocks;
  readonly distrust: {
    /** By the uptime clock. */
    readonly since: Millis;
    /** For one that stood before the last commit: it is back from there on. Null for one that ran away. */
    readonly floor: Instant | null;
  } | null;
}

/** `distrusted` and `trusted` are told once each, when they come to be. */
export interface Observed {
  readonly guard: ClockGuard;
  readonly news: 'none' | 'distrusted' | 'trusted';
}

/** The guard of a host that starts; `lastCommit` is the newest instant that the store is known to hold. */
export function startGuard(seen: Clocks, lastCommit: Instant | null): Observed {
  if (lastCommit === null || seen.wall >= lastCommit) return trust(seen, 'none');
  const reference = { wall: lastCommit, uptime: seen.uptime };
  const distrust = { since: seen.uptime, floor: lastCommit };
  return { guard: { reference, distrust }, news: 'distrusted' };
}

/**
 * How far the wall clock stands from where the uptime clock says that it should be; positive is ahead.
 * From a wall clock that stood before the last commit it is the way back to there.
 */
export function driftOf({ reference }: ClockGuard, seen: Clocks): Millis {
  return seen.wall - reference.wall - (seen.uptime - reference.uptime);
}

/**
 * Judges the wall clock: not believed once it stands more than `LIMITS.clockDriftMs` away, believed again
 * once it is back, or as it stands after `LIMITS.clockDistrustMs`.
 */
export function observe(guard: ClockGuard, seen: Clocks): Observed {
  const isNear = Math.abs(driftOf(guard, seen)) <= LIMITS.clockDriftMs;
  const { distrust } = guard;
  if (distrust === null) {
    if (isNear) return { guard, news: 'none' };
    return {
      guard: { ...guard, distrust: { since: seen.uptime, floor: null } },
      news: 'distrusted',
    };
  }
  if (seen.uptime - distrust.since >= LIMITS.clockDistrustMs) return trust(seen, 'trusted');
  if (distrust.floor !== null) {
    return seen.wall >= distrust.floor ? trust(seen, 'trusted') : { guard, news: 'none' };
  }
  return isNear
    ? { guard: { ...guard, distrust: null }, news: 'trusted' }
    : { guard, news: 'none' };
}

/** An admin says that the wall clock is right: it is measured from here. */
export function confirmed(seen: Clocks): ClockGuard {
  return trust(seen, 'trusted').guard;
}

/** How long it is still not believed without a confirmation; 0 while it is. */
export function distrustLeft({ distrust }: ClockGuard, seen: Clocks): Millis {
  if (distrust === null) return 0;
  return Math.max(LIMITS.clockDistrustMs - (seen.uptime - distrust.since), 0);
}

function trust(reference: Clocks, news: Observed['news']): Observed {
  return { guard: { reference, distrust: null }, news };
}
