import { DAY as DAY_MS, HOUR, MINUTE, SECOND, type Instant, type Millis } from '../kernel/time.ts';
import type { Catalogue } from './catalogue.ts';
import type { Reader } from './reader.ts';

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { weekday: 'short', day: 'numeric', month: 'short' } as const;

/**
 * An instant as its reader's clock shows it: `14:02` on the day of `now`, else `Fri 14 Nov, 14:02`,
 * with the year when that differs, and with the zone's name when the reader's zone is not the host's.
 */
export function sayInstant(reader: Reader, tag: string, instant: Instant, now: Instant): string {
  return format(reader, tag, { ...CLOCK, ...dayOf(reader, instant, now) }, instant);
}

/** The same with its preposition: `at 14:02`, `on Fri 14 Nov, 14:02`. */
export function sayWhen(
  reader: Reader,
  words: Pick<Catalogue, 'tag' | 'atTime' | 'onDay'>,
  instant: Instant,
  now: Instant,
): string {
  const said = sayInstant(reader, words.tag, instant, now);
  return isSameDay(reader, instant, now) ? words.atTime(said) : words.onDay(said);
}

/** Within brackets: `18:00` on the day of `now`, `Fri 18:00` in the days before it comes again, else as above. */
export function sayDay(reader: Reader, tag: string, instant: Instant, now: Instant): string {
  const isNear = instant > now && instant - now < NEAR_MS;
  if (!isNear || isSameDay(reader, instant, now)) return sayInstant(reader, tag, instant, now);
  const { timeZone } = reader;
  const weekday = new Intl.DateTimeFormat(tag, { weekday: 'short', timeZone }).format(instant);
  return `${weekday} ${format(reader, tag, CLOCK, instant)}`;
}

/** Until then no weekday comes twice. */
const NEAR_MS = 6 * DAY_MS;

/** With seconds, for events that follow each other closely. */
export function saySecond(reader: Reader, tag: string, instant: Instant, now: Instant): string {
  const parts = { ...CLOCK, second: '2-digit', ...dayOf(reader, instant, now) } as const;
  return format(reader, tag, parts, instant);
}

/** The same with its preposition: `at 14:02:40`, `on Sat 15 Nov, 14:02:40`. */
export function sayWhenSecond(
  reader: Reader,
  words: Pick<Catalogue, 'tag' | 'atTime' | 'onDay'>,
  instant: Instant,
  now: Instant,
): string {
  const said = saySecond(reader, words.tag, instant, now);
  return isSameDay(reader, instant, now) ? words.atTime(said) : words.onDay(said);
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;

/** A length of time by its two largest units: `3 hours, 20 minutes`; less than a second is none. */
export function sayLength(tag: string, length: Millis): string {
  const whole = Math.floor(Math.abs(length) / SECOND) * SECOND;
  const first = UNITS.findIndex(([, size]) => whole >= size);
  const units = first < 0 ? UNITS.slice(-1) : UNITS.slice(first, first + 2);
  let rest = whole;
  const said = units.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    const text = new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' });
    return { count, text: text.format(count) };
  });
  const [largest, ...others] = said;
  const worth = [largest, ...others.filter(({ count }) => count > 0)].filter(
    (part) => part !== undefined,
  );
  return new Intl.ListFormat(tag, { type: 'unit' }).format(worth.map(({ text }) => text));
}

function format(
  { timeZone, hostTimeZone }: Reader,
  tag: string,
  parts: Intl.DateTimeFormatOptions,
  instant: Instant,
): string {
  const isAway = hostTimeZone !== undefined && hostTimeZone !== timeZone;
  const zone = isAway ? ({ timeZoneName: 'short' } as const) : {};
  return new Intl.DateTimeFormat(tag, { ...parts, ...zone, timeZone }).format(instant);
}

function dayOf(reader: Reader, instant: Instant, now: Instant): Intl.DateTimeFormatOptions {
  if (isSameDay(reader, instant, now)) return {};
  const [year, thisYear] = [instant, now].map((at) =>
    new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: reader.timeZone }).format(at),
  );
  return year === thisYear ? DAY : { ...DAY, year: 'numeric' };
}

function isSameDay({ timeZone }: Reader, one: Instant, other: Instant): boolean {
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'short', timeZone });
  return day.format(one) === day.format(other);
}
