import { isObject, parseJson, type JsonObject } from '../../kernel/json.ts';
import { cutText } from '../../kernel/printable.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** What an assessment call came to, before it is recorded. */
export type Assessed =
  | { readonly outcome: 'continue' | 'end' | 'inconclusive'; readonly reason: string }
  /** `code`: what was wrong; `said`: the provider's own words, for people alone. */
  | { readonly outcome: 'failed' | 'invalid'; readonly code: string; readonly said: string };

const VERDICTS = ['continue', 'end', 'inconclusive'] as const;

/** The shape of the answer (surface: model calls). */
export const ASSESSMENT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: VERDICTS },
    reason: { type: 'string' },
  },
  required: ['verdict', 'reason'],
  additionalProperties: false,
};

/** Reads an answer; whatever is not exactly of the shape is `invalid` and uses its attempt. */
export function readVerdict(text: string, wasCut: boolean): Assessed {
  if (wasCut) return invalid('cut_off');
  if (text.trim() === '') return invalid('empty');
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok) return invalid(parsed.problem);
  if (!isObject(parsed.value)) return invalid('not_schema');
  const { verdict, reason, ...rest } = parsed.value;
  if (typeof reason !== 'string' || Object.keys(rest).length > 0) return invalid('not_schema');
  const outcome = VERDICTS.find((known) => known === verdict);
  if (outcome === undefined)
    return invalid(typeof verdict === 'string' ? 'unknown_verdict' : 'not_schema');
  return { outcome, reason: cutText(reason.trim(), LIMITS.recoveryReasonChars) };
}

function invalid(code: string): Assessed {
  return { outcome: 'invalid', code, said: '' };
}
