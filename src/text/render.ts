import type { Refusal, RefusalCode } from '../kernel/fault.ts';
import { readObject, type Json } from '../kernel/json.ts';
import {
  NOTICES,
  SIGNS,
  type AbsenceWord,
  type Catalogue,
  type MendWord,
  type NoticeCode,
  type NoticeFacts,
  type RefusalFacts,
} from './catalogue.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import {
  MAINTENANCE_NUMBERS,
  maintenanceFacts,
  type MaintenanceParams,
} from './maintenance-facts.ts';
import { sayCount } from './number.ts';
import { cutName, quoteRequest } from './quote.ts';
import { catalogueOf, type Reader } from './reader.ts';
import {
  readItems,
  recoveryFacts,
  RECOVERY_NUMBERS,
  type RecoveryParams,
} from './recovery-facts.ts';
import { blockShown } from './shown.ts';
import { refusedStanding } from './standing.ts';
import { sayLength, sayWhen } from './when.ts';

/** The parameters of a notice, kept with its code until somebody reads it. */
export interface NoticeParams extends RecoveryParams, MaintenanceParams {
  /** The mandate, whole or cut; never in quotation marks. Empty where no task is meant. */
  readonly request: string;
  readonly taskId: string;
  /**
   * Tools or `model`: calls whose outcome is unknown, or, of a stop, that are being ended. A number where
   * the sizes of a request are told: the tokens of its tools.
   */
  readonly tools?: readonly string[] | number;
  /** The provider's or transport's own code; of a budget or a quota which bound was reached. */
  readonly detail?: string;
  /** What it said besides; quoted, for these are somebody else's words. */
  readonly said?: string;
  /** The model that was asked, as `provider/name`. */
  readonly model?: string;
  /** Of an interruption without a turn: `due`, `wait` or `void`. */
  readonly absent?: string;
  /** When it ends by itself. */
  readonly until?: Instant;
  readonly expiresAt?: Instant;
  readonly approvalId?: string;
  readonly tool?: string;
  /** The JSON text of what would run, as the approval keeps it. */
  readonly shown?: string;
  /** `other`: somebody else than the one who asked has to answer. */
  readonly approver?: string;
  /** Why the task stands where it stands. */
  readonly reason?: string | null;
  /** What kind of wait is over. */
  readonly wait?: string;
  /** What has to be granted at least, as it is typed: `turns=+50`. */
  readonly grant?: string;
  /** Tokens: of the model's window, of instructions and tools, of the newest words. */
  readonly window?: number;
  readonly base?: number;
  readonly message?: number;
  /** How far the clock is off; positive is ahead. */
  readonly drift?: Millis;
}

/** Those of them that are numbers. */
const NUMBERS = [
  'until',
  'expiresAt',
  'window',
  'base',
  'message',
  'drift',
  ...RECOVERY_NUMBERS,
  ...MAINTENANCE_NUMBERS,
] as const;
/** The last instant that there is for a calendar. */
const INSTANT_MAX = 8.64e15;

/** How records name a call of the model among calls of tools. */
const MODEL_CALL = 'model';
/** Named calls in one sentence; the rest are counted. */
const TOOLS_NAMED = 5;

/** Of a notice whose own instant is not known: every instant then names its day and year. */
const NO_TIME: Instant = 0;

/**
 * The sentences of a notice behind the sign of its level. `at` is when it was written: an instant of
 * that day is told by its clock alone.
 */
export function renderNotice(
  reader: Reader,
  code: NoticeCode,
  params: NoticeParams,
  at: Instant = NO_TIME,
): string {
  const words = catalogueOf(reader.locale);
  const facts = factsOf({ words, reader, at }, params);
  return `${SIGNS[NOTICES[code]]} ${words.notices[code](facts)}`;
}

/**
 * The same for a notice as the outbox keeps it: any code, and its parameters as the JSON text of an
 * object. A code or parameter that this version does not know is said as far as it is known.
 */
export function renderStoredNotice(
  reader: Reader,
  code: string,
  params: string | null,
  at: Instant = NO_TIME,
): string {
  const known = readParams(params);
  if (isNoticeCode(code)) return renderNotice(reader, code, known, at);
  const words = catalogueOf(reader.locale);
  const facts = factsOf({ words, reader, at }, known);
  return `${SIGNS.info} ${words.unknownNotice(cutName(code), facts)}`;
}

