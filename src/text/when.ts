import type { Instant } from '../kernel/time.ts';
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

/** With seconds, for events that follow each other closely. */
export function saySecond(reader: Reader, tag: string, instant: Instant, now: Instant): string {
  const parts = { ...CLOCK, second: '2-digit', ...dayOf(reader, instant, now) } as const;
  return format(reader, tag, parts, instant);
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
