import { LIMITS } from '../kernel/limits.ts';
import type { Catalogue } from './catalogue.ts';

/** A long text need not be searched whole for the few characters that are kept of it. */
const LOOKED_AT = 4;

const CONTROLS = /[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]+/gu;

/**
 * A request on one line, at most `LIMITS.mandateQuoteChars` characters, cut at a word border with an
 * ellipsis. Quotation marks and backticks inside become single ones: somebody else's words can
 * neither end their own quotation nor look like a command of ours. Cutting a cut text changes nothing.
 */
export function cutRequest(text: string): string {
  return cutWords(text, LIMITS.mandateQuoteChars);
}

/** Longer words of somebody else, such as a question: the same, at most `max` characters. */
export function quoteWords(
  { quotes: [open, close] }: Pick<Catalogue, 'quotes'>,
  text: string,
  max: number,
): string {
  return `${open}${cutWords(text, max)}${close}`;
}

function cutWords(text: string, max: number): string {
  const line = oneLine(text, max);
  const letters = Array.from(line);
  if (letters.length <= max) return line === '' ? '…' : line;
  const head = letters.slice(0, max - 1).join('');
  const border = letters[max - 1] === ' ' ? head.length : head.lastIndexOf(' ');
  const words = border > head.length / 2 ? head.slice(0, border) : head;
  return `${words.replace(/[\s.,;:–-]+$/u, '')}…`;
}

/** The request as it names its work: cut, in the quotation marks of the language. */
export function quoteRequest(
  { quotes: [open, close] }: Pick<Catalogue, 'quotes'>,
  text: string,
): string {
  return `${open}${cutRequest(text)}${close}`;
}

/** A name from outside inside a sentence: one line, short, without marks that end its quotation. */
export function cutName(text: string): string {
  return cutRequest(text).replaceAll(' ', '_');
}

function oneLine(text: string, max: number): string {
  return text
    .trimStart()
    .slice(0, LOOKED_AT * max)
    .toWellFormed()
    .replaceAll(CONTROLS, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[“”„‟«»"]/g, "'")
    .replaceAll('`', "'")
    .trim();
}
