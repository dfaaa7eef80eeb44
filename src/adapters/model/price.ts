import type { Model, ModelUsage } from '../../ports/model.ts';

/** US dollars for a million tokens, from `inputTokensAbove` tokens of a request on. */
interface Tier {
  readonly inputTokensAbove: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** US dollars for a million tokens. Without a price of its own, what a cache holds costs as input. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Long requests of some models cost more, all of their tokens. */
  readonly tiers?: readonly Tier[] | undefined;
}

/** Tokens of one call by what they cost. */
export interface Counted {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The price as a word for people. */
export function priceWord(price: Price | undefined): Model['price'] {
  if (price === undefined) return 'unpriced';
  return price.input === 0 && price.output === 0 ? 'free' : 'costs-money';
}

/** What budgets and people reckon with; null when no price is known. */
export function ratesOf(price: Price | undefined): Model['rates'] {
  return price === undefined ? null : { input: price.input, output: price.output };
}

/** Tokens and their cost in millionths of a US dollar: a dollar a million is one of them a token. */
export function priced(counted: Counted, price: Price | undefined): ModelUsage {
  const inputTokens = counted.input + counted.cacheRead + counted.cacheWrite;
  const outputTokens = counted.output;
  if (price === undefined) return { inputTokens, outputTokens, cost: null };
  const { input, output, cacheRead = input, cacheWrite = input } = tierOf(price, inputTokens);
  const cost =
    counted.input * input +
    counted.cacheRead * cacheRead +
    counted.cacheWrite * cacheWrite +
    outputTokens * output;
  return { inputTokens, outputTokens, cost: Math.round(cost) };
}

function tierOf(price: Price, inputTokens: number): Omit<Price, 'tiers'> {
  const above = (price.tiers ?? []).filter((tier) => inputTokens > tier.inputTokensAbove);
  return above.toSorted((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0] ?? price;
}
