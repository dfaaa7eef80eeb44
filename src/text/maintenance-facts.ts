import type { JsonObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Catalogue, NoticeFacts } from './catalogue.ts';
import type { BlockWord, FaultWord, MaintenanceTexts, SizeFacts } from './maintenance-texts.ts';
import { sayCount } from './number.ts';
import { cutName, quoteRequest } from './quote.ts';
import type { Reader } from './reader.ts';
import { isUnusable, sayFailure } from './recovery-facts.ts';
import { saySecond } from './when.ts';

/** What the notices of maintenance keep beside what every notice does. */
export interface MaintenanceParams {
  readonly operationId?: string;
  /** Of the operation, as the notice saw it. */
  readonly version?: number;
  /** What a step failed with last. */
  readonly code?: string;
  readonly failures?: number;
  /** Whether every failure had that code. */
  readonly isSame?: boolean;
  readonly kind?: string;
  readonly step?: string;
  /** Tokens, beside `window`, `tools` and `message`. */
  readonly reserve?: number;
  readonly instructions?: number;
  readonly seed?: number;
  /** What ends the request that holds words which take most of the window. */
  readonly ends?: string;
}

/** Those of them that are numbers. */
export const MAINTENANCE_NUMBERS = [
  'version',
  'failures',
  'reserve',
  'instructions',
  'seed',
] as const;

/** What a try of a step came to nothing with. */
export interface Fault {
  readonly code: string;
  readonly said?: string | undefined;
  /** How long the call might take; the default where it is not said. */
  readonly callMs?: Millis | undefined;
}

type Sizes = Partial<
  Record<'window' | 'reserve' | 'instructions' | 'tools' | 'seed' | 'message', number>
>;

type Fact =
  | 'fault'
  | 'isSame'
  | 'times'
  | 'step'
  | 'isReconciled'
  | 'sizes'
  | 'ends'
  | 'nextTime'
  | 'paused'
  | 'admit'
  | 'handover';

type Params = MaintenanceParams & {
  readonly said?: string;
  readonly callMs?: Millis;
  readonly nextAt?: Instant;
  readonly reason?: string | null;
  readonly window?: number;
  readonly message?: number;
  readonly tools?: readonly string[] | number;
};

/** Failures of one epoch after which an operation is blocked (M-4), where a notice does not say how many. */
const FAILURES = 7;

/** What the notices of maintenance say, in words. `at` is when the notice was written. */
export function maintenanceFacts(
  {
    words,
    reader,
    at,
  }: { readonly words: Catalogue; readonly reader: Reader; readonly at: Instant },
  params: Params,
): Pick<NoticeFacts, Fact> {
  const { operationId = '', code = '', said, callMs, nextAt, tools, kind, step } = params;
  const { maintenance } = words;
  return {
    fault: code === '' ? null : sayFault(words, { code, said, callMs }),
    isSame: params.isSame === true,
    times: maintenance.times(params.failures ?? FAILURES),
    step: sayStep(maintenance, step || 'compact'),
    isReconciled: kind !== 'handover',
    sizes: sizeFacts(words, { ...params, tools: typeof tools === 'number' ? tools : undefined }),
    ends: params.ends === undefined ? null : typed(params.ends),
    nextTime: nextAt === undefined ? null : saySecond(reader, words.tag, nextAt, at),
    paused: blockReason(maintenance, params.reason ?? ''),
    admit: typed('/admit', operationId),
    handover: typed('/admit', operationId, 'handover'),
  };
}

/** Exactly as the table of reasons types them; a test compares the two (V8). */
function typed(...parts: readonly string[]): string {
  return `\`${parts.filter((part) => part !== '').join(' ')}\``;
}

const FAULTS: Readonly<Record<string, FaultWord>> = {
  eio: 'disk_io',
  enospc: 'disk_full',
  no_space: 'disk_full',
  edquot: 'disk_full',
  disk_full: 'disk_full',
  erofs: 'disk_readonly',
  eacces: 'disk_denied',
  eperm: 'disk_denied',
  summary_empty: 'summary_empty',
  summary_too_long: 'summary_long',
  other_session: 'other_session',
  interrupted: 'interrupted',
  too_long: 'too_long',
  full: 'too_long',
  context_too_long: 'too_long',
};

/** What a step failed with, as a clause: `disk: input/output error`. */
export function sayFault(words: Catalogue, { code, said = '', callMs }: Fault): string {
  const low = code.toLowerCase();
  const isProviders = low === 'timeout' || low === 'connect' || /^http_\d{3}$/.test(low);
  if (isProviders) {
    const missed = { outcome: 'failed', detail: low, said };
    return sayFailure(words, { ...missed, callMs: callMs ?? LIMITS.summaryCallMs });
  }
  const named = cutName(code);
  const detail = said === '' ? named : `${named}, ${quoteRequest(words, said)}`;
  const known = Object.hasOwn(FAULTS, low) ? FAULTS[low] : undefined;
  const word = known ?? (isUnusable(low) ? 'summary_unusable' : 'other');
  return words.maintenance.faults[word]({ detail });
}

/** A step as a noun phrase; one that a newer version wrote by its bare name. */
export function sayStep({ steps }: MaintenanceTexts, step: string): string {
  const known: Readonly<Record<string, string>> = steps;
  return (Object.hasOwn(known, step) ? known[step] : undefined) ?? cutName(step);
}

/** Why an operation is blocked, as a clause; empty for a reason that this version does not know. */
export function blockReason({ reasons }: MaintenanceTexts, reason: string): string {
  return Object.hasOwn(reasons, reason) ? reasons[reason as BlockWord] : '';
}

/** The sizes of what every request has to hold, in tokens as the reader writes them. */
export function sizeFacts(
  words: Pick<Catalogue, 'tag'>,
  sizes: { readonly [part in keyof Sizes]: number | undefined },
): SizeFacts {
  const count = (value: number | undefined): string =>
    value === undefined ? '…' : sayCount(words, value);
  const { window, reserve, instructions, tools, seed, message } = sizes;
  return {
    window: count(window),
    reserve: count(reserve),
    instructions: count(instructions),
    tools: count(tools),
    seed: count(seed),
    message: count(message),
  };
}

/** The same of a record's or a notice's JSON. */
export function readSizes(data: JsonObject): Sizes {
  const entries = Object.entries(data).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(entries) as Sizes;
}
