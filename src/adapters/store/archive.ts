// Whole tables, read and written by their fields: no statement here serves a host at work.
import type { Archived, ArchiveKind } from '../../core/archive/record.ts';
import { columnOf, FIELDS } from './tables.ts';

/** What the rows of each kind are ordered by, so that the same records always make the same file. */
const ORDER: Readonly<Record<ArchiveKind, readonly string[]>> = {
  conversation: ['id'],
  session: ['id'],
  operation: ['id'],
  task: ['id'],
  run: ['id'],
  turn: ['id'],
  message: ['conversation_id', 'seq'],
  step: ['turn_id', 'seq'],
  event: ['conversation_id', 'seq'],
  approval: ['id'],
  outbox: ['conversation_id', 'seq'],
  execution: ['id'],
  receipt: ['scope'],
  audit: ['seq'],
};

export const SCHEMA_SQL = 'select max(number) as schema from migration';
export const LAST_ENTRY_SQL = `select ${columnsOf('audit')} from audit order by seq desc limit 1`;

export function selectSql(kind: ArchiveKind): string {
  return `select ${columnsOf(kind)} from ${kind} order by ${ORDER[kind].join(', ')}`;
}

/** Inserts `rows` rows at once; `parameter` writes the placeholder of a place. */
export function insertSql(
  kind: ArchiveKind,
  rows: number,
  parameter: (place: number) => string,
): string {
  const width = FIELDS[kind].length;
  const values = Array.from({ length: rows }, (_, row) => {
    const places = Array.from({ length: width }, (__, field) => parameter(row * width + field));
    return `(${places.join(', ')})`;
  });
  return `insert into ${kind} (${columnsOf(kind)}) values ${values.join(', ')}`;
}

function columnsOf(kind: ArchiveKind): string {
  const fields: readonly string[] = FIELDS[kind];
  return fields.map((field) => `"${columnOf(field)}"`).join(', ');
}

/** The record of a row whose values stand in the order of its fields. */
export function recordOf(kind: ArchiveKind, values: readonly unknown[]): Archived {
  const fields: readonly string[] = FIELDS[kind];
  const record: Record<string, unknown> = {};
  for (let place = 0; place < fields.length; place += 1) {
    const field = fields[place];
    if (field !== undefined) record[field] = values[place];
  }
  return { kind, record } as unknown as Archived;
}

/** The values of a record in the order of its fields. */
export function valuesOf<V>({ kind, record }: Archived): V[] {
  const values = record as unknown as Readonly<Record<string, V>>;
  const fields: readonly string[] = FIELDS[kind];
  return fields.map((field) => values[field] as V);
}

/** Records of one kind each, in their order: the runs of a list. */
export function runsOf(records: readonly Archived[]): readonly (readonly Archived[])[] {
  const runs: Archived[][] = [];
  for (const one of records) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === one.kind) last.push(one);
    else runs.push([one]);
  }
  return runs;
}
