// The same script on both stores leaves the same rows and answers every read alike.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIGRATIONS, sqlOf } from '../../src/adapters/store/migrations.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { SqliteStore } from '../../src/adapters/store/sqlite/group.ts';
import { openHandle } from '../../src/adapters/store/sqlite/handle.ts';
import { FIELDS } from '../../src/adapters/store/tables.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Store, UnitReads } from '../../src/ports/store.ts';
import { plain } from '../../src/testing/store-calls.ts';
import { dump, type Dump } from '../../src/testing/store-dump.ts';
import { startPostgres } from '../support/postgres.ts';
import { allReads } from '../support/store-reads.ts';
import { scripts, type ScriptedUnit } from '../support/store-scripts.ts';

const RUNS = 500;
const clock = { now: () => 1_234_567 };
const ids: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(0, 1)}` };
const EMPTY = Object.keys(FIELDS).map((table) => `delete from ${table}`);

interface Side {
  readonly store: Store & Parameters<typeof dump>[0];
  empty(): unknown;
}

/** What a script did, in a form that two stores can be compared by. */
interface Course {
  readonly outcomes: readonly unknown[];
  readonly tables: Dump;
  readonly answers: readonly unknown[];
}

function sqliteSide(): Side {
  const db = new DatabaseSync(':memory:');
  for (const migration of MIGRATIONS) for (const sql of sqlOf(migration, 'sqlite')) db.exec(sql);
  const store = new SqliteStore(openHandle(db), {
    clock,
    ids,
    traits: { exclusive: false, description: 'memory' },
    defer: setImmediate,
    onClose: () => undefined,
  });
  return { store, empty: () => db.exec(EMPTY.join(';')) };
}

async function course(side: Side, script: readonly ScriptedUnit[]): Promise<Course> {
  await side.empty();
  const outcomes: unknown[] = [];
  for (const { reads, writes } of script) {
    const named: UnitReads = Object.fromEntries(reads.map((call, place) => [`r${place}`, call]));
    const unit = {
      name: 'test.script',
      reads: named,
      decide: (rows: unknown) => ({ verdict: plain(rows), writes }),
    };
    outcomes.push(await side.store.commit(unit));
  }
  const answers: unknown[] = [];
  // A third of the reads, another one for the next script: all of them would take a minute.
  const third = script.length % 3;
  for (const call of allReads().filter((_, place) => place % 3 === third)) {
    answers.push([call.read, plain((await side.store.query(call.read, call.args)) ?? null)]);
  }
  return { outcomes, tables: await dump(side.store), answers };
}

test(`${RUNS} scripts leave equal rows on SQLite and PostgreSQL`, async (t) => {
  const server = await startPostgres();
  const url = await server.freshUrl();
  const postgres = await openPostgres({ url, ids, testClock: clock });
  t.after(async () => {
    await postgres.close();
    await server.stop();
  });
  const right: Side = { store: postgres, empty: () => server.empty(url, Object.keys(FIELDS)) };
  const left = sqliteSide();
  const seen = { done: 0, lost: 0, rows: 0 };
  const property = fc.asyncProperty(scripts, async (script) => {
    const [one, two] = [await course(left, script), await course(right, script)];
    assert.deepEqual(two, one);
    for (const outcome of one.outcomes) seen[(outcome as { kind: 'done' | 'lost' }).kind] += 1;
    for (const rows of Object.values(one.tables)) seen.rows += rows.length;
  });
  await fc.assert(property, { numRuns: RUNS });
  t.diagnostic(JSON.stringify(seen));
  assert.ok(seen.done > RUNS && seen.lost > RUNS && seen.rows > RUNS, 'the scripts do something');
});
