import { readDeadline } from '../../kernel/deadline.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { USD } from '../../kernel/money.ts';
import type { Grant } from '../budget/extend.ts';

const MAX = LIMITS.grantMax;

type Read = (value: string) => Grant | undefined;

const READS: Readonly<Record<string, Read>> = {
  turns: (value) => count(value, MAX.turns, (turns) => ({ turns })),
  tokens: (value) => count(value, MAX.tokens, (tokens) => ({ tokens })),
  continuations: (value) => count(value, MAX.continuations, (continuations) => ({ continuations })),
  cost: readCost,
  deadline: deadlineOf,
};

/**
 * Reads `turns=+N tokens=+N cost=+N continuations=+N deadline=+T` strictly: each at most once, at least
 * one, nothing else and no amount that is zero or a slip. `N` of `cost` is in US dollars with at most
 * six decimals; `T` is `90m`, `12h`, `2d` added to the deadline, or, without the plus, an ISO instant
 * with its zone. Undefined for anything else.
 */
export function readGrant(words: readonly string[]): Grant | undefined {
  const seen = new Set<string>();
  let grant: Grant = {};
  for (const word of words) {
    const border = word.indexOf('=');
    const key = word.slice(0, Math.max(0, border)).toLowerCase();
    const read = Object.hasOwn(READS, key) ? READS[key] : undefined;
    const part = read?.(word.slice(border + 1));
    if (part === undefined || seen.has(key)) return undefined;
    seen.add(key);
    grant = { ...grant, ...part };
  }
  return seen.size === 0 ? undefined : grant;
}

function count(value: string, max: number, make: (amount: number) => Grant): Grant | undefined {
  const digits = /^\+(\d{1,12})$/.exec(value)?.[1];
  const amount = Number(digits ?? 0);
  return amount > 0 && amount <= max ? make(amount) : undefined;
}

function readCost(value: string): Grant | undefined {
  const [, whole, decimals = ''] = /^\+(\d{1,9})(?:\.(\d{1,6}))?$/.exec(value) ?? [];
  const costMicroUsd = Number(whole ?? 0) * USD + Number(decimals.padEnd(6, '0'));
  return costMicroUsd > 0 && costMicroUsd <= MAX.costUsd * USD ? { costMicroUsd } : undefined;
}

function deadlineOf(value: string): Grant | undefined {
  const deadline = readDeadline(value);
  return deadline === undefined ? undefined : { deadline };
}
