import { LIMITS } from './limits.ts';
import { DAY, HOUR, MINUTE, readInstant, SECOND, type Instant, type Millis } from './time.ts';

/** The letters of a duration, the shortest first. */
export const DURATION_UNITS: Readonly<Record<string, Millis>> = {
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
};

/** Reads `90s`, `30m`, `12h`, `7d`, up to `LIMITS.durationMaxMs`; undefined for anything else. */
export function readDuration(text: string): Millis | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (DURATION_UNITS[unit ?? ''] ?? NaN);
  return ms > 0 && ms <= LIMITS.durationMaxMs ? ms : undefined;
}

/** How a deadline is moved: by an addition to the old one, or to an instant (W-7). */
export type Deadline = { readonly addMs: Millis } | { readonly at: Instant };

/** Reads `+90m`, `+12h`, `+2d`, or an ISO instant with its zone; undefined for anything else. */
export function readDeadline(text: string): Deadline | undefined {
  if (text.startsWith('+')) {
    const addMs = readDuration(text.slice(1).toLowerCase());
    return addMs === undefined ? undefined : { addMs };
  }
  const at = readInstant(text);
  return at === undefined ? undefined : { at };
}
