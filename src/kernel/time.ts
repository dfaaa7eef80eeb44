/** Milliseconds since the epoch, UTC. The kernel has no clock: an instant is always given. */
export type Instant = number;
/** A length of time in milliseconds. */
export type Millis = number;

export const SECOND: Millis = 1_000;
export const MINUTE: Millis = 60 * SECOND;
export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3})\d*)?)?(?:(Z)|([+-])(\d{2}):?(\d{2}))$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** An instant written as ISO 8601 with its zone (`Z` or an offset); undefined for anything else. */
export function readInstant(text: string): Instant | undefined {
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const isDay = day >= 1 && day <= daysOf(year, month);
  if (!isDay || hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0'));
  const local =
    daysBefore(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND;
  const offset = part(10) * HOUR + part(11) * MINUTE;
  return local + milliseconds - (match[9] === '-' ? -offset : offset);
}

/** Days of a month; none of a month that there is not. */
function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return (MONTH_DAYS[month - 1] ?? 0) + (month === 2 && isLeap ? 1 : 0);
}

/** Days from the epoch to a day of the Gregorian calendar, of any year from 0 on. */
function daysBefore(year: number, month: number, day: number): number {
  // March begins the year, so that the leap day is its last.
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** An instant as a model reads it: ISO 8601, UTC, in whole seconds. */
export function isoInstant(instant: Instant): string {
  return `${WRITTEN.format(instant).replace(' ', 'T')}Z`;
}

// The one locale whose dates are written so.
const WRITTEN = new Intl.DateTimeFormat('sv-SE', {
  dateStyle: 'short',
  timeStyle: 'medium',
  timeZone: 'UTC',
});
