/** A store that answers a query in SQL: both bundled ones do. */
export interface Inspectable {
  inspect(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}
export type Row = Record<string, unknown>;
export type Dump = Readonly<Record<string, readonly Row[]>>;

/** Every table of records with the columns that its rows are ordered by. */
const ORDER = {
  host: 'id',
  conversation: 'id',
  session: 'id',
  message: 'conversation_id, seq',
  idempotency: 'scope',
  task: 'id',
  turn: 'id',
  step: 'conversation_id, seq, turn_id',
  event: 'conversation_id, seq',
  outbox: 'conversation_id, seq',
  run: 'id',
  approval: 'id',
  limiter: 'account',
  audit: 'seq',
  receipt: 'scope',
  execution: 'id',
  boundary: 'id',
  storm: 'id',
  report: 'id',
  operation: 'id',
} as const;

/** All rows of all tables in a fixed order, as plain objects with the tables' own column names. */
export async function dump(store: Inspectable): Promise<Dump> {
  const tables: [string, Row[]][] = [];
  for (const [table, order] of Object.entries(ORDER)) {
    const rows = await store.inspect(`select * from ${table} order by ${order}`);
    tables.push([table, rows.map((row) => ({ ...row }))]);
  }
  return Object.fromEntries(tables);
}
