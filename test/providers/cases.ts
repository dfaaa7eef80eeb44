// Everything that a provider can do wrong, and what it has to come to.
import { HOUR, SECOND, type Instant, type Millis } from '../../src/kernel/time.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { NEVER, type Wrong } from './provider.ts';

/** What a fault comes to when no other model answers. */
export type Comes =
  /** May pass (T-18): `at`, in seconds, when the first model is called; `over`, when it has used its tries up. */
  | {
      readonly to: 'provider';
      readonly code: string;
      readonly at: readonly number[];
      readonly over: number;
      /** The tries were used up before a named instant, which holds for the whole account. */
      readonly holdsAccount?: true;
    }
  /** Is for good (T-12), for the whole account or for this model or request. */
  | { readonly to: 'refused'; readonly code: string; readonly of: 'account' | 'call' }
  /** Names an instant that is far away (T-12). */
  | { readonly to: 'quota'; readonly inMs: Millis }
  /** Is an answer, and none that can be read (T-8). */
  | { readonly to: 'no_outcome' };

export interface Case {
  readonly what: string;
  readonly wrong: (now: Instant) => Wrong;
  readonly comes: Comes;
  /** False when its calls never arrive. */
  readonly isHeard?: false;
}

const DOUBLING = [0, 1, 3, 7, 15, 31];

function passes(what: string, wrong: Wrong, code: string): Case {
  return { what, wrong: () => wrong, comes: { to: 'provider', code, at: DOUBLING, over: 31 } };
}

/** Each try takes so long, and the pauses come on top. */
function stalls(what: string, wrong: Wrong, seconds: number): Case {
  const at = DOUBLING.map((pause, index) => pause + index * seconds);
  const over = (at.at(-1) ?? 0) + seconds;
  return { what, wrong: () => wrong, comes: { to: 'provider', code: 'timeout', at, over } };
}

function refuses(what: string, wrong: ModelAnswer, code: string, of: 'account' | 'call'): Case {
  return { what, wrong: () => wrong, comes: { to: 'refused', code, of } };
}

function limits(what: string, headers: (now: Instant) => Record<string, string>, comes: Comes) {
  return { what, wrong: (now: Instant) => fails(429, headers(now)), comes };
}

function nonsense(what: string, contentType: string, body: string): Case {
  return {
    what,
    wrong: () => ({ kind: 'raw', contentType, body }),
    comes: { to: 'no_outcome' },
  };
}

const LIMITED = { to: 'provider', code: 'http_429', at: DOUBLING, over: 31 } as const;
/** Named anew by each answer. */
const NEAR = { ...LIMITED, at: [0, 20, 40, 60, 80, 100], over: 100, holdsAccount: true } as const;
const AT_THE_BOUND = { ...NEAR, at: [0, 60, 120, 180, 240, 300], over: 300 } as const;
/** Once it has come it names nothing any more. */
const NEAR_DATE = { ...LIMITED, at: [0, 20, 22, 26, 34, 50], over: 50 } as const;
const FAR = { to: 'quota', inMs: 5 * HOUR } as const;

/** A date as HTTP has it: whole seconds. */
function dateIn(now: Instant, ms: Millis): string {
  return new Date(now + ms).toUTCString();
}

const EVENTS = 'text/event-stream';
const PAGE = '<!doctype html><html><title>Log in to the network</title></html>';

export const CASES: readonly Case[] = [
  limits('429 without an instant', () => ({}), LIMITED),
  limits('429 for 20 s', () => ({ 'retry-after': '20' }), NEAR),
  limits('429 for 60 s', () => ({ 'retry-after': '60' }), AT_THE_BOUND),
  limits(
    '429 until a near date',
    (now) => ({ 'retry-after': dateIn(now, 20 * SECOND) }),
    NEAR_DATE,
  ),
  limits('429 for 5 h', () => ({ 'retry-after': String(5 * 3_600) }), FAR),
  limits('429 until a far date', (now) => ({ 'retry-after': dateIn(now, 5 * HOUR) }), FAR),
  limits('429 until a date in the past', (now) => ({ 'retry-after': dateIn(now, -HOUR) }), LIMITED),
  limits('429 for 0 s', () => ({ 'retry-after': '0' }), LIMITED),
  refuses('401', fails(401), 'http_401', 'account'),
  refuses('402', fails(402), 'http_402', 'account'),
  refuses('403', fails(403), 'http_403', 'account'),
  refuses('404 of the model', fails(404), 'http_404', 'call'),
  refuses('400, the input refused', fails(400), 'http_400', 'call'),
  refuses(
    '429 of an empty account',
    fails(429, { 'retry-after': '20' }, '{"error":{"code":"insufficient_quota","message":"no"}}'),
    'insufficient_quota',
    'account',
  ),
  ...[408, 500, 502, 503, 529].map((status) =>
    passes(String(status), fails(status), `http_${status}`),
  ),
  passes('503 for 5 h', fails(503, { 'retry-after': '18000' }), 'http_503'),
  { ...passes('connection refused', 'nobody there', 'connect'), isHeard: false },
  passes('reset before the headers', { kind: 'reset' }, 'connect'),
  passes(
    'reset after the headers',
    { kind: 'raw', contentType: EVENTS, body: '', end: 'reset' },
    'cut_stream',
  ),
  passes('reset in the middle', says(['half', ' of it'], { end: 'reset' }), 'cut_stream'),
  passes('cut stream', says(['half', ' of it'], { end: 'cut' }), 'cut_stream'),
  passes('empty stream', { kind: 'raw', contentType: EVENTS, body: '' }, 'empty'),
  stalls('stall without a first token', { kind: 'stall' }, 120),
  stalls('stall in the middle', says(['half', ' of it'], { between: NEVER }), 600),
  nonsense('nonsense body', EVENTS, 'event: message_start\ndata: {"choices": oops\n\n'),
  nonsense('wrong content type', 'text/html', PAGE),
  nonsense('a document that is no reply', 'application/json', '{"hello":"world"}'),
];
