// A read or a write is built once with kysely, with a placeholder where a call's argument goes, and
// kept as SQL text with the way from a call to its parameters. Nothing is built while the host works.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
  type Dialect,
} from 'kysely';
import { invariant } from '../../kernel/invariant.ts';
import type { ReadName, Reads, Write, WriteName } from '../../ports/store.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
export type DialectName = 'sqlite' | 'postgres';

type ReadArgs<N extends ReadName> = Reads[N]['args'];
type WriteCall<W extends WriteName> = Extract<Write, { readonly write: W }>;
type Built<N extends ReadName> = Reads[N]['rows'] extends readonly (infer Row)[]
  ? Compilable<Row>
  : Compilable<NonNullable<Reads[N]['rows']>>;

/** A statement for the calls that a condition picks, where another index serves them. */
interface ReadCase<N extends ReadName> {
  when(args: ReadArgs<N>): boolean;
  build(db: Db, arg: ReadArgs<N>): Built<N>;
}
export interface ReadDefinition<N extends ReadName> {
  readonly gives: Reads[N]['rows'] extends readonly unknown[] ? 'many' : 'one';
  /** `arg` holds placeholders, not values: it may be handed to the builder and nowhere else. */
  build(db: Db, arg: ReadArgs<N>): Built<N>;
  /** Looked through in order before `build`. */
  readonly cases?: readonly ReadCase<N>[];
}
/** A definition for each read of a room and for nothing else. */
export type ReadDefinitions<R> = { readonly [N in keyof R & ReadName]: ReadDefinition<N> };

interface WriteCase<W extends WriteName> {
  when(call: WriteCall<W>): boolean;
  build(db: Db, arg: WriteCall<W>): Compilable;
}
export interface WriteDefinition<W extends WriteName> {
  /** Its guard is its `where`: a statement that changes no row is a lost race. */
  build(db: Db, arg: WriteCall<W>): Compilable;
  readonly cases?: readonly WriteCase<W>[];
}
/** A definition for each write of a room and for nothing else. */
export type WriteDefinitions<W extends Write> = {
  readonly [N in W['write']]: WriteDefinition<N>;
};

/** One SQL text and where its parameters come from, in their order. */
export interface Statement {
  readonly sql: string;
  readonly sources: readonly Source[];
}
/** A parameter is a key of the call, or of the row that the call carries. */
interface Source {
  readonly key: string;
  readonly of: 'call' | 'row';
}
/** A call as the executors see it. */
export type Call = Readonly<Record<string, unknown>>;
/** What a call runs: the statement of the first case that picks it, else `statement`. */
export interface Prepared {
  readonly name: string;
  readonly statement: Statement;
  readonly cases: readonly { when(call: Call): boolean; readonly statement: Statement }[];
}
export interface PreparedRead extends Prepared {
  readonly gives: 'one' | 'many';
}

class Placeholder {
  readonly source: Source;
  constructor(source: Source) {
    this.source = source;
  }
}

/** Answers every key with a placeholder, so that a builder can be handed it in place of a call. */
function placeholders(of: Source['of']): object {
  return new Proxy(
    {},
    {
      get: (_target, key) =>
        of === 'call' && key === 'row'
          ? placeholders('row')
          : new Placeholder({ key: String(key), of }),
    },
  );
}

interface AnyDefinition {
  build(db: Db, arg: never): Compilable;
  readonly cases?: readonly {
    when(call: never): boolean;
    build(db: Db, arg: never): Compilable;
  }[];
}

/** Compiles one definition. Throws `InvariantBroken` when a literal slipped into its parameters. */
export function prepare(db: Db, name: string, definition: AnyDefinition): Prepared {
  const compiled = (build: AnyDefinition['build']): Statement => {
    const query = build(db, placeholders('call') as never).compile();
    const sources = query.parameters.map((value) => sourceOf(name, value));
    return { sql: unpeeked(query.sql), sources };
  };
  return {
    name,
    statement: compiled((on, arg) => definition.build(on, arg)),
    cases: (definition.cases ?? []).map((one) => ({
      when: (call) => one.when(call as never),
      statement: compiled((on, arg) => one.build(on, arg)),
    })),
  };
}

/**
 * SQLite looks at a variable behind `limit` while it plans, so that each new value would have the kept
 * statement prepared anew, thirty times the cost of running it. It does not look into an expression.
 */
function unpeeked(text: string): string {
  return text.replaceAll(/ limit \?/g, ' limit ? + 0');
}

function sourceOf(name: string, value: unknown): Source {
  // As a parameter a literal would hide the partial index that it asks for.
  invariant(value instanceof Placeholder, `${name}: literals are written with sql.lit`);
  return value.source;
}

/** The statement that serves this call. */
export function pick(prepared: Prepared, call: Call): Statement {
  for (const one of prepared.cases) if (one.when(call)) return one.statement;
  return prepared.statement;
}

/**
 * The value of a parameter in this call. Neither database keeps half a surrogate pair and PostgreSQL
 * keeps no character 0: both become U+FFFD, in what is written and in what is looked for alike.
 * Throws a `TypeError` for a value that the call lacks.
 */
export function valueOf(source: Source, call: Call): unknown {
  const from = source.of === 'row' ? (call['row'] as Call | undefined) : call;
  const value = from?.[source.key];
  if (value === undefined) throw new TypeError(`a statement needs ${source.of}.${source.key}`);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

/** A builder that compiles and never runs. */
export function builder(dialect: DialectName): Db {
  return new Kysely<Tables>({ dialect: dialect === 'sqlite' ? SQLITE : POSTGRES });
}

const SQLITE: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};
const POSTGRES: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
