import { LIMITS } from '../../kernel/limits.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { LimiterRecord } from './record.ts';

/** What a call meets that wants to go out now. `wait`: it is looked at again at `until` at the latest. */
export type Admission =
  | { readonly kind: 'go' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'quota'; readonly until: Instant; readonly code: string }
  | { readonly kind: 'down' | 'refused'; readonly code: string };

/** What a call that failed says of its account. */
export interface AccountFault {
  readonly class: 'refused' | 'transient' | 'aborted' | 'nonsense';
  readonly code: string;
  /** The instant that the provider named, if it did. */
  readonly retryAt: Instant | null;
  readonly scope?: 'account' | 'model' | 'request';
}

/** When something was heard of an account, and whether by the call that had its one turn. */
export interface Heard {
  readonly now: Instant;
  readonly isProbe: boolean;
}

/** From this many failures in a row on an account counts as unreachable: one step's tries (T-18). */
const FAILURES_MAX = 1 + LIMITS.modelRetriesMax;

/** The limiter of an account of which nothing is known. */
export function openLimiter(account: string, now: Instant): LimiterRecord {
  return {
    account,
    state: 'open',
    until: null,
    isNamed: 'no',
    failures: 0,
    code: null,
    probeUntil: null,
    version: 0,
    since: now,
  };
}

/** Whether a call may go out: while the account is limited one at a time, to find out (T-18). */
export function admit(row: LimiterRecord, now: Instant): Admission {
  const code = row.code ?? 'unknown';
  if (row.state === 'open') return { kind: 'go' };
  if (row.state === 'down') return { kind: 'down', code };
  const until = untilOf(row, now);
  if (until > now) {
    if (row.state === 'refused') return { kind: 'refused', code };
    return isFar(row, now) ? { kind: 'quota', until, code } : { kind: 'wait', until };
  }
  const isOut = isProbeOut(row, now);
  return isOut ? { kind: 'wait', until: row.probeUntil } : { kind: 'probe' };
}

/**
 * The turn of one call, committed before it goes out. It counts as a failure in advance, with the pause
 * after it: a crash during the call spends it (design principle 2). Others wait for its outcome.
 */
export function reserveProbe(row: LimiterRecord, now: Instant): LimiterRecord {
  const failures = row.failures + 1;
  return {
    ...enter(row, 'limited', now),
    until: now + pauseAfter(failures),
    isNamed: 'no',
    failures,
    probeUntil: now + LIMITS.modelCallMs,
  };
}

/** The limiter after a call failed; the same row when that says nothing of the account. */
export function afterFault(row: LimiterRecord, fault: AccountFault, heard: Heard): LimiterRecord {
  if (fault.class === 'refused') return afterRefusal(row, fault, heard);
  if (fault.class !== 'transient') return afterRelease(row, heard);
  const { now, isProbe } = heard;
  const { code, retryAt } = fault;
  const news: News = { now, named: retryAt !== null && retryAt > now ? retryAt : null, code };
  if (row.state === 'open') return limit({ ...row, failures: 1 }, news);
  return isProbe && row.state === 'limited' ? limit(row, news) : afterLate(row, news);
}

/** The limiter after an answer: what had the turn opens the account; an unreachable one is reached by any. */
export function afterSuccess(row: LimiterRecord, { now, isProbe }: Heard): LimiterRecord {
  if (row.state === 'open') return row;
  const isNewer = row.state === 'refused' || (row.isNamed === 'yes' && untilOf(row, now) > now);
  const opens = row.state === 'down' || (isProbe && !isNewer);
  if (opens) return { ...openLimiter(row.account, now), version: row.version };
  return isProbe && row.probeUntil !== null ? { ...row, probeUntil: null } : row;
}

/** The limiter after a call that had the turn found nothing out: the next in line has it at once. */
export function afterRelease(row: LimiterRecord, { now, isProbe }: Heard): LimiterRecord {
  if (!isProbe || row.state !== 'limited' || row.probeUntil === null) return row;
  if (row.isNamed === 'yes') return { ...row, probeUntil: null };
  return { ...row, until: now, failures: Math.max(row.failures - 1, 0), probeUntil: null };
}

/** The limiter after a step used its tries up: unreachable until a cheap probe finds it (T-18, R-15). */
export function afterTries(row: LimiterRecord, code: string, now: Instant): LimiterRecord {
  if (row.state === 'down' || row.state === 'refused' || isFar(row, now)) return row;
  const named = row.isNamed === 'yes' ? row.until : null;
  return sink(row, { now, named, code });
}

/** When the next cheap probe of an unreachable account is due; null for any other. */
export function cheapProbeAt(row: LimiterRecord, now: Instant): Instant | null {
  if (row.state !== 'down') return null;
  const until = untilOf(row, now);
  return isProbeOut(row, now, LIMITS.probeCallMs) ? Math.max(until, row.probeUntil) : until;
}

