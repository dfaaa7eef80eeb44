// Queries past the adapter, quick enough to be asked between any two steps.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

export interface Rows<T> {
  /** Every row under the names of its record. */
  readonly all: (...values: readonly SQLInputValue[]) => T[];
  readonly first: (...values: readonly SQLInputValue[]) => T | undefined;
  /** The first column of every row. */
  firstColumn(...values: readonly SQLInputValue[]): readonly SQLOutputValue[];
  /** Whether there is a row. */
  some(...values: readonly SQLInputValue[]): boolean;
}

/** Statements stay prepared as long as their database, which outlives most worlds. */
const kept = new WeakMap<DatabaseSync, Map<string, Rows<unknown>>>();

export function rowsOf<T>(db: DatabaseSync, sql: string): Rows<T> {
  let statements = kept.get(db);
  if (statements === undefined) {
    statements = new Map();
    kept.set(db, statements);
  }
  let rows = statements.get(sql);
  if (rows === undefined) {
    rows = prepared(db.prepare(sql));
    statements.set(sql, rows);
  }
  return rows as Rows<T>;
}

function prepared(statement: StatementSync): Rows<unknown> {
  // Lists are twice as quick to make as the binding's objects, and a record copied from a blank has a shape.
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => camelCase(name));
  const blank: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]));
  const record = (given: unknown): unknown => {
    const values = given as readonly unknown[];
    const made = { ...blank };
    for (let place = 0; place < names.length; place += 1) {
      const name = names[place];
      if (name !== undefined) made[name] = values[place];
    }
    return made;
  };
  const list = (values: readonly SQLInputValue[]): readonly unknown[] => statement.all(...values);
  return {
    all: (...values) => list(values).map(record),
    first: (...values) => {
      const found = statement.get(...values);
      return found === undefined ? undefined : record(found);
    },
    firstColumn: (...values) =>
      list(values).map((one) => (one as readonly SQLOutputValue[])[0] ?? null),
    some: (...values) => statement.get(...values) !== undefined,
  };
}

function camelCase(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