/**
 * One line that says why nothing was done and, where there is one, what to do instead. `now` is when it
 * was refused: an instant of that day is told by its clock alone.
 */
export function renderRefusal(
  reader: RefusalReader,
  code: RefusalCode,
  detail: Refusal['detail'] = {},
  now: Instant = NO_TIME,
): string {
  const words = catalogueOf(reader.locale);
  const { id, taskId, nearest, word, state, way, reply, who } = detail;
  const facts: RefusalFacts = {
    id: id === undefined ? undefined : cutName(id),
    taskId: taskId === undefined ? undefined : cutName(taskId),
    nearest,
    word: word === undefined ? undefined : cutName(word),
    state: state === undefined ? undefined : inWords(statesOf(words, id ?? ''), state),
    way,
    who: who === undefined ? undefined : inWords(words.who, who),
    isReply: reply === 'yes',
    ...refusedStanding({ words, reader: { timeZone: 'UTC', ...reader }, now }, detail),
  };
  return words.refusals[code](facts);
}

function statesOf(words: Catalogue, id: string): Readonly<Record<string, string>> {
  if (id.startsWith('mop_')) return words.maintenance.states;
  return { ...words.approvals, ...words.states };
}

/** Instants of a refusal are told in the reader's zone; without one in that of the calendar, UTC. */
export type RefusalReader = Pick<Reader, 'locale'> & Partial<Reader>;

