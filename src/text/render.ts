import type { Refusal, RefusalCode } from '../kernel/fault.ts';
import { readObject, type Json } from '../kernel/json.ts';
import {
  NOTICES,
  SIGNS,
  type Catalogue,
  type NoticeCode,
  type NoticeFacts,
  type RefusalFacts,
} from './catalogue.ts';
import { cutName, quoteRequest } from './quote.ts';
import { catalogueOf, type Reader } from './reader.ts';

/** The parameters of a notice, kept with its code until somebody reads it. */
export interface NoticeParams {
  /** The mandate, whole or cut; never in quotation marks. */
  readonly request: string;
  readonly taskId: string;
  /** Tools or `model`: calls whose outcome is unknown, or, of a stop, that are being ended. */
  readonly tools?: readonly string[];
  /** The provider's or transport's own code. */
  readonly detail?: string;
  /** What it said besides; quoted, for these are somebody else's words. */
  readonly said?: string;
}

/** How records name a call of the model among calls of tools. */
const MODEL_CALL = 'model';
/** Named calls in one sentence; the rest are counted. */
const TOOLS_NAMED = 5;

/** The sentences of a notice behind the sign of its level. */
export function renderNotice(reader: Reader, code: NoticeCode, params: NoticeParams): string {
  const words = catalogueOf(reader.locale);
  return `${SIGNS[NOTICES[code]]} ${words.notices[code](factsOf(words, params))}`;
}

/**
 * The same for a notice as the outbox keeps it: any code, and its parameters as the JSON text of an
 * object. A code or parameter that this version does not know is said as far as it is known.
 */
export function renderStoredNotice(reader: Reader, code: string, params: string | null): string {
  const known = readParams(params);
  if (isNoticeCode(code)) return renderNotice(reader, code, known);
  const words = catalogueOf(reader.locale);
  return `${SIGNS.info} ${words.unknownNotice(cutName(code), factsOf(words, known))}`;
}

/** One line that says why nothing was done and, where there is one, what to do instead. */
export function renderRefusal(
  { locale }: Pick<Reader, 'locale'>,
  code: RefusalCode,
  detail: Refusal['detail'] = {},
): string {
  const words = catalogueOf(locale);
  const { id, nearest, word, state } = detail;
  const facts: RefusalFacts = {
    id: id === undefined ? undefined : cutName(id),
    nearest,
    word: word === undefined ? undefined : cutName(word),
    state: state === undefined ? undefined : inWords(words.states, state),
  };
  return words.refusals[code](facts);
}

/** Names as a list in words, each as it is typed: `` `command` and `edit` ``; null when there are none. */
export function listNames(words: Catalogue, names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const named = names
    .slice(0, TOOLS_NAMED)
    .map((name) => (name === MODEL_CALL ? words.modelCall : `\`${cutName(name)}\``));
  const rest = names.length - named.length;
  const all = rest === 0 ? named : [...named, words.andMore(String(rest))];
  return new Intl.ListFormat(words.tag, { type: 'conjunction' }).format(all);
}

/** The word for a code of a table, or the code itself when a newer version wrote it. */
export function inWords(table: Readonly<Record<string, string>>, code: string): string {
  return Object.hasOwn(table, code) ? (table[code] ?? code) : cutName(code);
}

function isNoticeCode(code: string): code is NoticeCode {
  return Object.hasOwn(NOTICES, code);
}

function factsOf(words: Catalogue, params: NoticeParams): NoticeFacts {
  return {
    request: quoteRequest(words, params.request),
    id: params.taskId,
    tools: listNames(words, params.tools ?? []),
    detail: detailOf(words, params),
  };
}

/** `http_404`, or with its words: `http_404: “model not found”`. */
function detailOf(words: Catalogue, { detail, said }: NoticeParams): string | null {
  if (!detail) return null;
  return said ? `${cutName(detail)}: ${quoteRequest(words, said)}` : cutName(detail);
}

function readParams(text: string | null): NoticeParams {
  const { request, taskId, tools, detail, said } = readObject(text);
  return {
    request: textOf(request),
    taskId: textOf(taskId),
    tools: Array.isArray(tools) ? tools.map((name: Json) => textOf(name)) : [],
    detail: textOf(detail),
    said: textOf(said),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
