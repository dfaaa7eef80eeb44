import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { printableJson } from '../../kernel/printable.ts';
import { readInstant } from '../../kernel/time.ts';
import { hasKind, laterFields } from './earlier.ts';
import { fieldProblem, type AnyField } from './field.ts';
import {
  ARCHIVE_KINDS,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type Archived,
  type ArchiveEnd,
  type ArchiveHeader,
  type ArchiveKind,
} from './record.ts';
import { ARCHIVE_SHAPES } from './shape.ts';

/** A line holds its kind and one record, whose fields hold no further data. */
const LINE_DEPTH_MAX = 3;

/** A line of an export without its end: JSON that steers no terminal. */
export function writeLine(line: ArchiveHeader | Archived | ArchiveEnd): string {
  return printableJson(JSON.stringify(line));
}

/** What is wrong with a line, as a sentence. */
export interface LineProblem {
  readonly problem: string;
}

/** The first line of an export; `isOther` for what was never one. */
export function readHeader(
  text: string,
): ArchiveHeader | (LineProblem & { readonly isOther: boolean }) {
  const parsed = parseJson(text, LINE_DEPTH_MAX);
  if (!parsed.ok || !isObject(parsed.value) || parsed.value['format'] !== EXPORT_FORMAT) {
    const problem = `This is no export: the first line of one says "format":"${EXPORT_FORMAT}".`;
    return { problem, isOther: true };
  }
  const { version } = parsed.value;
  if (typeof version === 'number' && version > EXPORT_VERSION) {
    const known = `this program reads versions up to ${EXPORT_VERSION}`;
    const problem = `The export has version ${version} and ${known}; import it with a newer one.`;
    return { problem, isOther: false };
  }
  const problem = headerProblem(parsed.value);
  if (problem !== undefined) return { problem, isOther: false };
  return parsed.value as unknown as ArchiveHeader;
}

const HEADER_FIELDS = ['format', 'version', 'schema', 'exportedAt', 'product'];

function headerProblem(header: JsonObject): string | undefined {
  const odd = oddName(header, HEADER_FIELDS);
  if (odd !== undefined) return `The first line ${odd}.`;
  const { version, schema, exportedAt, product } = header;
  if (!isCount(version) || version === 0)
    return `There is no version ${JSON.stringify(version)} of exports.`;
  if (!isCount(schema)) return 'The schema of the first line has to be a whole number from 0.';
  const isInstant = typeof exportedAt === 'string' && readInstant(exportedAt) !== undefined;
  if (!isInstant) return 'The field exportedAt of the first line has to be an instant.';
  return typeof product === 'string'
    ? undefined
    : 'The product of the first line has to be a text.';
}

/**
 * A later line of a file of this version: a record whose every field may hold what it holds, or the end.
 * A record of an earlier version is given as one of this one.
 */
export function readLine(text: string, version: number): Archived | ArchiveEnd | LineProblem {
  const parsed = parseJson(text, LINE_DEPTH_MAX);
  if (!parsed.ok) {
    const problem = {
      not_json: 'The line is no JSON.',
      too_deep: 'The line is nested deeper than a record is.',
      forbidden_key: 'The line holds a key that could reach a prototype.',
    }[parsed.problem];
    return { problem };
  }
  const line = parsed.value;
  if (!isObject(line)) return { problem: 'The line is no JSON object.' };
  return line['kind'] === 'end' ? readEnd(line) : readRecord(line, version);
}

function readEnd(line: JsonObject): ArchiveEnd | LineProblem {
  const odd = oddName(line, ['kind', 'records', 'sha256']);
  if (odd !== undefined) return { problem: `The last line ${odd}.` };
  const isWhole = isCount(line['records']) && typeof line['sha256'] === 'string';
  return isWhole
    ? (line as unknown as ArchiveEnd)
    : { problem: 'The last line has to hold the count of records and their SHA-256.' };
}

function readRecord(line: JsonObject, version: number): Archived | LineProblem {
  const { kind, record } = line;
  if (!isKind(kind) || !hasKind(version, kind))
    return { problem: `There is no kind ${named(kind)} of records.` };
  const odd = oddName(line, ['kind', 'record']);
  if (odd !== undefined) return { problem: `The line ${odd}.` };
  if (!isObject(record)) return { problem: 'The record has to be an object.' };
  const later = laterFields(version, kind);
  const problem = recordProblem(kind, record, later);
  if (problem !== undefined) return { problem };
  return { kind, record: { ...record, ...later } } as unknown as Archived;
}

function recordProblem(
  kind: ArchiveKind,
  record: JsonObject,
  later: JsonObject,
): string | undefined {
  const shape: Readonly<Record<string, AnyField>> = ARCHIVE_SHAPES[kind];
  const fields = Object.entries(shape).filter(([name]) => !Object.hasOwn(later, name));
  const odd = oddName(
    record,
    fields.map(([name]) => name),
  );
  if (odd !== undefined) return `The ${kind} ${odd}.`;
  for (const [name, field] of fields) {
    const problem = fieldProblem(field, record[name]);
    if (problem !== undefined) return `The field ${name} of the ${kind} ${problem}.`;
  }
  return undefined;
}

/** What is there and should not be, or the other way round, as the end of a sentence. */
function oddName(found: JsonObject, wanted: readonly string[]): string | undefined {
  const lacking = wanted.find((name) => !Object.hasOwn(found, name));
  if (lacking !== undefined) return `lacks the field ${lacking}`;
  const names = Object.keys(found);
  if (names.length === wanted.length) return undefined;
  const unknown = names.find((name) => !wanted.includes(name));
  return `has the unknown field ${named(unknown)}`;
}

function isKind(kind: Json | undefined): kind is ArchiveKind {
  return typeof kind === 'string' && (ARCHIVE_KINDS as readonly string[]).includes(kind);
}

function isCount(value: Json | undefined): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

const NAMED_CHARS_MAX = 60;

/** Somebody else's word in a sentence of ours: short, and as JSON. */
function named(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > NAMED_CHARS_MAX ? `${text.slice(0, NAMED_CHARS_MAX)}…` : text;
}
