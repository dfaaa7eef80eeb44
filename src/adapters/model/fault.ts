import { isObject, parseJson, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { REDACTED } from '../../kernel/redact.ts';
import { SECOND, type Instant } from '../../kernel/time.ts';
import type { ModelOutcome } from '../../ports/model.ts';
import type { WireRecord } from './wire.ts';

export type ModelFault = Extract<ModelOutcome, { kind: 'fault' }>;

/** Why we ended a call ourselves. */
export type OwnEnd = 'aborted' | 'timeout' | 'too_large' | 'too_many_calls';

/** What the library said when it gave up. */
export interface LibraryEnd {
  readonly message: string;
  /** The `finish_reason` as sent; undefined when none came. */
  readonly finish: string | undefined;
  /** True when at least one event of the stream was read. */
  readonly hasBegun: boolean;
}

const MESSAGE_CHARS_MAX = 500;
/** Statuses below 500 that may pass; every other one is permanent. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const CODE = /^[A-Za-z0-9_.-]{1,60}$/;

const OWN_ENDS: Readonly<Record<OwnEnd, readonly [ModelFault['class'], string]>> = {
  aborted: ['aborted', 'ended by the host'],
  timeout: ['transient', 'no answer in time'],
  too_large: ['nonsense', 'the reply is larger than any reply may be'],
  too_many_calls: ['nonsense', 'the reply calls more tools than any reply may'],
};

/** The fault of a call that we ended. */
export function ownFault(end: OwnEnd, message: string = OWN_ENDS[end][1]): ModelFault {
  return faultOf(OWN_ENDS[end][0], end, message);
}

/** What should not happen: a defect of ours, or of the library. */
export function internalFault(error: unknown): ModelFault {
  return faultOf('nonsense', 'internal', reasonOf(error));
}

/**
 * The fault of a call that the provider or the transport ended. `now` is the instant that a
 * `Retry-After` in seconds counts from.
 */
export function foreignFault(record: WireRecord, end: LibraryEnd, now: Instant): ModelFault {
  const { failure, status } = record;
  if (failure?.stage === 'connect') return connectFault(failure.error);
  if (status !== null && (status < 200 || status >= 300)) return statusFault(record, status, now);
  if (record.isUnreadable) {
    return faultOf('nonsense', 'unreadable', 'neither an event stream nor a reply as JSON');
  }
  return streamFault(record, end);
}

/** Takes secrets, line breaks and length from a text that somebody else wrote. */
export function clean(text: string, mask: (text: string) => string): string {
  const masked = mask(text).replaceAll(/\bBearer\s+[\w.~+/*=-]+/gi, `Bearer ${REDACTED}`);
  const line = masked.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return line.slice(0, MESSAGE_CHARS_MAX);
}

function connectFault(error: unknown): ModelFault {
  const isNoHttp = codeOf(error).startsWith('HPE_');
  return isNoHttp
    ? faultOf('nonsense', 'unreadable', reasonOf(error))
    : faultOf('transient', 'connect', reasonOf(error));
}

function statusFault(record: WireRecord, status: number, now: Instant): ModelFault {
  const isPassing = status >= 500 || PASSING_STATUSES.has(status);
  const said = errorIn(record.errorText)?.message ?? record.errorText;
  return {
    ...faultOf(isPassing ? 'transient' : 'refused', `http_${status}`, `HTTP ${status}: ${said}`),
    retryAt: isPassing ? retryAtOf(record.retryAfter, now) : null,
  };
}

function finishFault(finish: string): ModelFault {
  const isRefusal = finish === 'content_filter';
  const code = CODE.test(finish) ? finish : 'finish';
  return faultOf(isRefusal ? 'refused' : 'transient', code, `the provider ended with ${finish}`);
}

/** A stream that ended in an error: one inside it, a bad finish, broken off or never begun. */
function streamFault(record: WireRecord, end: LibraryEnd): ModelFault {
  const inside = errorInside(record.lastPiece);
  if (inside !== undefined) return insideFault(inside);
  if (end.finish !== undefined) return finishFault(end.finish);
  if (record.failure !== null) {
    return faultOf('transient', 'cut_stream', reasonOf(record.failure.error));
  }
  if (/malformed|JSON/.test(end.message)) return faultOf('nonsense', 'unreadable', end.message);
  return end.hasBegun
    ? faultOf('transient', 'cut_stream', 'the stream ended without a finish')
    : faultOf('transient', 'empty', 'the stream carried nothing');
}

function insideFault(error: ProviderError): ModelFault {
  const { status } = error;
  const isPermanent = status !== null && status < 500 && !PASSING_STATUSES.has(status);
  const code = status === null ? 'stream_error' : `http_${status}`;
  return faultOf(isPermanent ? 'refused' : 'transient', code, error.message);
}

interface ProviderError {
  readonly message: string;
  /** The HTTP status that it names, when it does. */
  readonly status: number | null;
}

function errorInside(piece: Uint8Array | null): ProviderError | undefined {
  if (piece === null) return undefined;
  const lines = new TextDecoder().decode(piece).split(/\r?\n/).toReversed();
  return lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => errorIn(line.slice('data:'.length)))
    .find((error) => error !== undefined);
}

function errorIn(text: string): ProviderError | undefined {
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { error } = parsed.value;
  if (typeof error === 'string') return { message: error, status: null };
  if (!isObject(error)) return undefined;
  const message = typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error);
  return { message, status: statusIn(error['status']) ?? statusIn(error['code']) };
}

function statusIn(value: Json | undefined): number | null {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : null;
}

/** Seconds or an HTTP date; null when it says neither. Never before `now`. */
function retryAtOf(value: string | null, now: Instant): Instant | null {
  if (value === null) return null;
  const seconds = Number(value);
  const at = Number.isFinite(seconds) ? now + seconds * SECOND : Date.parse(value);
  return Number.isFinite(at) ? Math.max(now, Math.round(at)) : null;
}

function faultOf(kind: ModelFault['class'], code: string, message: string): ModelFault {
  return { kind: 'fault', class: kind, code, message, retryAt: null, usage: null };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = codeOf(cause);
  return cause.message.includes(code) ? cause.message : `${code} ${cause.message}`;
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  return typeof code === 'string' ? code : '';
}
