import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { HostRecord } from '../lease/record.ts';
import type { StormRecord } from './record.ts';

/** A start of a host, and what it can know of the storms before it. */
export interface StartSeen {
  readonly startedAt: Instant;
  /** When it is judged: a host may sleep between its start and that. */
  readonly now: Instant;
  /** Hosts that were found lost within the window before it, by this start or another. */
  readonly lost: readonly HostRecord[];
  /** The newest storm, ended or not. */
  readonly last: StormRecord | undefined;
}

/**
 * `none`: no storm. `begin`: this start is one too many. `again`: the open storm goes on and its calm is
 * counted from this start. `on`: it goes on. `over`: its calm has passed.
 */
export type StormVerdict =
  | { readonly kind: 'none' | 'again' | 'on' | 'over' }
  | { readonly kind: 'begin'; readonly starts: number };

/** When an open storm ends by itself: after this long without an unclean end. */
export function stormEndsAt({ lastAt }: Pick<StormRecord, 'lastAt'>): Instant {
  return lastAt + LIMITS.stormCalmMs;
}

/**
 * Judges a start. It is unclean when it found a lost host, however many it found: several that died
 * with their machine are one. Whoever was found before the last storm's end counts for no other.
 */
export function judgeStart(seen: StartSeen): StormVerdict {
  const { startedAt, last } = seen;
  const isUnclean = seen.lost.some(({ stoppedAt }) => stoppedAt === startedAt);
  if (last !== undefined && last.endedAt === null) {
    // Under a clock that was set back the calm would not pass for as long as it was set back.
    if (isUnclean || last.lastAt > startedAt) return { kind: 'again' };
    return { kind: startedAt >= stormEndsAt(last) ? 'over' : 'on' };
  }
  const starts = isUnclean ? countUncleanStarts(seen) : 0;
  return starts >= LIMITS.stormStarts ? { kind: 'begin', starts } : { kind: 'none' };
}

/** From where on `judgeStart` needs to know of lost hosts: found after this instant. */
export function stormWindowSince(startedAt: Instant): Instant {
  return startedAt - LIMITS.stormWindowMs - 1;
}

function countUncleanStarts({ startedAt, now, lost, last }: StartSeen): number {
  const since = stormWindowSince(startedAt);
  const ended = last?.endedAt ?? null;
  // An end that lies ahead was written under another clock.
  const after = ended === null || ended > now ? since : Math.max(since, ended);
  const found = lost
    .map(({ stoppedAt }) => stoppedAt)
    .filter((at) => at !== null && at > after && at <= startedAt);
  return new Set(found).size;
}
