import type { Json, JsonObject } from '../kernel/json.ts';
import type { Instant } from '../kernel/time.ts';
import { DE_FINDINGS } from './de/findings.ts';
import { EN_FINDINGS } from './en/findings.ts';
import type { FindingFacts, FindingTexts, FindingWord } from './finding-texts.ts';
import { sayMegabytes } from './number.ts';
import { cutName, quoteRequest } from './quote.ts';
import { catalogueOf, type Reader } from './reader.ts';
import type { Catalogue } from './catalogue.ts';
import { blockReason } from './maintenance-facts.ts';
import { inWords, sayDrift } from './render.ts';
import { sayInstant, sayWhen } from './when.ts';

/** What `doctor` found, as records and the engine have it. */
export interface FoundThing {
  readonly code: string;
  readonly data: JsonObject;
}

const TEXTS: Readonly<Record<Reader['locale'], FindingTexts>> = {
  en: EN_FINDINGS,
  de: DE_FINDINGS,
};

/** What changes a finding, where that is one command; `{task}` stands for the task's id, `{operation}` for that of an operation. */
const COMMANDS: Partial<Record<FindingWord, string>> = {
  check_failed: 'sekisho logs',
  host_unresponsive: 'sekisho logs',
  store_unreachable: 'sekisho logs',
  task_silent: 'sekisho doctor --repair',
  tasks_silent_more: 'sekisho doctor --repair',
  tasks_held: '/tasks held',
  operation_waiting: '/why {operation}',
  fence_unowned: 'sekisho doctor --repair',
  fence_missing: 'sekisho doctor --repair',
  operations_more: 'sekisho maintenance',
  work_cut: 'sekisho start',
  turn_unowned: '/stop {task}',
  worker_unowned: '/why {task}',
  safe_mode_on: '/safe-mode off',
  boundary_unfinished: 'sekisho start',
  boundary_untold: '/tasks held',
  clock_distrusted: '/clock confirm',
  file_open: 'sekisho doctor --repair',
  files_open_more: 'sekisho doctor --repair',
  model_unreachable: 'sekisho config show',
  account_refused: 'sekisho config show',
};

/**
 * A finding of `doctor` as its reader is told it, and the command that changes it exactly as it is typed;
 * null where no single one does. A code that this version does not know is said as it stands.
 */
export function sayFinding(
  reader: Reader,
  { code, data }: FoundThing,
  now: Instant,
): { readonly sentence: string; readonly command: string | null } {
  const { says } = TEXTS[reader.locale];
  const word = wordOf(code, data);
  if (!Object.hasOwn(says, word)) return { sentence: cutName(code), command: null };
  const facts = factsOf(reader, data, now);
  const sentence = says[word as FindingWord](facts);
  return { sentence, command: commandOf(word as FindingWord, data) };
}

/** Some codes are said in more than one way. */
function wordOf(code: string, { what, kind }: JsonObject): string {
  if (code === 'audit_broken' && typeof what === 'string') return `audit_${what}`;
  if (code === 'work_unowned' && typeof kind === 'string') return `${kind}_unowned`;
  return code;
}

function commandOf(word: FindingWord, data: JsonObject): string | null {
  const { command, taskId, operationId } = data;
  if (typeof command === 'string') return command;
  const known = COMMANDS[word];
  if (known === undefined || !known.includes('{')) return known ?? null;
  const [name, id] = known.includes('{task}') ? ['{task}', taskId] : ['{operation}', operationId];
  return typeof id === 'string' ? known.replace(name, id) : null;
}

function factsOf(reader: Reader, data: JsonObject, now: Instant): FindingFacts {
  const words = catalogueOf(reader.locale);
  const text = (key: string): string => textOf(data[key]);
  const named = (key: string): string => (text(key) === '' ? '' : `\`${cutName(text(key))}\``);
  const size = (key: string): string => sizeOf(words, data[key]);
  const first = numberIn(data, COUNTS[0]);
  return {
    request: quoteRequest(words, text('request')),
    detail: said(text('detail')),
    description: said(text('description')),
    path: quotedPath(text('path') || text('folder')),
    mode: text('mode'),
    wanted: text('wanted'),
    models: named('model') || listOf(words.tag, data['models']),
    taskId: text('taskId'),
    hostId: text('hostId'),
    operationId: text('operationId'),
    conversationId: text('conversationId'),
    check: text('check'),
    cause: causeOf(words, text('reason'), text('operationId') !== ''),
    ...instantsOf({ reader, now }, data),
    count: first ?? 0,
    others: numberIn(data, COUNTS[1]) ?? 0,
    size: size('storeBytes') || size('freeBytes') || size('bytes'),
    logSize: size('logBytes'),
    logsSize: size('logsBytes'),
    drift: sayDrift(words, numberIn(data, ['driftMs']) ?? 0),
    version: text('version'),
    node: text('node'),
    tz: text('tz'),
    hash: text('lastHash'),
  };
}

function causeOf(words: Catalogue, reason: string, isOfOperation: boolean): string {
  if (reason === '') return '';
  return isOfOperation ? blockReason(words.maintenance, reason) : inWords(words.causes, reason);
}

/** Which of the counts of a finding its sentence begins with, and which comes second. */
const COUNTS: readonly [readonly string[], readonly string[]] = [
  ['pid', 'seq', 'entries', 'open', 'held', 'turns', 'files', 'more'],
  ['workersHeld', 'workers'],
];

function numberIn(data: JsonObject, keys: readonly string[]): number | undefined {
  return keys.map((key) => data[key]).find((value) => typeof value === 'number');
}

function instantsOf(
  { reader, now }: { readonly reader: Reader; readonly now: Instant },
  data: JsonObject,
): Pick<FindingFacts, 'since' | 'began' | 'until' | 'endedAt'> {
  const words = catalogueOf(reader.locale);
  const { since } = TEXTS[reader.locale];
  const whenOf = (key: string): string | null => {
    const at = data[key];
    return typeof at === 'number' ? sayWhen(reader, words, at, now) : null;
  };
  const from = data['since'];
  return {
    since: typeof from === 'number' ? since(sayInstant(reader, words.tag, from, now)) : '',
    began: whenOf('since') ?? '',
    until: whenOf('until'),
    endedAt: whenOf('endedAt') ?? '',
  };
}

const MEGABYTE = 1_000_000;

/** Below some megabytes to the tenth of one: a small store is not nothing. */
function sizeOf(words: Parameters<typeof sayMegabytes>[0], value: Json | undefined): string {
  if (typeof value !== 'number') return '';
  if (value >= 10 * MEGABYTE) return sayMegabytes(words, value);
  const tenths = Math.ceil((value / MEGABYTE) * 10) / 10;
  return `${new Intl.NumberFormat(words.tag).format(tenths)} MB`;
}

/** What is quoted of a store's, a system's or a provider's own words. */
const SAID_CHARS_MAX = 300;

function said(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, SAID_CHARS_MAX);
}

/** Whole: a path that is cut names nothing. */
function quotedPath(path: string): string {
  return path === '' ? '' : `\`${path}\``;
}

function listOf(tag: string, value: Json | undefined): string {
  if (!Array.isArray(value)) return '';
  const named = value.map((one) => `\`${cutName(textOf(one))}\``);
  return new Intl.ListFormat(tag, { type: 'conjunction' }).format(named);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
