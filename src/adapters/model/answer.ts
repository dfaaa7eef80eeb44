import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelOutcome, ModelRequest } from '../../ports/model.ts';
import type { Answer } from './format.ts';

/** Local servers leave the thoughts of a model in its text. */
const THOUGHTS = /^\s*<think>[^]*?<\/think>/;

/** The request with its shape in words: for servers that know no field for it. */
export function shapeInWords({ answer, ...request }: ModelRequest): ModelRequest {
  if (answer === undefined) return request;
  const wish =
    'Answer with one JSON document alone, without any other word or mark around it. ' +
    `It must fit this JSON Schema:\n${JSON.stringify(answer.schema)}`;
  return { ...request, system: request.system === '' ? wish : `${request.system}\n\n${wish}` };
}

/** The JSON document in a text: models like to wrap it. The text as it is when there is none. */
export function answerIn(whole: string): string {
  const text = whole.replace(THOUGHTS, '');
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  const inner = start < 0 || end < start ? '' : text.slice(start, end + 1);
  return parseJson(inner, LIMITS.jsonDepthMax).ok ? inner : whole;
}

/**
 * True when a server refused the request for its shape, as far as anyone can tell: the status of bad
 * input, and no code that blames something else. Asking once more is all that hangs on it.
 */
export function isRejectedShape(outcome: ModelOutcome): boolean {
  return outcome.kind === 'fault' && (outcome.code === 'http_400' || outcome.code === 'http_422');
}

/** True when every object in a schema names all of its keys: only then may it be asked for strictly. */
function isClosed(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isObject(schema)) return true;
  return isClosedHere(schema) && Object.values(schema).every(isClosed);
}

function isClosedHere({ properties, required, additionalProperties }: JsonObject): boolean {
  if (!isObject(properties)) return true;
  const named: readonly Json[] = Array.isArray(required) ? required : [];
  const isWhole = Object.keys(properties).every((name) => named.includes(name));
  return isWhole && additionalProperties === false;
}

/** What OpenAI and those who follow it call it. */
export function responseFormat({ name, schema }: Answer): JsonObject {
  const strict = isClosed(schema) ? { strict: true } : {};
  return { response_format: { type: 'json_schema', json_schema: { name, schema, ...strict } } };
}
