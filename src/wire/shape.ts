import { z } from 'zod';

/** An id of the surface: its prefix and 16 characters of Crockford base32. */
export function idShape(prefix: string): z.ZodString {
  return z.string().regex(new RegExp(`^${prefix}[0-9A-HJKMNP-TV-Z]{16}$`));
}

/** ISO 8601, UTC, with milliseconds. */
export const InstantShape = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Said of every text that is kept: no store holds these characters. */
export const KEPT_TEXT = 'kept as it is, but U+0000 and half a surrogate pair, which become U+FFFD';

/** Every list: newest first; `nextCursor` is null at its end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export function pageShape<T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodArray<T>; nextCursor: z.ZodNullable<z.ZodString> }> {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** The query of every list. Its values are text; the door turns `limit` into a number. */
export const PAGE_QUERY = {
  cursor: z.string().optional().describe('`nextCursor` of the page before'),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .optional()
    .describe('1 to 200, 50 without it'),
} as const;

/** A body without fields: unknown ones are refused like everywhere. */
export const NothingBody = z.strictObject({});
