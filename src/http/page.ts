import { ABOVE_ALL_IDS, isId, type IdKind } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Page } from '../wire/shape.ts';
import { problem } from './problems.ts';

export interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

export interface PageAsk {
  /** Items below this id, newest first. */
  readonly before: string;
  readonly limit: number;
}

/** Reads `cursor` and `limit` of a list by id; throws `bad_request`. */
export function askPage(query: PageQuery, kind: IdKind): PageAsk {
  const { cursor } = query;
  if (cursor !== undefined && !isId(kind, cursor)) throw badCursor();
  return { before: cursor ?? ABOVE_ALL_IDS, limit: askLimit(query) };
}

/** 1 to 200, 50 without it; throws `bad_request`. */
export function askLimit({ limit }: PageQuery): number {
  if (limit === undefined) return LIMITS.listLimitDefault;
  const count = Number(limit);
  if (!Number.isInteger(count) || count < 1 || count > LIMITS.listLimitMax) {
    const detail = `limit is a whole number from 1 to ${LIMITS.listLimitMax}.`;
    throw problem('bad_request', { detail });
  }
  return count;
}

export function badCursor(): Error {
  return problem('bad_request', { detail: 'cursor is not the nextCursor of a page of this list.' });
}

/** The page of rows of which one more than asked for was read. */
export function cutPage<R extends { readonly id: string }>(
  rows: readonly R[],
  limit: number,
): Page<R> {
  const items = rows.slice(0, limit);
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/**
 * The page of a list of which a key may know a part: reads on until the page is full, but a bounded
 * number of times, so that a page may be short and still have a next one.
 */
export async function sievedPage<R extends { readonly id: string }>(
  ask: PageAsk,
  keep: (row: R) => boolean,
  read: (ask: PageAsk) => Promise<readonly R[]>,
): Promise<Page<R>> {
  const items: R[] = [];
  let before = ask.before;
  for (let tries = 0; tries < SIEVE_READS_MAX; tries += 1) {
    const rows = await read({ before, limit: LIMITS.listLimitMax });
    for (const row of rows) {
      if (keep(row)) items.push(row);
      if (items.length > ask.limit) return cutPage(items, ask.limit);
      before = row.id;
    }
    if (rows.length < LIMITS.listLimitMax) return { items, nextCursor: null };
  }
  return { items, nextCursor: before };
}

/** Times 200 rows: what one request may look through for a key that sees only its own. */
const SIEVE_READS_MAX = 5;

/** The page as its reader sees it; the views are made at once, each with a few reads of its own. */
export async function mapPage<R, T>(
  page: Page<R>,
  view: (row: R) => T | Promise<T>,
): Promise<Page<T>> {
  return { items: await Promise.all(page.items.map(view)), nextCursor: page.nextCursor };
}
