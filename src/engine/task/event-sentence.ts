import type { EventRecord } from '../../core/session/record.ts';
import { EVENTS, type EventType } from '../../kernel/event.ts';
import { parseJson, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { cutName } from '../../text/quote.ts';
import { inWords } from '../../text/render.ts';

/** What an event says to a person; of a type that a newer version wrote, its bare name. */
export function sayEvent(words: Catalogue, event: EventRecord): string {
  const { type, fromState, toState, reason } = event;
  if (!isKnown(type)) return `\`${cutName(type)}\``;
  const data = readData(event.data);
  const textOf = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? value : '';
  };
  return words.events[type]({
    by: sayPrincipal(words, event.by),
    from: inWords(words.states, fromState ?? ''),
    to: inWords(words.states, toState ?? ''),
    cause: reason === null ? '' : inWords(words.causes, reason),
    end: inWords(words.turnEnds, textOf('end')),
    provider: cutName(textOf('provider')),
    model: cutName(textOf('model')),
    code: cutName(textOf('code')),
  });
}

/** The JSON object that a record carries; empty when it carries none. */
export function readData(text: string | null): JsonObject {
  const parsed = parseJson(text ?? '{}', LIMITS.jsonDepthMax);
  if (!parsed.ok) return {};
  const { value } = parsed;
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(EVENTS, type);
}

/** Hosts and models have ids that tell a person nothing; everybody else is named as recorded. */
function sayPrincipal(words: Catalogue, by: string): string {
  const [kind] = by.split(':', 1);
  if (kind === 'host' || kind === 'model') return words.principals[kind](by);
  return words.principals.other(cutName(by));
}
