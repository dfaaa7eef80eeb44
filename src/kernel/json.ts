import { LIMITS } from './limits.ts';

/** Plain data that JSON can carry. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** True for an object that is no list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonProblem = 'not_json' | 'too_deep' | 'forbidden_key';

/**
 * Parses text that somebody else wrote. Depth is bounded and a key that could reach a prototype
 * refuses the whole document instead of being stripped (X-9).
 */
export function parseJson(
  text: string,
  depthMax: number,
):
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: JsonProblem } {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return { ok: false, problem: 'not_json' };
  }
  const problem = problemOf(value, depthMax);
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}

function problemOf(value: Json, depthLeft: number): JsonProblem | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (depthLeft === 0) return 'too_deep';
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key) && !Array.isArray(value)) return 'forbidden_key';
    const problem = problemOf(inner, depthLeft - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The JSON object that a record keeps; empty where it keeps none, or what this version cannot read. */
export function readObject(text: string | null): JsonObject {
  const parsed = parseJson(text ?? '{}', LIMITS.jsonDepthMax);
  return parsed.ok && isObject(parsed.value) ? parsed.value : {};
}

/** JSON with its keys sorted at every depth: equal data gives equal text, so it can be hashed. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((inner: Json) => canonicalJson(inner)).join(',')}]`;
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}
