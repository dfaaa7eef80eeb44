import type { Engine } from '../engine/engine.ts';
import { Fault, refuse, REFUSALS, type Refusal, type RefusalCode } from '../kernel/fault.ts';
import { renderRefusal } from '../text/render.ts';
import type { ProblemReply } from '../wire/problem.ts';

/** Every code that the door itself answers, with its status and title (surface: codes). */
const CODES = {
  bad_json: [400, 'The body is not the JSON that it claims to be'],
  bad_request: [400, 'The request cannot be read'],
  unknown_event: [400, 'No event has this id'],
  unauthorized: [401, 'A valid key is needed'],
  forbidden: [403, 'This is not allowed'],
  not_found: [404, 'Nothing is here'],
  method_not_allowed: [405, 'The method does not fit'],
  timeout: [408, 'The request took too long'],
  too_large: [413, 'The body is too large'],
  unsupported_type: [415, 'The body has a type that is not read here'],
  expectation_failed: [417, 'The expectation cannot be met'],
  invalid: [422, 'The body does not have the right shape'],
  slow_down: [429, 'Too much at once'],
  headers_too_large: [431, 'The headers are too large'],
  internal: [500, 'Something broke here'],
  draining: [503, 'The host is shutting down'],
  store_failed: [503, 'The store does not answer'],
  disk_full: [507, 'The disk of the store is full'],
} as const;
export type ProblemCode = keyof typeof CODES;

const REFUSAL_STATUS: Partial<Record<RefusalCode, number>> = {
  not_found: 404,
  not_a_task: 404,
  forbidden: 403,
  draining: 503,
  store_failed: 503,
  disk_full: 507,
};

/** After how many seconds a caller may try again what failed for the moment. */
const RETRY_SECONDS: Partial<Record<string, number>> = {
  slow_down: 1,
  draining: 5,
  store_failed: 5,
  disk_full: 30,
};

export interface ProblemExtra {
  readonly detail?: string;
  readonly errors?: ProblemReply['errors'];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is not the wanted one: thrown inside the door and written by `problemResponse`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly body: ProblemReply;
  readonly headers: Readonly<Record<string, string>>;
  constructor(body: ProblemReply, headers: Readonly<Record<string, string>> = {}) {
    super(body.code);
    this.body = body;
    const retry = RETRY_SECONDS[body.code];
    this.headers = retry === undefined ? headers : { 'Retry-After': String(retry), ...headers };
  }
}

/** A problem of the door's own. `detail` is for people and never holds what a secret could stand in. */
export function problem(code: ProblemCode, extra: ProblemExtra = {}): Problem {
  const [status, title] = CODES[code];
  const { detail = `${title}.`, errors, headers } = extra;
  const body = { type: 'about:blank' as const, title, status, code, detail };
  return new Problem(errors === undefined ? body : { ...body, errors }, headers);
}

/** The engine's "no" with its own code, said in the host's language; 409 unless the surface says otherwise. */
export function refusalProblem({ parts }: Engine, { code, detail }: Refusal): Problem {
  const { locale, timeZone } = parts.options;
  return new Problem({
    type: 'about:blank',
    title: sentence(REFUSALS[code]),
    status: REFUSAL_STATUS[code] ?? 409,
    code,
    detail: renderRefusal({ locale, timeZone }, code, detail, parts.clock.now()),
  });
}

/** A receipt that was used for this very order: what it came to then stands in the problem (M-7). */
export function receiptProblem(engine: Engine, outcome: object): Problem {
  const { body } = refusalProblem(engine, refuse('receipt_used'));
  const said = { title: RECEIPT_TITLE, detail: RECEIPT_REPEATED };
  return new Problem({ ...body, ...said, outcome: { ...outcome } });
}

const RECEIPT_TITLE = 'This receipt was used for this order';
const RECEIPT_REPEATED =
  'This order was given before with this receipt, so nothing more was done; its outcome is here.';

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Store faults by what a caller can do; what they say of paths and SQL stays in the log. */
const FAULT_CODE: Readonly<Record<string, ProblemCode>> = {
  busy: 'store_failed',
  disconnected: 'store_failed',
  unknown: 'store_failed',
  io: 'store_failed',
  read_only: 'store_failed',
  corrupt: 'store_failed',
  closed: 'store_failed',
  disk_full: 'disk_full',
};

/** The problem that whatever was thrown comes to; what a surprise says is never shown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const code = thrown instanceof Fault ? FAULT_CODE[thrown.code] : undefined;
  return problem(code ?? 'internal');
}

export function problemResponse({ body, headers }: Problem): Response {
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
  });
}