/** How far the clock is off; positive is ahead: `3 hours ahead of`, to be followed by what. */
export function sayDrift({ tag, drift }: Pick<Catalogue, 'tag' | 'drift'>, off: Millis): string {
  return drift[off < 0 ? 'behind' : 'ahead'](sayLength(tag, off));
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

/** What a notice is told with. */
interface Telling {
  readonly words: Catalogue;
  readonly reader: Reader;
  readonly at: Instant;
}

function factsOf(telling: Telling, params: NoticeParams): NoticeFacts {
  const { words } = telling;
  const { taskId: id, tool, wait, drift = 0 } = params;
  const count = (value: number | undefined): string =>
    value === undefined ? '…' : sayCount(words, value);
  return {
    request: quoteRequest(words, params.request),
    id,
    tools: listNames(words, typeof params.tools === 'object' ? params.tools : []),
    ...refusedFacts(words, params),
    absent: absenceIn(params.absent),
    when: whenOf(telling, params),
    tool: listNames(words, tool ? [tool] : []) ?? words.someCall,
    shown: params.shown ? blockShown(words, params.shown) : '',
    isOther: params.approver === 'other',
    isInterrupted: params.reason === 'interrupted',
    ...recoveryFacts(telling, params),
    ...maintenanceFacts(telling, params),
    wait: wait ? inWords(words.waits, wait) : null,
    limit: inWords(words.limits, params.detail || 'budget'),
    window: count(params.window),
    base: count(params.base),
    message: count(params.message),
    drift: sayDrift(words, drift),
    cause: causeOf(words, params.reason ?? ''),
    ...commandsOf(params),
  };
}

/** Which wait a host did not see through, as notices, events and outcomes keep it; null for anything else. */
export function absenceIn(value: unknown): AbsenceWord | null {
  return value === 'due' || value === 'wait' || value === 'void' ? value : null;
}

/** What helps where a provider refuses, by its code or its status. */
const MENDS: ReadonlyMap<string, MendWord> = new Map([
  ...['http_401', 'invalid_api_key', 'api_key_invalid', 'authentication_error'].map(
    (code) => [code, 'key'] as const,
  ),
  ...[
    'http_402',
    'insufficient_quota',
    'insufficient_balance',
    'insufficient_credits',
    'exceeded_current_quota_error',
    'billing_hard_limit_reached',
    'billing_not_active',
  ].map((code) => [code, 'balance'] as const),
  ...['http_403', 'permission_error'].map((code) => [code, 'rights'] as const),
  ...[
    'http_404',
    'model_not_found',
    'model_not_available',
    'model_decommissioned',
    'model_deprecated',
    'invalid_model',
    'deploymentnotfound',
  ].map((code) => [code, 'name'] as const),
]);

/** What a provider said, of which model, and what helps. */
function refusedFacts(
  words: Catalogue,
  params: NoticeParams,
): Pick<NoticeFacts, 'detail' | 'model' | 'help'> {
  const { model, detail = '' } = params;
  const mend = MENDS.get(detail.toLowerCase());
  return {
    detail: detailOf(words, params),
    model: model ? `\`${cutName(model)}\`` : null,
    help: mend === undefined ? '' : `${words.mends[mend]} `,
  };
}

function causeOf({ causes }: Catalogue, reason: string): string {
  const known: Readonly<Record<string, string>> = causes;
  return Object.hasOwn(causes, reason) ? (known[reason] ?? '') : '';
}

function whenOf({ words, reader, at }: Telling, params: NoticeParams): string | null {
  const instant = params.until ?? params.expiresAt;
  return instant === undefined ? null : sayWhen(reader, words, instant, at);
}

/** Exactly as the table of reasons types them; a test compares the two (V8). */
function commandsOf({
  taskId,
  operationId = '',
  approvalId = '',
  grant = '',
}: NoticeParams): Pick<
  NoticeFacts,
  'stop' | 'pause' | 'resume' | 'late' | 'reset' | 'extend' | 'approve' | 'deny' | 'why'
> {
  const typed = (...parts: readonly string[]): string =>
    `\`${parts.filter((part) => part !== '').join(' ')}\``;
  return {
    stop: typed('/stop', taskId),
    pause: typed('/pause', taskId),
    resume: typed('/task-resume', taskId),
    late: typed('/task-resume', taskId, 'late'),
    reset: typed('/budget-reset', taskId),
    extend: typed('/extend', taskId, grant),
    approve: typed('/approve', approvalId),
    deny: typed('/deny', approvalId),
    why: typed('/why', taskId === '' ? operationId : taskId),
  };
}

/** `http_404`, or with its words: `http_404: “model not found”`. */
function detailOf(words: Catalogue, { detail, said }: NoticeParams): string | null {
  if (!detail) return null;
  return said ? `${cutName(detail)}: ${quoteRequest(words, said)}` : cutName(detail);
}

function readParams(text: string | null): NoticeParams {
  const read = readObject(text);
  const { tools } = read;
  const words = (key: string): string => textOf(read[key]);
  const numbers: { readonly [key in (typeof NUMBERS)[number]]?: number } = Object.fromEntries(
    NUMBERS.map((key) => [key, read[key]] as const).filter(isNumber),
  );
  return {
    request: words('request'),
    taskId: words('taskId'),
    tools: toolsIn(tools),
    detail: words('detail'),
    said: words('said'),
    model: words('model'),
    absent: words('absent'),
    approvalId: words('approvalId'),
    tool: words('tool'),
    shown: words('shown'),
    approver: words('approver'),
    reason: words('reason'),
    wait: words('wait'),
    grant: words('grant'),
    outcome: words('outcome'),
    operationId: idIn(words('operationId')),
    code: words('code'),
    isSame: read['isSame'] === true,
    kind: words('kind'),
    step: words('step'),
    ...endsIn(words('ends')),
    items: readItems(read['items']),
    ...numbers,
  };
}

function toolsIn(tools: Json | undefined): readonly string[] | number {
  if (typeof tools === 'number') return tools;
  return Array.isArray(tools) ? tools.map((name: Json) => textOf(name)) : [];
}

/** A stop as it is typed; anything else is no command of ours. */
function endsIn(text: string): Pick<NoticeParams, 'ends'> {
  return /^\/stop (?:all|[\w-]{1,64})$/.test(text) ? { ends: text } : {};
}

/** An id is typed as it stands; of anything else nothing is. */
function idIn(text: string): string {
  return /^[\w-]{1,64}$/.test(text) ? text : '';
}

function isNumber(entry: readonly [string, Json | undefined]): entry is readonly [string, number] {
  return typeof entry[1] === 'number' && Math.abs(entry[1]) <= INSTANT_MAX;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
