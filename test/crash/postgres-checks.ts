// What must hold of a store that two hosts shared, read once they have ended.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import pg from 'pg';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { hostName } from '../../src/kernel/principal.ts';
import { dumper, type Dump } from '../simulation/dump.ts';
import { checkStore, type KillTally } from './kill-checks.ts';
import type { Witness } from './kill-load.ts';

/** Holds the shared store against what the outside saw. Throws an `AssertionError` at the first breach. */
export async function checkShared(url: string, witness: Witness): Promise<KillTally> {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-copy-'));
  try {
    const db = await copyToSqlite(url, folder);
    const dump = dumper(db).read();
    db.close();
    assert.deepEqual(judgeFencing(dump), []);
    return checkStore(folder, witness);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same rows in a file of SQLite, so that one set of checks serves both stores. */
async function copyToSqlite(url: string, folder: string): Promise<DatabaseSync> {
  mkdirSync(join(folder, 'data'));
  const path = join(folder, 'data/sekisho.db');
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  await openSqlite({ path, clock, ids }).close();
  const db = new DatabaseSync(path);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = db.prepare(`select name from sqlite_schema where type = 'table'
      and name not like 'sqlite_%' and name <> 'migration'`);
    for (const { name } of tables.all()) await copyTable(client, db, String(name));
  } finally {
    await client.end();
  }
  return db;
}

async function copyTable(client: pg.Client, db: DatabaseSync, table: string): Promise<void> {
  const { rows, fields } = await client.query<Record<string, SQLInputValue>>(
    `select * from "${table}"`,
  );
  const names = fields.map(({ name }) => name);
  const columns = names.map((name) => `"${name}"`).join();
  const places = names.map(() => '?').join();
  const insert = db.prepare(`insert into "${table}" (${columns}) values (${places})`);
  db.exec('begin');
  for (const row of rows) insert.run(...names.map((name) => numeric(fields, name, row[name])));
  db.exec('commit');
}

const INT8 = 20;

/** Whole numbers come as text: no column of ours exceeds 2^53. */
function numeric(
  fields: readonly pg.FieldDef[],
  name: string,
  value: SQLInputValue | undefined,
): SQLInputValue {
  const isInt8 = fields.find((field) => field.name === name)?.dataTypeID === INT8;
  return value === undefined || value === null ? null : isInt8 ? Number(value) : value;
}

/**
 * V19 and L-2: turns of a conversation follow one another under rising tokens, and what stands between the
 * first and the last event of a turn was written by the host that had it.
 */
export function judgeFencing(dump: Dump): readonly string[] {
  const ended = dump.events.filter(({ type }) => type === 'turn.ended');
  const ends: Ends = new Map(ended.map((one) => [one.turnId ?? '', one]));
  return [...judgeTokens(dump, ends), ...judgeEvents(dump, ends), ...judgeSteps(dump, ends)];
}

type Ends = ReadonlyMap<string, Pick<EventRecord, 'seq' | 'by'>>;

function judgeTokens(dump: Dump, ends: Ends): readonly string[] {
  const problems: string[] = [];
  const last = new Map<string, { readonly token: number; readonly end: number }>();
  for (const { id, conversationId, token, firstSeq } of dump.turns) {
    const before = last.get(conversationId) ?? { token: 0, end: 0 };
    if (token <= before.token) problems.push(`V19 ${id} has the token of one before it`);
    if (firstSeq <= before.end) problems.push(`V3 ${id} began before the one before it ended`);
    last.set(conversationId, { token, end: ends.get(id)?.seq ?? Infinity });
  }
  return problems;
}

function judgeEvents(dump: Dump, ends: Ends): readonly string[] {
  const problems: string[] = [];
  const turns = new Map<string, TurnRecord>(dump.turns.map((turn) => [turn.id, turn]));
  for (const { type, turnId, by, seq } of dump.events) {
    const turn = turns.get(turnId ?? '');
    if (turn === undefined || !BY_HOST.has(type)) continue;
    if (by !== hostName(turn.hostId)) problems.push(`L-2 ${type} of ${turn.id} is by ${by}`);
    if (seq > (ends.get(turn.id)?.seq ?? Infinity))
      problems.push(`V19 ${type} of ${turn.id} after its end`);
  }
  return problems;
}

function judgeSteps(dump: Dump, ends: Ends): readonly string[] {
  return dump.steps
    .filter(({ seq, finishedSeq, turnId }) => {
      const end = ends.get(turnId)?.seq ?? Infinity;
      return seq > end || (finishedSeq ?? 0) > end;
    })
    .map(({ id, turnId }) => `V19 the step ${id} of ${turnId} was written after its end`);
}

/** What only the host that has the turn may write of it. */
const BY_HOST: ReadonlySet<string> = new Set(['turn.started', 'turn.continued', 'model.selected']);
