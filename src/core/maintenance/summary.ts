import { isObject, parseJson, readObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { OperationFault } from './decide.ts';
import type { OperationWork, SessionSeed, StandingCondition } from './record.ts';
import type { Reported } from './size.ts';

/** The shape of the answer (surface: model calls). */
export const SUMMARY_SCHEMA: JsonObject = {
  type: 'object',
  properties: { summary: { type: 'string' } },
  required: ['summary'],
  additionalProperties: false,
};

/** What the answer of a summary call came to. */
export type ReadSummary =
  | { readonly kind: 'summary'; readonly summary: string }
  /** `code`: what was wrong; `said`: nothing of the answer is quoted. */
  | { readonly kind: 'invalid'; readonly code: string; readonly said: string };

/**
 * Reads an answer. What is not exactly of the shape is `invalid`: `cut_off`, `empty`, `not_json`,
 * `too_deep`, `forbidden_key`, `not_schema` or `summary_missing`.
 */
export function readSummary(text: string, isCut: boolean): ReadSummary {
  if (isCut) return invalid('cut_off');
  if (text.trim() === '') return invalid('empty');
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok) return invalid(parsed.problem);
  if (!isObject(parsed.value)) return invalid('not_schema');
  const { summary, ...rest } = parsed.value;
  if (summary === undefined) return invalid('summary_missing');
  if (typeof summary !== 'string' || Object.keys(rest).length > 0) return invalid('not_schema');
  return { kind: 'summary', summary: summary.trim().toWellFormed() };
}

function invalid(code: string): ReadSummary {
  return { kind: 'invalid', code, said: '' };
}

/** What is wrong with a summary before it is used (M-14); undefined when nothing is. `charsMax` in characters. */
export function judgeSummary(
  summary: string,
  { charsMax }: { readonly charsMax: number },
): OperationFault | undefined {
  if (summary.trim() === '') return { code: 'summary_empty', said: '' };
  if (summary.length <= charsMax) return undefined;
  return { code: 'summary_too_long', said: `${summary.length} characters of at most ${charsMax}` };
}

/** The seed that a session keeps; null where it keeps none, or one that cannot be read. */
export function readSeed(json: string | null): SessionSeed | null {
  const { summary, conditions, sinceSeq, reported, window } = readObject(json);
  if (typeof summary !== 'string') return null;
  return {
    summary,
    conditions: readConditions(conditions),
    sinceSeq: typeof sinceSeq === 'number' ? sinceSeq : 0,
    reported: readReported(reported),
    ...(typeof window === 'number' && window > 0 ? { window } : {}),
  };
}

function readReported(value: Json | undefined): Reported | null {
  if (value === undefined || !isObject(value)) return null;
  const { tokens, chars } = value;
  return typeof tokens === 'number' && typeof chars === 'number' ? { tokens, chars } : null;
}

export function writeSeed({
  summary,
  conditions,
  sinceSeq,
  reported,
  window,
}: SessionSeed): string {
  return JSON.stringify({ summary, conditions, sinceSeq, reported, window });
}

/** How far the summary of an operation has come; null where it has not begun, or where that cannot be read. */
export function readWork(json: string | null): OperationWork | null {
  const { cutSeq, doneSeq, summary, conditions } = readObject(json);
  if (typeof cutSeq !== 'number' || typeof doneSeq !== 'number') return null;
  if (typeof summary !== 'string') return null;
  return { cutSeq, doneSeq, summary, conditions: readConditions(conditions) };
}

export function writeWork(work: OperationWork): string {
  return JSON.stringify(work);
}

function readConditions(value: Json | undefined): readonly StandingCondition[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one: Json) => isObject(one)).flatMap(readCondition);
}

function readCondition({ at, text }: JsonObject): readonly StandingCondition[] {
  return typeof at === 'number' && typeof text === 'string' ? [{ at, text }] : [];
}
