import { isObject, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { quoteWords } from '../../text/quote.ts';

/** How a held task stood before the boundary, as its record or its event keeps it. */
export function readHeld(data: JsonObject): JsonObject {
  const { was } = data;
  return isObject(was) ? was : {};
}

/** The same in whole sentences; empty where nothing of it is known. */
export function sayBefore(words: Catalogue, was: JsonObject): string {
  const { state, waitKind, waitQuestion } = was;
  const { recovery } = words;
  if (typeof state !== 'string' || !Object.hasOwn(recovery.was, state)) return '';
  const says: Readonly<Record<string, (wait: string) => string>> = recovery.was;
  const waits: Readonly<Record<string, string>> = words.waits;
  const isKnown = typeof waitKind === 'string' && Object.hasOwn(waits, waitKind);
  const before = says[state]?.((isKnown ? waits[waitKind] : undefined) ?? '') ?? '';
  if (typeof waitQuestion !== 'string' || waitQuestion === '') return before;
  return `${before} ${recovery.wasAsking(quoteWords(words, waitQuestion, LIMITS.mandateQuoteChars))}`;
}
