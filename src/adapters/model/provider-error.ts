import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** What a provider said about a failure, in the fields that it has for that. */
export interface ProviderError {
  /** For people: nothing is concluded from it (INC-074) but that a request is too long, where no code says anything. */
  readonly message: string;
  /** The HTTP status that it names, or that its type stands for. */
  readonly status: number | null;
  /** Its codes and types, most exact first. */
  readonly codes: readonly string[];
  /** The error object itself. */
  readonly fields: JsonObject;
  /** What whom it asked said, of a provider that only passes it on. */
  readonly inner?: ProviderError | undefined;
}

/** What the error types of a stream would have been as a status, had the answer not begun. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The error that a body is; undefined when it is none that can be read. */
export function errorIn(text: string): ProviderError | undefined {
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok) return undefined;
  // One provider sends its error in a list.
  const whole = Array.isArray(parsed.value) ? parsed.value[0] : parsed.value;
  if (!isObject(whole)) return undefined;
  const { error } = whole;
  // Some servers send the error without anything around it.
  if (whole['object'] === 'error') return errorOf(whole);
  if (typeof error === 'string') {
    return { message: error, status: null, codes: textsOf([whole['code']]), fields: whole };
  }
  return isObject(error) ? errorOf(error) : undefined;
}

/** The error that an event of a stream is, looked for from the end of what came last. */
export function errorInside(piece: Uint8Array | null): ProviderError | undefined {
  if (piece === null) return undefined;
  const lines = new TextDecoder().decode(piece).split(/\r?\n/).toReversed();
  return lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => errorIn(line.slice('data:'.length)))
    .find((error) => error !== undefined);
}

function errorOf(error: JsonObject): ProviderError {
  const codes = textsOf([error['code'], error['type'], error['status'], ...reasonsOf(error)]);
  const named = statusIn(error['status']) ?? statusIn(error['code']);
  const meant = codes.map((code) => STATUS_OF_TYPE[code]).find((status) => status !== undefined);
  const message = typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error);
  const inner = passedOn(error);
  return { message, status: named ?? meant ?? null, codes, fields: error, inner };
}

/** `metadata: { raw: '{"error": …}' }`. */
function passedOn({ metadata }: JsonObject): ProviderError | undefined {
  const raw = isObject(metadata) ? metadata['raw'] : undefined;
  if (raw === undefined) return undefined;
  return errorIn(typeof raw === 'string' ? raw : JSON.stringify(raw));
}

/** `details: [{ reason: 'API_KEY_INVALID' }]`. */
function reasonsOf({ details }: JsonObject): (Json | undefined)[] {
  const list = Array.isArray(details) ? details : [];
  return list.map((detail) => (isObject(detail) ? detail['reason'] : undefined));
}

function textsOf(values: readonly (Json | undefined)[]): string[] {
  return values.filter((value) => typeof value === 'string').map((text) => text.toLowerCase());
}

function statusIn(value: Json | undefined): number | null {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : null;
}
