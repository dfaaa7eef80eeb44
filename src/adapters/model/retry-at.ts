import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { HOUR, MINUTE, SECOND, type Instant, type Millis } from '../../kernel/time.ts';

/** Where a provider may say when it can be used again. */
export interface LimitSaid {
  readonly header: (name: string) => string | null;
  /** The error object of the body. */
  readonly fields: JsonObject | undefined;
}

/**
 * The instant that a provider named for its limit; null when it named none, one that is over, or one
 * that nobody can mean. `now` is what seconds count from.
 */
export function retryAtOf(said: LimitSaid, now: Instant): Instant | null {
  const { header, fields } = said;
  const named = [
    after(millisOf(header('retry-after-ms')), now),
    inFuture(header('retry-after'), now),
    ...fieldInstants(fields, now),
  ];
  return named.find((at) => isMeant(at, now)) ?? resetInstant(header, now);
}

/** The names of limits, between `reset` and `remaining` and at their end. */
const RESETS: readonly (readonly [reset: string, remaining: string])[] = [
  ...['', '-requests', '-tokens', '-requests-minute', '-tokens-minute', '-requests-day'].map(
    (of) => [`x-ratelimit-reset${of}`, `x-ratelimit-remaining${of}`] as const,
  ),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens', 'unified'].map(
    (of) => [`anthropic-ratelimit-${of}-reset`, `anthropic-ratelimit-${of}-remaining`] as const,
  ),
];

/**
 * Several limits are told at once. Those that are used up must all be over; when none says that it is,
 * the first that ends may be the one.
 */
function resetInstant(header: LimitSaid['header'], now: Instant): Instant | null {
  const told = RESETS.map(([reset, remaining]) => ({
    at: inFuture(header(reset), now),
    isUsedUp: Number(header(remaining) ?? Number.NaN) <= 0,
  }));
  const meant = told.filter((limit): limit is Told => isMeant(limit.at, now));
  const usedUp = meant.filter(({ isUsedUp }) => isUsedUp).map(({ at }) => at);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return meant.length > 0 ? Math.min(...meant.map(({ at }) => at)) : null;
}

interface Told {
  readonly at: Instant;
  readonly isUsedUp: boolean;
}

const INSTANT_FIELDS = ['resets_at', 'reset_at', 'retry_at'];
const SECONDS_FIELDS = [
  'retry_after',
  'retry_after_seconds',
  'resets_in_seconds',
  'reset_after_seconds',
];

function fieldInstants(fields: JsonObject | undefined, now: Instant): (Instant | null)[] {
  if (fields === undefined) return [];
  return placesIn(fields).flatMap((place) => [
    after(millisOf(place['retry_after_ms']), now),
    ...SECONDS_FIELDS.map((name) => inFuture(place[name], now)),
    ...INSTANT_FIELDS.map((name) => inFuture(place[name], now)),
    inFuture(place['retrydelay'], now),
    inFuture(place['retry-after'], now),
    inFuture(place['x-ratelimit-reset'], now),
  ]);
}

/** The error, its `metadata`, the headers that this repeats, and its `details`; all with small names. */
function placesIn(fields: JsonObject): readonly JsonObject[] {
  const { metadata, details } = fields;
  const repeated = isObject(metadata) ? metadata['headers'] : undefined;
  const inner: readonly (Json | undefined)[] = Array.isArray(details) ? details : [details];
  return [fields, metadata, repeated, ...inner].filter((place) => isObject(place)).map(smallNames);
}

function smallNames(place: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(place).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** Seconds from now, a duration as in `6m0s`, a date, or seconds or milliseconds since 1970. */
function inFuture(value: Json | undefined, now: Instant): Instant | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isFinite(number))
    return number < EPOCH_SECONDS ? now + number * SECOND : epoch(number);
  return after(durationOf(String(value)), now) ?? dateOf(String(value));
}

/** Nobody waits for thirty years: a number from here on is an instant. */
const EPOCH_SECONDS = 1_000_000_000;
const EPOCH_MILLIS = 1_000_000_000_000;

function epoch(number: number): Instant {
  return number < EPOCH_MILLIS ? number * SECOND : number;
}

const UNITS: Readonly<Record<string, Millis>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR };
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)){1,4}$/;

function durationOf(text: string): Millis | null {
  if (!DURATION.test(text)) return null;
  const parts = text.matchAll(/([\d.]+)(ms|s|m|h)/g);
  return [...parts].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0),
    0,
  );
}

function dateOf(text: string): Instant | null {
  const at = Date.parse(text);
  return Number.isFinite(at) ? at : null;
}

function millisOf(value: Json | undefined): Millis | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function after(wait: Millis | null, now: Instant): Instant | null {
  return wait === null ? null : Math.round(now + wait);
}

function isMeant(at: Instant | null | undefined, now: Instant): at is Instant {
  return typeof at === 'number' && at > now && at - now <= LIMITS.waitInstantMaxMs;
}
