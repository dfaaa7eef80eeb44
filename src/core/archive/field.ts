import { isId, type Id, type IdKind } from '../../kernel/ids.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ArchiveKind } from './record.ts';

type FieldType =
  /** Words of people, models and tools: masked on the way out. `most`: so many characters. */
  | { readonly is: 'text'; readonly most: number | null }
  /** A text that is one JSON object: masked on the way out. */
  | { readonly is: 'json' }
  /** A code of the product; older versions had others. */
  | { readonly is: 'code' }
  | { readonly is: 'hash' }
  /** A whole number from this one up to `WHOLE_MAX`. */
  | { readonly is: 'whole'; readonly from: 0 | 1 }
  /** Milliseconds since the epoch, up to `INSTANT_MAX`. */
  | { readonly is: 'instant' }
  /** `to`: the record that it names has to be in the file. */
  | { readonly is: 'id'; readonly of: IdKind; readonly to: ArchiveKind | null }
  | { readonly is: 'one'; readonly of: readonly string[] };

/** What a field of a record may hold. `gives` is never there: it ties the field to its type. */
export type Field<V> = FieldType & {
  readonly orNull: boolean;
  readonly gives?: (value: V) => V;
};
export type AnyField = FieldType & { readonly orNull: boolean };

export const text: Field<string> = { is: 'text', most: null, orNull: false };
/** A text that records are looked up by: no store indexes a long one. */
export const name: Field<string> = { is: 'text', most: 400, orNull: false };
export const json: Field<string> = { is: 'json', orNull: false };
export const hash: Field<string> = { is: 'hash', orNull: false };
export const whole: Field<number> = { is: 'whole', from: 0, orNull: false };
/** A place, a version or a token: what counts from one. */
export const ordinal: Field<number> = { is: 'whole', from: 1, orNull: false };
export const instant: Field<number> = { is: 'instant', orNull: false };

export function code<V extends string = string>(): Field<V> {
  return { is: 'code', orNull: false };
}

export function oneOf<const L extends readonly string[]>(...of: L): Field<L[number]> {
  return { is: 'one', of, orNull: false };
}

/** One of the states of a table of moves. */
export function stateOf<M extends object>(moves: M): Field<keyof M & string> {
  return { is: 'one', of: Object.keys(moves), orNull: false };
}

/** An id of something that need not be in the file. */
export function id<K extends IdKind>(of: K): Field<Id<K>> {
  return { is: 'id', of, to: null, orNull: false };
}

/** The id of a record of the file. */
export function ref<K extends IdKind & ArchiveKind>(of: K): Field<Id<K>> {
  return { is: 'id', of, to: of, orNull: false };
}

/** As `id`, where the record types it as a text. */
export function idText(of: IdKind): Field<string> {
  return { is: 'id', of, to: null, orNull: false };
}

/** As `ref`, where the record types it as a text. */
export function refText(of: IdKind & ArchiveKind): Field<string> {
  return { is: 'id', of, to: of, orNull: false };
}

/** The id of a step, which is the id of the event of its start. */
export const stepRef: Field<string> = { is: 'id', of: 'event', to: 'step', orNull: false };

export function orNull<V>(field: Field<V>): Field<V | null> {
  return { ...field, orNull: true } as Field<V | null>;
}

/** What is added to one of these, and sums of them, are whole numbers that every store and reader can hold. */
export const WHOLE_MAX = 1_000_000_000_000_000;
/** The last instant that is written with a year of four digits. */
export const INSTANT_MAX = 253_402_300_799_999;

const FORMS: Partial<
  Record<AnyField['is'], { readonly pattern: RegExp; readonly problem: string }>
> = {
  code: { pattern: /^[a-z][a-z0-9_.-]{0,99}$/i, problem: 'has to be a code' },
  hash: { pattern: /^[0-9a-f]{64}$/, problem: 'has to be a SHA-256 as lower-case hex' },
};

/** What is wrong with a value, as the end of a sentence that begins with the field; undefined when nothing is. */
export function fieldProblem(field: AnyField, value: unknown): string | undefined {
  if (value === null) return field.orNull ? undefined : 'may not be null';
  if (field.is === 'whole') return wholeProblem(value, field.from, WHOLE_MAX);
  if (field.is === 'instant') return wholeProblem(value, 0, INSTANT_MAX);
  if (typeof value !== 'string') return 'has to be a text';
  if (!value.isWellFormed() || value.includes('\0')) {
    return 'holds a character that no store keeps';
  }
  return textProblem(field, value);
}

function wholeProblem(value: unknown, from: number, most: number): string | undefined {
  const fits = Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= most;
  return fits ? undefined : `has to be a whole number from ${from} to ${most}`;
}

function textProblem(field: AnyField, value: string): string | undefined {
  if (field.is === 'id') {
    return isId(field.of, value) ? undefined : `has to be the id of a ${field.to ?? field.of}`;
  }
  if (field.is === 'one') {
    return field.of.includes(value) ? undefined : `has to be one of ${field.of.join(', ')}`;
  }
  if (field.is === 'json') return jsonProblem(value);
  if (field.is === 'text') return lengthProblem(value, field.most);
  const form = FORMS[field.is];
  return form === undefined || form.pattern.test(value) ? undefined : form.problem;
}

function lengthProblem(value: string, most: number | null): string | undefined {
  return most !== null && value.length > most
    ? `has to have at most ${most} characters`
    : undefined;
}

/** The depth that the door grants to what callers send, and the keys that it refuses. */
function jsonProblem(value: string): string | undefined {
  const parsed = parseJson(value, LIMITS.jsonDepthMax);
  if (parsed.ok && isObject(parsed.value)) return undefined;
  const problem = parsed.ok ? 'not_json' : parsed.problem;
  return {
    not_json: 'has to be the text of a JSON object',
    too_deep: `is nested deeper than ${LIMITS.jsonDepthMax}`,
    forbidden_key: 'holds a key that could reach a prototype',
  }[problem];
}
