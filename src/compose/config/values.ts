import { z } from 'zod';
import { SCOPES } from '../../http/keys.ts';
import { DURATION_UNITS, readDuration } from '../../kernel/deadline.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { DAY, SECOND, type Millis } from '../../kernel/time.ts';

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

/** The shortest way to write a duration; none is `off`. */
export function writeDuration(ms: Millis): string {
  const unit = Object.entries(DURATION_UNITS).findLast(([, length]) => ms % length === 0);
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
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
});

export const apiKey = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  scopes: z.array(z.enum(SCOPES)).min(1),
  secret: secretSource,
});
export type ApiKeyConfig = z.output<typeof apiKey>;

/** In tokens, of a model that says none. */
export const CONTEXT_WINDOW = 128_000;

export const SECRET_VALUES = '{ env: NAME } or { file: PATH }, never the secret itself';
export const MODEL_VALUES = `{ provider, baseURL, name, apiKey: ${SECRET_VALUES}, contextWindow, timeoutSeconds, price: { input, output } }`;

const TIMEOUT_SECONDS_MAX = DAY / SECOND;
const RATE_MAX = 1_000_000;

export const modelName = z.string().min(1).max(200);
export const contextWindow = z.int().min(1000).max(100_000_000);
export const timeoutSeconds = z.int().min(1).max(TIMEOUT_SECONDS_MAX);
/** US dollars for a million tokens. */
const rate = z.number().min(0).max(RATE_MAX);

/** A model beside the first one. Without a provider it is another model of the first one's. */
export const otherModel = z.strictObject({
  provider: z.string().min(1).optional(),
  baseURL: httpUrl.optional(),
  name: modelName.optional(),
  apiKey: secretSource.optional(),
  contextWindow: contextWindow.default(CONTEXT_WINDOW),
  timeoutSeconds: timeoutSeconds.default(LIMITS.modelFirstTokenMs / SECOND),
  price: z.strictObject({ input: rate, output: rate }).optional(),
});

export type OtherModel = z.output<typeof otherModel>;

export const agentName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u);

/** One of several agents. What it does not say is as for the only one. */
export const anAgent = z.strictObject({
  name: agentName,
  instructions: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  model: otherModel.extend({ fallbacks: z.array(otherModel).optional() }).optional(),
  memory: z.unknown().refine(saysOff).optional(),
});

/** A command's first words: as a list, or as they would be typed. */
export const words = z.union([
  z.array(z.string().min(1)).min(1),
  z
    .string()
    .regex(/\S/)
    .transform((text) => text.trim().split(/\s+/)),
]);

/**
 * Says that a feature is not wanted: nothing, `off`, `false`, empty, or a map whose every entry says
 * so by itself. An entry with nothing behind it is wanted as it comes: `channels: { slack: {} }`.
 */
export function saysOff(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' ? Object.values(value).every(isTurnedOff) : isNo(value);
}

function isTurnedOff(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isNo(value);
  const inner = Object.values(value);
  return inner.length > 0 && inner.every(isTurnedOff);
}

function isNo(value: unknown): boolean {
  return value === false || value === '' || value === 'off';
}
