import { isObject, type Json } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND, type Instant, type Millis } from '../kernel/time.ts';
import type { Catalogue, NoticeFacts } from './catalogue.ts';
import { sayCount } from './number.ts';
import { cutName, quoteRequest, quoteWords } from './quote.ts';
import type { Reader } from './reader.ts';
import type { FailureWord } from './recovery-texts.ts';
import { sayDay, sayWhen, sayWhenSecond } from './when.ts';

/** What the notices of recovery keep beside what every notice does. */
export interface RecoveryParams {
  /** What the last attempt of an assessment came to. */
  readonly outcome?: string;
  /** Of the task; absent where it has none. */
  readonly deadline?: Instant;
  readonly attempt?: number;
  readonly nextAt?: Instant;
  /** The time that an order carries itself. */
  readonly at?: Instant;
  /** How long an attempt may take; the default where it is not said. */
  readonly callMs?: Millis;
  /** Counts of the boundary's summary. */
  readonly held?: number;
  readonly workersHeld?: number;
  readonly unsent?: number;
  /** What a restart report tells, and how many more there are. */
  readonly items?: readonly ReportedItem[];
  readonly more?: number;
  /** Tasks that a check decides about, where diagnostics are told. */
  readonly interrupted?: number;
  readonly starts?: number;
}

/** `code`: a task's reason, or `uncertain_effect`. `command` is null where nothing is to be typed. */
export interface ReportedItem {
  readonly code: string;
  readonly request: string;
  readonly command: string | null;
}

/** Those of them that are numbers. */
export const RECOVERY_NUMBERS = [
  'deadline',
  'attempt',
  'nextAt',
  'at',
  'callMs',
  'held',
  'workersHeld',
  'unsent',
  'more',
  'interrupted',
  'starts',
] as const;

/** What became of an attempt, by its outcome and the code that it failed with. */
interface Missed {
  readonly outcome: string;
  readonly detail: string;
  readonly said: string;
  readonly callMs?: Millis | undefined;
}

type Fact =
  | 'failure'
  | 'said'
  | 'deadline'
  | 'attempt'
  | 'attempts'
  | 'next'
  | 'at'
  | 'summary'
  | 'lines'
  | 'starts';

interface Telling {
  readonly words: Catalogue;
  readonly reader: Reader;
  /** When the notice was written. */
  readonly at: Instant;
}

type Params = RecoveryParams & { readonly detail?: string; readonly said?: string };

/** What the notices of recovery say, in words. */
export function recoveryFacts(telling: Telling, params: Params): Pick<NoticeFacts, Fact> {
  const { words } = telling;
  const { outcome = 'failed', detail = '', said = '', callMs, attempt, starts } = params;
  const { held = 0, workersHeld = 0, unsent = 0 } = params;
  const count = (value: number | undefined): string =>
    value === undefined ? '…' : sayCount(words, value);
  return {
    failure: sayFailure(words, { outcome, detail, said, callMs }),
    said: said === '' ? null : quoteReason(words, said),
    attempt: count(attempt),
    attempts: count(LIMITS.recoveryAttempts),
    ...instantFacts(telling, params),
    summary: words.recovery.summary({ held, workersHeld, unsent }),
    lines: reportLines(words, params),
    starts: count(starts),
  };
}

function instantFacts(
  { words, reader, at: now }: Telling,
  { deadline, nextAt, at }: Params,
): Pick<NoticeFacts, 'deadline' | 'next' | 'at'> {
  return {
    deadline: deadline === undefined ? null : sayDay(reader, words.tag, deadline, now),
    next: nextAt === undefined ? null : sayWhenSecond(reader, words, nextAt, now),
    at: at === undefined ? null : sayWhen(reader, words, at, now),
  };
}

/** What an assessment gave as its reason: a model's words, cut and in quotation marks. */
export function quoteReason(words: Pick<Catalogue, 'quotes'>, said: string): string {
  return quoteWords(words, said.trimEnd().replace(/\.$/, ''), LIMITS.recoveryReasonChars);
}

