import { REDACTED } from '../../kernel/redact.ts';
import type { Instant } from '../../kernel/time.ts';
import type { ModelFault } from '../../ports/model.ts';
import { errorIn, errorInside, type ProviderError } from './provider-error.ts';
import { retryAtOf } from './retry-at.ts';
import { CONTEXT_TOO_LONG, isContextTooLong } from './too-long.ts';
import type { WireRecord } from './wire.ts';

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
/** Statuses below 500 that may pass; every other one is permanent. 498 is one provider's "busy". */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429, 498]);
const SCOPES_OF_STATUS: Readonly<Record<number, ModelFault['scope']>> = {
  401: 'account',
  402: 'account',
  403: 'account',
  404: 'model',
};
/** Codes that say more than the status they come with. */
const TELLING_CODES: ReadonlyMap<string, NonNullable<ModelFault['scope']>> = new Map([
  ...[
    'insufficient_quota',
    'insufficient_balance',
    'insufficient_credits',
    'exceeded_current_quota_error',
    'billing_hard_limit_reached',
    'billing_not_active',
    'account_deactivated',
    'invalid_api_key',
    'api_key_invalid',
  ].map((code) => [code, 'account'] as const),
  ...[
    'model_not_found',
    'model_not_available',
    'model_decommissioned',
    'model_deprecated',
    'invalid_model',
    'deploymentnotfound',
  ].map((code) => [code, 'model'] as const),
  ...['content_filter', 'content_policy_violation'].map((code) => [code, 'request'] as const),
]);
/** Words for "I will not answer this". */
const REFUSING_FINISHES: ReadonlySet<string> = new Set(['content_filter', 'refusal', 'sensitive']);
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
  return streamFault(record, end, now);
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
  const error = errorIn(record.errorText);
  const message = `HTTP ${status}: ${error?.message ?? record.errorText}`;
  return withInstant(judged(status, error, message), { record, error, status, now });
}

/**
 * What a failure is, by its status and codes (INC-074): some codes tell more than their status, as an
 * empty account that is answered like a limit. A request that is too long has one code, whoever says it.
 */
function judged(
  status: number | null,
  error: ProviderError | undefined,
  message: string,
): ModelFault {
  if (isContextTooLong(status, error)) return refusal(CONTEXT_TOO_LONG, message, 'request');
  const telling = error?.codes.find((code) => TELLING_CODES.has(code));
  const scope = telling === undefined ? undefined : TELLING_CODES.get(telling);
  const told = status === null ? undefined : SCOPES_OF_STATUS[status];
  if (telling !== undefined && scope !== told) return refusal(telling, message, scope);
  if (status === null) return faultOf('transient', 'stream_error', message);
  const code = `http_${status}`;
  if (status >= 500 || PASSING_STATUSES.has(status)) return faultOf('transient', code, message);
  return refusal(code, message, SCOPES_OF_STATUS[status]);
}

function refusal(
  code: string,
  message: string,
  scope: ModelFault['scope'] = 'request',
): ModelFault {
  return { ...faultOf('refused', code, message), scope };
}

/** Only of a limit: an overload that names an instant is still no quota. */
function withInstant(
  fault: ModelFault,
  said: {
    readonly record: WireRecord;
    readonly error: ProviderError | undefined;
    readonly status: number | null;
    readonly now: Instant;
  },
): ModelFault {
  if (said.status !== 429 || fault.class !== 'transient') return fault;
  const { header } = said.record;
  return { ...fault, retryAt: retryAtOf({ header, fields: said.error?.fields }, said.now) };
}

function finishFault(finish: string): ModelFault {
  const code = CODE.test(finish) ? finish : 'finish';
  const message = `the provider ended with ${finish}`;
  return REFUSING_FINISHES.has(finish)
    ? refusal(code, message)
    : faultOf('transient', code, message);
}

/** A stream that ended in an error: one inside it, a bad finish, broken off or never begun. */
function streamFault(record: WireRecord, end: LibraryEnd, now: Instant): ModelFault {
  const inside = errorInside(record.lastPiece) ?? errorIn(end.message);
  if (inside !== undefined) {
    const { status } = inside;
    const fault = judged(status, inside, inside.message);
    return withInstant(fault, { record, error: inside, status, now });
  }
  if (end.finish !== undefined) return finishFault(end.finish);
  if (record.failure !== null) {
    return faultOf('transient', 'cut_stream', reasonOf(record.failure.error));
  }
  if (/malformed|JSON/.test(end.message)) return faultOf('nonsense', 'unreadable', end.message);
  return end.hasBegun
    ? faultOf('transient', 'cut_stream', 'the stream ended without a finish')
    : faultOf('transient', 'empty', 'the stream carried nothing');
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
