import { LIMITS } from './limits.ts';
import { DAY, HOUR, MINUTE, readInstant, SECOND, type Instant, type Millis } from './time.ts';

const UNITS: Readonly<Record<string, Millis>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** How a deadline is moved: by an addition to the old one, or to an instant (W-7). */
export type Deadline = { readonly addMs: Millis } | { readonly at: Instant };

/** Reads `+90m`, `+12h`, `+2d`, or an ISO instant with its zone; undefined for anything else. */
export function readDeadline(text: string): Deadline | undefined {
  const [, count, unit] = /^\+(\d{1,9})([smhd])$/i.exec(text) ?? [];
  if (count !== undefined) {
    const addMs = Number(count) * (UNITS[unit?.toLowerCase() ?? ''] ?? NaN);
    return addMs > 0 && addMs <= LIMITS.durationMaxMs ? { addMs } : undefined;
  }
  const at = readInstant(text);
  return at === undefined ? undefined : { at };
}
