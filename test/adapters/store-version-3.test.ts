// What becomes of the rows of a store that a host of version 3 wrote.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import { mustLose, mustPut, read } from '../../src/testing/store-calls.ts';
import { dump } from '../../src/testing/store-dump.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { ABOVE_ALL, idOf } from '../../src/testing/store-rows.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { assertKept, schemaOf, sidesOf, VERSION_3_ROWS as ROWS } from './store-earlier.ts';

const VERSION_3 = MIGRATIONS.slice(0, 3);
const ADDED: Readonly<Record<string, readonly string[]>> = {
  conversation: ['fence', 'operation_id'],
  session: ['previous_id', 'next_id', 'cut_seq', 'compactions', 'seed'],
};
const UNSHORTENED = { previousId: null, nextId: null, cutSeq: 0, compactions: 0, seed: null };

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

for (const side of sidesOf(() => server, VERSION_3)) {
  describe(`a store of version 3 on ${side.dialect}`, () => {
    test('becomes what a new one is, its planner’s numbers included', async (t) => {
      const migrated = await side.open(t, ROWS);
      const fresh = await side.open(t, {}, []);
      const schema = await schemaOf(migrated, side.dialect);
      assert.ok(schema.some(({ name }) => name === 'operation_due'));
      assert.deepEqual(schema, await schemaOf(fresh, side.dialect));
      if (side.dialect === 'postgres') return;
      const stats = 'select * from sqlite_stat1 order by tbl, idx';
      const expected = await fresh.inspect(stats);
      assert.deepEqual(await migrated.inspect(stats), expected);
      const indexes = await fresh.inspect(
        `select name from sqlite_schema where type = 'index' and tbl_name = 'operation'`,
      );
      const known = new Set(expected.map((row) => row['idx']));
      const unknown = indexes.filter(({ name }) => !known.has(name));
      assert.deepEqual(unknown, [], 'an index that the planner is told nothing of');
      assert.ok(indexes.length > 5);
    });

    test('keeps every value of every row', async (t) => {
      const looked = assertKept(await dump(await side.open(t, ROWS)), ROWS, ADDED);
      assert.ok(looked > 250, `${looked} rows`);
    });

    test('has no operation, no fence and no session that was shortened', async (t) => {
      const store = await side.open(t, ROWS);
      const all = { before: ABOVE_ALL, limit: 99 };
      const conversations = await read(store, 'conversation.list', all);
      assert.equal(conversations.length, ROWS['conversation']?.length);
      let sessions = 0;
      for (const { id, fence, operationId } of conversations) {
        assert.deepEqual([fence, operationId], ['none', null]);
        for (const session of await read(store, 'session.list', { conversationId: id, ...all })) {
          assert.partialDeepStrictEqual(session, UNSHORTENED);
          sessions += 1;
        }
      }
      assert.equal(sessions, ROWS['session']?.length);
      const args = { state: '', conversationId: '', ...all };
      assert.deepEqual(await read(store, 'operation.list', args), []);
      assert.equal(await read(store, 'operation.nextDue', {}), undefined);
    });

    test('finds as due and as assessable what was so', async (t) => {
      const store = await side.open(t, ROWS);
      const waiting = ROWS['message']?.filter(({ state }) => state === 'unclaimed') ?? [];
      assert.equal(waiting.length, 1);
      assert.deepEqual(
        await read(store, 'inbox.due', { generatedSince: 0, limit: 9 }),
        [],
        'a turn has its conversation',
      );
      const [due, none] = await read(store, 'task.assessable', {
        now: Number.MAX_SAFE_INTEGER,
        attempts: 3,
        limit: 9,
      });
      assert.equal(due?.recoveryState, 'needed');
      assert.equal(none, undefined);
    });

    test('goes on: a session of before is summed up behind a fence', async (t) => {
      const store = await side.open(t, ROWS);
      const [conversation] = await read(store, 'conversation.list', {
        before: ABOVE_ALL,
        limit: 1,
      });
      assert.ok(conversation !== undefined);
      const { id, sessionId } = conversation;
      const row = operationRow({ conversationId: id, sessionId });
      await mustPut(
        store,
        { write: 'operation.insert', row },
        { write: 'conversation.fence', id, fence: 'shut', operationId: row.id },
        { write: 'session.seed', id: sessionId, seed: '{}', cutSeq: 4, compactions: 1 },
      );
      const found = await read(store, 'operation.due', { now: 3_000, limit: 9 });
      assert.deepEqual(found, [row]);
      assert.equal((await read(store, 'conversation.byId', { id }))?.fence, 'shut');
      assert.equal((await read(store, 'session.byId', { id: sessionId }))?.cutSeq, 4);
      const other = operationRow({ ...row, id: idOf('operation', 2) });
      await mustLose(store, { write: 'operation.insert', row: other });
    });

    test('lets a host of version 3 that still runs write its rows', async (t) => {
      const store = await side.open(t, ROWS, MIGRATIONS);
      const tables = await dump(store);
      assert.equal(tables['conversation']?.length, ROWS['conversation']?.length);
      for (const row of tables['conversation'] ?? []) assert.equal(row['fence'], 'none');
      for (const row of tables['session'] ?? []) assert.equal(Number(row['cut_seq']), 0);
    });
  });
}