/** What became of an attempt, as a clause: `no answer in 60 s`. */
export function sayFailure(words: Catalogue, missed: Missed): string {
  return words.recovery.failures[failureOf(missed)](failureFacts(words, missed));
}

/** The same as a whole sentence, of a verdict too. */
export function sayOutcome(words: Catalogue, missed: Missed): string {
  const { outcome } = missed;
  const word = outcome === 'end' || outcome === 'inconclusive' ? outcome : failureOf(missed);
  return words.recovery.outcomes[word](failureFacts(words, missed));
}

const CODES: Readonly<Record<string, FailureWord>> = {
  timeout: 'timeout',
  connect: 'unreached',
  http_429: 'limited',
};

/** Codes of an answer that came and was not of the schema: an event or a notice may hold the code alone. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'cut_off',
  'empty',
  'not_json',
  'not_schema',
  'too_deep',
  'unknown_verdict',
]);

/** Whether a model's answer came and could not be used. */
export function isUnusable(code: string): boolean {
  return UNUSABLE.has(code);
}

function failureOf({ outcome, detail }: Missed): FailureWord {
  if (outcome === 'invalid' || outcome === 'reserved' || outcome === 'continue') return outcome;
  if (UNUSABLE.has(detail)) return 'invalid';
  return (Object.hasOwn(CODES, detail) ? CODES[detail] : undefined) ?? 'failed';
}

function failureFacts(
  words: Catalogue,
  { detail, said, callMs = LIMITS.recoveryCallMs }: Missed,
): { readonly detail: string; readonly time: string } {
  const named = detail === '' ? '' : cutName(detail);
  return {
    detail: named === '' || said === '' ? named : `${named}, ${quoteRequest(words, said)}`,
    time: `${sayCount(words, Math.round(callMs / SECOND))} s`,
  };
}

function reportLines(
  words: Catalogue,
  { items = [], more = 0, interrupted = 0 }: RecoveryParams,
): string {
  const lines = items.map((item) => sayReported(words, item));
  const count = sayCount(words, interrupted);
  return [
    ...lines,
    ...(more === 0 ? [] : [words.recovery.reportMore(sayCount(words, more))]),
    ...(interrupted === 0 ? [] : [words.answers.interrupted({ count, now: null })]),
  ].join('\n');
}

/** One thing that a person is to decide, on a line: what was asked, why it stands, and its way out. */
export function sayReported(words: Catalogue, { code, request, command }: ReportedItem): string {
  const { recovery } = words;
  const about = quoteRequest(words, request);
  const [, id] = /^\/(?:approve|deny) (\S+)$/.exec(command ?? '') ?? [];
  // Whoever copies the one command of a line in a hurry must not make an effect happen twice.
  if (code === 'uncertain_effect' && id !== undefined)
    return recovery.reportUncertain({
      request: about,
      approve: `\`/approve ${id}\``,
      deny: `\`/deny ${id}\``,
    });
  return recovery.reportLine({
    request: about,
    cause: causeOf(words, code),
    command: command === null ? '' : `\`${command}\``,
  });
}

function causeOf(words: Catalogue, code: string): string {
  const causes: Readonly<Record<string, string>> = words.causes;
  return (Object.hasOwn(causes, code) ? causes[code] : undefined) ?? `\`${cutName(code)}\``;
}

/** The lines of a restart report as the outbox keeps them; what has another form is left out. */
export function readItems(value: Json | undefined): readonly ReportedItem[] {
  const text = (of: Json | undefined): string => (typeof of === 'string' ? of : '');
  if (!Array.isArray(value)) return [];
  return value
    .filter((item: Json) => isObject(item))
    .slice(0, LIMITS.namedMax)
    .map(({ code, request, command }) => ({
      code: text(code),
      request: text(request),
      command: commandIn(text(command)),
    }));
}

/** A command as it is typed, on one line and without marks that would end its own. */
function commandIn(text: string): string | null {
  return /^\/[\w=+. -]{1,80}$/.test(text) ? text : null;
}
