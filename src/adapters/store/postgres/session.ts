import type { PoolClient } from 'pg';
import { Fault } from '../../../kernel/fault.ts';
import type { ReadName, Write } from '../../../ports/store.ts';
import { catalogue } from '../catalogue.ts';
import { storeFault } from '../fault.ts';
import { pick, valueOf, type Call, type Prepared } from '../statement.ts';

export type Row = Readonly<Record<string, unknown>>;

/** The rows that a unit works on: locked before anything else is read, so that what follows holds. */
export const LOCKS: ReadonlySet<ReadName> = new Set<ReadName>([
  'conversation.byId',
  'conversation.byAddress',
  'boundary.conversations',
]);

/**
 * Refuses a connection to a server that only reads, or whose commits would not be durable; run once on each.
 * Throws the `Fault` `disconnected`, since a standby may be promoted and an address may move, or
 * `store_unsafe` that names the setting.
 */
export async function assertFit(client: Pick<PoolClient, 'query'>): Promise<void> {
  const { rows } = await client.query<Fitness>(FITNESS);
  const [found] = rows;
  if (found?.is_standby === true)
    throw storeFault('disconnected', 'The PostgreSQL server is a standby: it only reads.');
  for (const setting of ['synchronous_commit', 'fsync'] as const) {
    if (found?.[setting] !== 'off') continue;
    throw new Fault(
      'store_unsafe',
      'stop',
      `The store would not be durable: ${setting} is off on the PostgreSQL server.`,
    );
  }
}

interface Fitness {
  readonly is_standby: boolean;
  readonly synchronous_commit: string;
  readonly fsync: string;
}
const FITNESS = `select pg_is_in_recovery() as is_standby,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync`;

interface Query {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The rows of a read as its port types them; with `lock`, nobody else changes them until the end. */
export async function runRead(
  client: Pick<PoolClient, 'query'>,
  name: ReadName,
  call: { readonly args: Call; readonly lock: boolean },
): Promise<unknown> {
  const read = catalogue('postgres').reads[name];
  const query = queryOf(read, call.args);
  const { rows } = await client.query<Row>(
    call.lock ? { ...query, name: `${query.name}!`, text: `${query.text} for update` } : query,
  );
  return read.gives === 'one' ? rows[0] : rows;
}

/** Whether the write changed a row: false is a lost race. */
export async function runWrite(client: Pick<PoolClient, 'query'>, write: Write): Promise<boolean> {
  const query = queryOf(catalogue('postgres').writes[write.write], write);
  return (await client.query(query)).rowCount !== 0;
}

function queryOf(prepared: Prepared, call: Call): Query {
  const statement = pick(prepared, call);
  const place = prepared.cases.findIndex((one) => one.statement === statement) + 1;
  return {
    // A name stands for one text on a connection and makes it prepared.
    name: place === 0 ? prepared.name : `${prepared.name}#${place}`,
    text: statement.sql,
    values: statement.sources.map((source) => valueOf(source, call)),
  };
}
