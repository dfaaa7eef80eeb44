import type { z } from 'zod';
import type { Idempotency } from '../engine/engine.ts';
import { canonicalJson, parseJson, type Json } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { NothingBody } from '../wire/shape.ts';
import { demandJson, hasBody, readBody, type SocketEnv } from './bounds.ts';
import type { Door, Route } from './call.ts';
import { problem } from './problems.ts';

/** The query of a request, with every parameter known and given once; throws `bad_request`. */
export function askQuery({ query }: Route, url: string): unknown {
  const at = url.indexOf('?');
  if (at === -1 && query === undefined) return {};
  const given = at === -1 ? [] : [...new URLSearchParams(url.slice(at + 1))];
  const names = new Set(given.map(([name]) => name));
  if (names.size < given.length) {
    throw problem('bad_request', { detail: 'A query parameter stands twice.' });
  }
  const parsed = (query ?? NothingBody).safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const told = errorsOf(parsed.error).map(({ path, message }) => `${path}: ${message}`);
  throw problem('bad_request', { detail: told.join('; ') });
}

export interface AskedBody {
  readonly body: unknown;
  readonly canonical: string;
}

/** The body of a request in the shape of its route; throws what refuse. */
export async function askBody(line: Route, request: Request, env: SocketEnv): Promise<AskedBody> {
  if (line.body === undefined) return { body: undefined, canonical: '' };
  const isAbsent = line.isBodyOptional === true && !hasBody(request, env);
  const value = isAbsent ? {} : await readJson(request, env);
  const parsed = line.body.safeParse(value);
  if (!parsed.success) throw problem('invalid', { errors: errorsOf(parsed.error) });
  return { body: parsed.data, canonical: line.isIdempotent ? canonicalJson(value) : '' };
}

async function readJson(request: Request, env: SocketEnv): Promise<Json> {
  demandJson(request);
  const parsed = parseJson(await readBody(request, env), LIMITS.jsonDepthMax);
  if (parsed.ok) return parsed.value;
  const why = {
    not_json: 'The body is not JSON.',
    too_deep: `The body is nested deeper than ${LIMITS.jsonDepthMax}.`,
    forbidden_key: 'The body has a key that is never taken.',
  };
  throw problem('bad_json', { detail: why[parsed.problem] });
}

/**
 * Where a body is wrong, each with a path like `metadata.a` and never with the value. A name that the
 * caller chose is cut: a megabyte of it would come back as a megabyte.
 */
function errorsOf({ issues }: z.ZodError): { path: string; message: string }[] {
  const errors = issues.slice(0, ERRORS_TOLD).flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') {
      return [{ path: cut(path.join('.')), message: cut(issue.message) }];
    }
    return issue.keys
      .slice(0, ERRORS_TOLD)
      .map((key) => ({ path: cut([...path, key].join('.')), message: 'no such field' }));
  });
  return errors.slice(0, ERRORS_TOLD);
}

function cut(text: string): string {
  if (text.length <= ERROR_CHARS) return text;
  return `${text.slice(0, ERROR_CHARS).toWellFormed()}…`;
}

const ERRORS_TOLD = 20;
const ERROR_CHARS = 200;

/** The `Idempotency-Key` with the digest of what was asked; throws `bad_request`. */
export function askIdempotency(
  door: Door,
  request: Request,
  content: string,
): Idempotency | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    const detail = 'Idempotency-Key has 1 to 255 visible characters.';
    throw problem('bad_request', { detail });
  }
  return { key, fingerprint: door.engine.parts.digest(content) };
}
