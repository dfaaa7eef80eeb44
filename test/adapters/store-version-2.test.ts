// What becomes of the rows of a store that a host of version 2 wrote.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import { field, mustPut, read } from '../../src/testing/store-calls.ts';
import { dump, type Dump, type Row } from '../../src/testing/store-dump.ts';
import { ABOVE_ALL, idOf } from '../../src/testing/store-rows.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { assertKept, schemaOf, sidesOf, VERSION_2_ROWS } from './store-earlier.ts';

const VERSION_2 = MIGRATIONS.slice(0, 2);

const cut = VERSION_2_ROWS['task']?.find((row) => row['wait_kind'] === 'assessment') ?? {};
/** Tasks that version 2 could write and its host in the fixture did not, made of one that was cut. */
const OTHERS: readonly Row[] = [
  { state: 'paused', reason: 'paused', wait_kind: null },
  { state: 'expired', reason: 'deadline_passed', wait_kind: null, ended_at: 5 },
  { state: 'blocked', reason: null, wait_kind: null },
].map((over, place) => ({ ...cut, id: idOf('task', place + 1), ...over }));
const ROWS: Dump = { ...VERSION_2_ROWS, task: [...(VERSION_2_ROWS['task'] ?? []), ...OTHERS] };

const ADDED: Readonly<Record<string, readonly string[]>> = {
  host: ['end'],
  conversation: ['fence', 'operation_id'],
  session: ['previous_id', 'next_id', 'cut_seq', 'compactions', 'seed'],
  task: ['order_at', 'recovery_state', 'recovery_outcome', 'recovery_granted_at'],
};

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

for (const side of sidesOf(() => server, VERSION_2)) {
  describe(`a store of version 2 on ${side.dialect}`, () => {
    test('becomes what a new one is, its planner’s numbers included', async (t) => {
      const migrated = await side.open(t, ROWS);
      const fresh = await side.open(t, {}, []);
      const schema = await schemaOf(migrated, side.dialect);
      assert.ok(schema.length > 60);
      assert.deepEqual(schema, await schemaOf(fresh, side.dialect));
      if (side.dialect === 'postgres') return;
      const stats = 'select * from sqlite_stat1 order by tbl, idx';
      const expected = await fresh.inspect(stats);
      assert.deepEqual(await migrated.inspect(stats), expected);
      const indexes = await fresh.inspect(
        `select name from sqlite_schema where type = 'index' and tbl_name in ('task', 'turn', 'execution')`,
      );
      const known = new Set(expected.map((row) => row['idx']));
      // The steps of a table without rowids have their key's numbers under the table's own name.
      const unknown = field(indexes as { name: string }[], 'name').filter((one) => !known.has(one));
      assert.deepEqual(
        unknown.filter((name) => !name.startsWith('sqlite_autoindex_turn')),
        [],
        'an index that the planner is told nothing of',
      );
    });

    test('keeps every value of every row', async (t) => {
      const looked = assertKept(await dump(await side.open(t, ROWS)), ROWS, ADDED);
      assert.ok(looked > 250, `${looked} rows`);
    });

    test('says of each task whether it needs its assessment, and of none that it had one', async (t) => {
      const store = await side.open(t, ROWS);
      const args = { state: '', enrollment: '', conversationId: '', before: ABOVE_ALL, limit: 99 };
      const tasks = await read(store, 'task.list', args);
      assert.equal(tasks.length, ROWS['task']?.length);
      for (const task of tasks) {
        const isCut = task.state === 'waiting' && task.waitKind === 'assessment';
        assert.equal(task.recoveryState, isCut ? 'needed' : 'none', task.id);
        const rest = [task.orderAt, task.recoveryOutcome, task.recoveryGrantedAt];
        assert.deepEqual(rest, [null, null, null]);
      }
      const due = await read(store, 'task.assessable', { now: 0, attempts: 3, limit: 9 });
      const said = due.map((task) => task.mandateText);
      assert.deepEqual(said, ['hold the payment', 'hold on'], 'of one instant, so by their ids');
      assert.deepEqual(await read(store, 'recovery.standing', {}), { interrupted: 2, held: 0 });
      const silent = await read(store, 'task.silent', { limit: 9 });
      assert.deepEqual(field(silent, 'id'), [idOf('task', 3)]);
    });

    test('knows of no host how it ended: none of them begins a storm', async (t) => {
      const store = await side.open(t, ROWS);
      const hosts = await read(store, 'host.list', { limit: 9 });
      const ends = hosts.map(({ stoppedAt, end }) => [stoppedAt === null, end]);
      assert.deepEqual(ends, [
        [true, null],
        [false, 'clean'],
        [false, 'clean'],
      ]);
      assert.deepEqual(await read(store, 'host.lostSince', { since: 0, limit: 9 }), []);
    });

    test('has no unmarked records, workers, storms or reports', async (t) => {
      const store = await side.open(t, ROWS);
      const tables = await dump(store);
      for (const table of ['execution', 'boundary', 'storm', 'report']) {
        assert.deepEqual(tables[table], [], table);
      }
      assert.deepEqual(await read(store, 'boundary.tasks', { limit: 9 }), []);
    });

    test('goes on: what was cut is assessed', async (t) => {
      const store = await side.open(t, ROWS);
      const [task] = await read(store, 'task.assessable', { now: 0, attempts: 3, limit: 1 });
      assert.ok(task !== undefined);
      const row = {
        ...task,
        version: task.version + 1,
        recoveryAttempts: 1,
        recoveryNextAt: 60_000,
        recoveryOutcome: 'reserved',
      } as const;
      await mustPut(store, { write: 'task.save', row });
      assert.deepEqual(await read(store, 'task.byId', { id: task.id }), row);
      assert.deepEqual(await read(store, 'task.nextAssessment', {}), { at: 0 }, 'of the other');
    });

    test('lets a host of version 2 that still runs write its rows', async (t) => {
      const store = await side.open(t, ROWS, MIGRATIONS);
      const tables = await dump(store);
      assert.equal(tables['task']?.length, ROWS['task']?.length);
      for (const row of tables['task'] ?? []) assert.equal(row['recovery_state'], 'none');
      for (const row of tables['host'] ?? []) assert.equal(row['end'], null);
    });
  });
}
