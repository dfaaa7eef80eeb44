import { LIMITS } from '../kernel/limits.ts';
import { CommandEnd } from './exit.ts';

/** Reads a count of at least 1 from an option. Ends the command with what would be allowed. */
export function countOf(option: string, text: string, max: number): number {
  const count = /^\d+$/.test(text) ? Number(text) : NaN;
  if (count >= 1 && count <= max) return count;
  throw new CommandEnd('usage', `sekisho: ${option} takes a whole number from 1 to ${max}`);
}

/** What `--limit` asks of a list. */
export function limitOf({ limit }: { readonly limit?: string }): { readonly limit?: number } {
  return limit === undefined ? {} : { limit: countOf('--limit', limit, LIMITS.listLimitMax) };
}
