import { USD } from '../kernel/money.ts';
import type { Catalogue } from './catalogue.ts';

/** Below this an amount is told to the millionth: a cheap call is not free. */
const SMALL = USD / 100;

/** A whole number as its reader writes it: `1,999,000`. */
export function sayCount({ tag }: Pick<Catalogue, 'tag'>, value: number): string {
  return new Intl.NumberFormat(tag).format(value);
}

/** Millionths of a US dollar: `US$19.50`, and below a cent `US$0.00042`. */
export function sayMoney({ tag }: Pick<Catalogue, 'tag'>, microUsd: number): string {
  const isSmall = microUsd > 0 && microUsd < SMALL;
  return new Intl.NumberFormat(tag, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: isSmall ? 6 : 2,
  }).format(microUsd / USD);
}

/** US dollars for a million tokens: a price has fractions of a cent. */
export function sayRate({ tag }: Pick<Catalogue, 'tag'>, dollars: number): string {
  return new Intl.NumberFormat(tag, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  }).format(dollars);
}

/** Bytes as whole millions of them: `71 MB`. */
export function sayMegabytes({ tag }: Pick<Catalogue, 'tag'>, bytes: number): string {
  return `${new Intl.NumberFormat(tag, { maximumFractionDigits: 0 }).format(bytes / 1_000_000)} MB`;
}