/** A cheap probe, committed before it is made: it comes to nothing unless `afterSign` says otherwise. */
export function reserveCheapProbe(row: LimiterRecord, now: Instant): LimiterRecord {
  const failures = row.failures + 1;
  return {
    ...row,
    failures,
    until: now + pauseBetweenProbes(failures),
    probeUntil: now + LIMITS.probeCallMs,
  };
}

/** The limiter after a sign of life: half open, the next real call finds out. */
export function afterSign(row: LimiterRecord, now: Instant): LimiterRecord {
  if (row.state !== 'down') return row;
  return { ...enter(row, 'limited', now), until: now, isNamed: 'no', probeUntil: null };
}

/** How many of the tasks that wait for the provider may go on: one while a call has to find out. */
export function mayReturn(row: LimiterRecord, now: Instant): 'all' | 'one' | 'none' {
  switch (admit(row, now).kind) {
    case 'go':
    // They learn of the refusal without a call, and say so.
    case 'refused':
      return 'all';
    case 'probe':
      return 'one';
    case 'wait':
    case 'quota':
    case 'down':
      return 'none';
  }
}

/** When what this limiter says changes by itself; null when it does not. */
export function turnsAt(row: LimiterRecord, now: Instant): Instant | null {
  if (row.state === 'down') return cheapProbeAt(row, now);
  const until = untilOf(row, now);
  return row.state === 'open' || until <= now ? null : until;
}

function afterRefusal(row: LimiterRecord, fault: AccountFault, heard: Heard): LimiterRecord {
  if (fault.scope !== 'account') return afterRelease(row, heard);
  return {
    ...enter(row, 'refused', heard.now),
    until: heard.now + LIMITS.refusedCoolMs,
    isNamed: 'no',
    code: fault.code,
    probeUntil: null,
  };
}

interface News {
  readonly now: Instant;
  readonly named: Instant | null;
  readonly code: string;
}

/** Limited for as long as was named, else for the pause after so many failures; after too many unreachable. */
function limit(row: LimiterRecord, news: News): LimiterRecord {
  const { now, named, code } = news;
  const isQuota = named !== null && named - now > LIMITS.quotaParkMs;
  if (row.failures >= FAILURES_MAX && !isQuota) return sink(row, news);
  return {
    ...enter(row, 'limited', now),
    until: named ?? now + pauseAfter(row.failures),
    isNamed: named === null ? 'no' : 'yes',
    code,
    probeUntil: null,
  };
}

/** A call that went out before the account was limited adds no failure: only a later named instant is news. */
function afterLate(row: LimiterRecord, { now, named, code }: News): LimiterRecord {
  if (named === null || row.state === 'refused' || named <= untilOf(row, now)) return row;
  if (row.state === 'down' && named - now <= LIMITS.quotaParkMs) return row;
  return { ...enter(row, 'limited', now), until: named, isNamed: 'yes', code };
}

function sink(row: LimiterRecord, { now, named, code }: News): LimiterRecord {
  const failures = Math.max(row.failures, FAILURES_MAX);
  const until = Math.max(now + pauseBetweenProbes(failures), named ?? now);
  return { ...enter(row, 'down', now), until, isNamed: 'no', failures, code, probeUntil: null };
}

function enter(row: LimiterRecord, state: LimiterRecord['state'], now: Instant): LimiterRecord {
  return row.state === state ? row : { ...row, state, since: now };
}

const FARTHEST = {
  open: 0,
  limited: LIMITS.modelRetryMaxMs,
  down: LIMITS.probeMaxMs,
  refused: LIMITS.refusedCoolMs,
} as const;

/** An instant of our own that is farther away than we ever set one is void: the wall clock was set back. */
function untilOf(row: LimiterRecord, now: Instant): Instant {
  const until = row.until ?? now;
  const isVoid = row.isNamed === 'no' && until - now > FARTHEST[row.state];
  return isVoid ? now : until;
}

function isFar(row: LimiterRecord, now: Instant): boolean {
  return row.isNamed === 'yes' && untilOf(row, now) - now > LIMITS.quotaParkMs;
}

function isProbeOut(
  row: LimiterRecord,
  now: Instant,
  longest: Millis = LIMITS.modelCallMs,
): row is LimiterRecord & { readonly probeUntil: Instant } {
  const { probeUntil } = row;
  return probeUntil !== null && probeUntil > now && probeUntil - now <= longest;
}

function pauseAfter(failures: number): Millis {
  return doubled(LIMITS.modelRetryFirstMs, failures - 1, LIMITS.modelRetryMaxMs);
}

function pauseBetweenProbes(failures: number): Millis {
  return doubled(LIMITS.probeFirstMs, failures - FAILURES_MAX, LIMITS.probeMaxMs);
}

function doubled(first: Millis, times: number, most: Millis): Millis {
  return Math.min(first * 2 ** Math.max(times, 0), most);
}
