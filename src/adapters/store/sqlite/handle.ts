import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ReadName, Write, WriteName } from '../../../ports/store.ts';
import { catalogue } from '../catalogue.ts';
import { valueOf, type Call, type Prepared, type Statement } from '../statement.ts';

/** One row by its columns' names. */
export type Row = Readonly<Record<string, unknown>>;
export type Control = 'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'undo';

/** All that a group of units needs of a database; a test may stand between. */
export interface Handle {
  readonly inTransaction: boolean;
  control(step: Control): void;
  /** The rows of a read as its port types them. */
  read(name: ReadName, args: Call): unknown;
  /** Whether the write changed a row: false is a lost race. */
  write(write: Write): boolean;
  inspect(sql: string): readonly Row[];
  close(): void;
}

const CONTROLS: Readonly<Record<Control, string>> = {
  begin: 'begin immediate',
  commit: 'commit',
  rollback: 'rollback',
  savepoint: 'savepoint unit',
  release: 'release unit',
  undo: 'rollback to unit',
};

/** A statement that stays prepared, with room for its parameters that each call fills anew. */
interface Kept {
  readonly statement: StatementSync;
  readonly sources: Statement['sources'];
  readonly values: SQLInputValue[];
}
interface KeptQuery<K extends Kept = Kept> {
  readonly kept: K;
  readonly cases: readonly { when(call: Call): boolean; readonly kept: K }[];
}
/** One that gives its rows as lists of values. */
interface KeptRead extends Kept {
  readonly columns: readonly string[];
  /** A row without its values. */
  readonly blank: Row;
}

/** Prepares every statement once, so that a schema that does not fit them shows at the start. */
export function openHandle(db: DatabaseSync): Handle {
  const { reads, writes } = catalogue('sqlite');
  const readers = new Map<ReadName, KeptQuery<KeptRead> & { readonly gives: 'one' | 'many' }>();
  for (const [name, read] of Object.entries(reads)) {
    const query = keep(read, (statement) => keptRead(db, statement));
    readers.set(name as ReadName, { ...query, gives: read.gives });
  }
  const writers = new Map<WriteName, KeptQuery>();
  for (const [name, write] of Object.entries(writes)) {
    writers.set(
      name as WriteName,
      keep(write, (statement) => keptOne(db, statement)),
    );
  }
  const controls = new Map<Control, StatementSync>();
  for (const [step, sql] of Object.entries(CONTROLS))
    controls.set(step as Control, db.prepare(sql));
  return {
    get inTransaction() {
      return db.isTransaction;
    },
    control: (step) => void known(controls, step).run(),
    read(name, args) {
      const reader = known(readers, name);
      const kept = filled(reader, args);
      if (reader.gives === 'many')
        return kept.statement.all(...kept.values).map((values) => rowOf(kept, values));
      const values = kept.statement.get(...kept.values);
      return values === undefined ? undefined : rowOf(kept, values);
    },
    write(write) {
      const kept = filled(known(writers, write.write), write);
      return kept.statement.run(...kept.values).changes !== 0;
    },
    inspect: (sql) => inspect(db, sql),
    close: () => db.close(),
  };
}

function keep<K extends Kept>(prepared: Prepared, kept: (statement: Statement) => K): KeptQuery<K> {
  return {
    kept: kept(prepared.statement),
    cases: prepared.cases.map((one) => ({
      when: (call) => one.when(call),
      kept: kept(one.statement),
    })),
  };
}

function keptOne(db: DatabaseSync, { sql, sources }: Statement): Kept {
  return { statement: db.prepare(sql), sources, values: sources.map(() => null) };
}

function keptRead(db: DatabaseSync, from: Statement): KeptRead {
  const kept = keptOne(db, from);
  kept.statement.setReturnArrays(true);
  const columns = kept.statement.columns().map(({ name }) => name);
  return { ...kept, columns, blank: Object.fromEntries(columns.map((name) => [name, null])) };
}

/**
 * The row of these values. The objects that SQLite's binding makes have no shape: one takes twice as long
 * to make, and a record that is copied from one takes a hundred times as long as from this.
 */
function rowOf({ columns, blank }: KeptRead, values: unknown): Row {
  const row: Record<string, unknown> = { ...blank };
  const list = values as readonly unknown[];
  for (let place = 0; place < columns.length; place += 1) {
    const name = columns[place];
    if (name !== undefined) row[name] = list[place];
  }
  return row;
}

/** The statement for this call with the call's parameters in their places. */
function filled<K extends Kept>(query: KeptQuery<K>, call: Call): K {
  let kept = query.kept;
  for (const one of query.cases) {
    if (!one.when(call)) continue;
    kept = one.kept;
    break;
  }
  for (let place = 0; place < kept.sources.length; place += 1) {
    const source = kept.sources[place];
    if (source !== undefined) kept.values[place] = valueOf(source, call) as SQLInputValue;
  }
  return kept;
}

function known<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new TypeError(`the store knows no ${String(key)}`);
  return value;
}

/** An operator's or a test's own query; it cannot write. */
function inspect(db: DatabaseSync, sql: string): readonly Row[] {
  db.exec('pragma query_only = on');
  try {
    return db.prepare(sql).all();
  } finally {
    db.exec('pragma query_only = off');
  }
}
