import { z } from 'zod';
import { SCOPES } from '../../http/keys.ts';
import { DAY, HOUR, MINUTE, SECOND, type Millis } from '../../kernel/time.ts';

const UNITS: Readonly<Record<string, Millis>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };
/** Ten years: a longer deadline is a slip. */
const DURATION_MAX: Millis = 3650 * DAY;

/** Where a secret comes from; the configuration never holds one itself (G-1). */
export type SecretSource = { readonly env: string } | { readonly file: string };

export const secretSource = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);

/** `90s`, `30m`, `12h`, `7d` as milliseconds; `off` as null. */
export const duration = z.string().transform((text, context): Millis | null => {
  const ms = text === 'off' ? null : readDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'no duration' });
  return z.NEVER;
});

function readDuration(text: string): Millis | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit ?? ''] ?? NaN);
  return ms > 0 && ms <= DURATION_MAX ? ms : undefined;
}

/** The shortest way to write a duration; none is `off`. */
export function writeDuration(ms: Millis): string {
  const unit = Object.entries(UNITS).findLast(([, length]) => ms % length === 0);
  return ms === 0 || unit === undefined ? 'off' : `${ms / unit[1]}${unit[0]}`;
}

export const timeZone = z.string().refine((name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
});

export const httpUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '';
});

export const apiKey = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  scopes: z.array(z.enum(SCOPES)).min(1),
  secret: secretSource,
});
export type ApiKeyConfig = z.output<typeof apiKey>;

/** Says that a feature is not wanted: nothing, `off`, `false`, empty, or a map of such values. */
export function saysOff(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true;
  if (typeof value === 'string') return value === '' || value === 'off';
  return typeof value === 'object' && Object.values(value).every(saysOff);
}
