import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { catalogue } from '../../src/adapters/store/catalogue.ts';
import { faultOf } from '../../src/adapters/store/postgres/errors.ts';
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import type { Ids } from '../../src/ports/ids.ts';
import { mustPut, put } from '../../src/testing/store-calls.ts';
import { conversationRow, eventRow, hostRow, idOf } from '../../src/testing/store-rows.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let made = 0;
const ids: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(0, (made += 1))}` };
let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

describe('a connection that is lost', () => {
  for (const [statement, when, code, hosts] of [
    ['begin', 'before', 'disconnected', 0],
    ['insert into "host"', 'before', 'disconnected', 0],
    ['insert into "host"', 'after', 'disconnected', 0],
    ['commit', 'before', 'unknown', 0],
    ['commit', 'after', 'unknown', 1],
  ] as const) {
    test(`${when} the server has "${statement}" is ${code}, and the store goes on`, async () => {
      const proxy = await cuttingProxy(await server.freshUrl());
      const store = await openPostgres({ url: proxy.url, ids });
      try {
        proxy.cutAt(statement, when);
        await assert.rejects(put(store, { write: 'host.insert', row: hostRow() }), {
          code,
          remedy: 'retry',
        });
        assert.equal(proxy.cuts(), 1, 'the fault fired');
        assert.equal((await store.query('host.list', { limit: 9 })).length, hosts);
        await mustPut(store, { write: 'host.insert', row: hostRow({ id: idOf('host', 2) }) });
      } finally {
        await store.close();
        await proxy.close();
      }
    });
  }

  test('an unreachable server is told as disconnected', async () => {
    const url = 'postgres://postgres@127.0.0.1:1/postgres';
    await assert.rejects(openPostgres({ url, ids }), { code: 'disconnected' });
  });
});

describe('a server that only reads', () => {
  const withOption = (url: string, option: string): string =>
    url.replace('options=', `options=${encodeURIComponent(`-c ${option} `)}`);

  test('is told as disconnected: what follows may reach the one that writes', async () => {
    const url = withOption(await server.freshUrl(), 'default_transaction_read_only=on');
    await assert.rejects(openPostgres({ url, ids }), { code: 'disconnected', remedy: 'retry' });
  });

  test('L-8 ends no trust, and none of its connections is used again', async () => {
    const url = await server.freshUrl();
    const store = await openPostgres({ url, ids });
    const [user] = await store.inspect('select current_user as name');
    const change = new pg.Client({ connectionString: url });
    await change.connect();
    const everywhere = `alter role ${String(user?.['name'])}`;
    try {
      await change.query(`${everywhere} set default_transaction_read_only = on`);
      // New connections are told; the one that stands is ended.
      await change.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`);
      const add = () => put(store, { write: 'host.insert', row: hostRow() });
      await assert.rejects(add(), { code: 'disconnected' });
      await assert.rejects(add(), { code: 'disconnected', message: /read-only/ });
      await change.query(`${everywhere} reset default_transaction_read_only`);
      await mustPut(store, { write: 'host.insert', row: hostRow() });
    } finally {
      await change.query(`${everywhere} reset default_transaction_read_only`);
      await change.end();
      await store.close();
    }
  });
});

describe('a commit on PostgreSQL is durable', () => {
  test('a connection with synchronous_commit off is refused', async () => {
    const url = (await server.freshUrl()).replace(
      'options=',
      `options=${encodeURIComponent('-c synchronous_commit=off ')}`,
    );
    await assert.rejects(openPostgres({ url, ids }), (fault: { code: string; message: string }) => {
      assert.equal(fault.code, 'store_unsafe');
      assert.match(fault.message, /synchronous_commit is off/);
      return true;
    });
  });
});

describe('hosts that share a store', () => {
  test('that start together migrate it once', async () => {
    const url = await server.freshUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgres({ url, ids })));
    const migrations = await stores[0]?.inspect('select number from migration order by number');
    assert.deepEqual(
      migrations,
      MIGRATIONS.map(({ number }) => ({ number })),
    );
    await Promise.all(stores.map((store) => store.close()));
  });

  test('V19: two that read one conversation wait for one another instead of losing', async () => {
    const url = await server.freshUrl();
    const [one, two] = await Promise.all([openPostgres({ url, ids }), openPostgres({ url, ids })]);
    const id = idOf('conversation', 1);
    await mustPut(one, { write: 'conversation.insert', row: conversationRow() });
    const nows: number[] = [];
    const step = (store: typeof one) =>
      store.commit({
        name: 'test.step',
        // The lock comes first, in whatever order the reads are named.
        reads: {
          events: { read: 'event.after', args: { conversationId: id, after: 0, limit: 99 } },
          conversation: { read: 'conversation.byId', args: { id } },
        },
        decide({ conversation, events }, { now }) {
          assert.ok(conversation !== undefined);
          assert.equal(events.length, conversation.seq, 'what is read under the lock fits it');
          const seq = conversation.seq + 1;
          nows[seq] = now;
          const { token, turnId } = conversation;
          return {
            verdict: seq,
            writes: [
              { write: 'event.insert', row: eventRow({ seq }) },
              { write: 'conversation.advance', id, expectedSeq: seq - 1, seq, token, turnId },
            ],
          };
        },
      });
    const done = await Promise.all(
      Array.from({ length: 20 }, (_, n) => step(n % 2 === 0 ? one : two)),
    );
    assert.deepEqual(new Set(done.map((each) => each.kind)), new Set(['done']));
    const inOrder = nows.slice(1);
    assert.deepEqual(
      inOrder,
      inOrder.toSorted((a, b) => a - b),
      'time follows the numbers',
    );
    await Promise.all([one.close(), two.close()]);
  });

  test('two that lock the same conversations in another order do not deadlock', async () => {
    const url = await server.freshUrl();
    const store = await openPostgres({ url, ids });
    for (const n of [1, 2]) {
      const row = conversationRow({ id: idOf('conversation', n), address: `a${n}` });
      await mustPut(store, { write: 'conversation.insert', row });
    }
    const both = (first: number, second: number) =>
      store.commit({
        name: 'test.both',
        reads: {
          first: { read: 'conversation.byId', args: { id: idOf('conversation', first) } },
          second: { read: 'conversation.byId', args: { id: idOf('conversation', second) } },
        },
        decide: () => ({ verdict: null, writes: [] }),
      });
    const all = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? both(1, 2) : both(2, 1)));
    for (const one of await Promise.all(all)) assert.equal(one.kind, 'done');
    await store.close();
  });
});

describe('what is due is found by an index', () => {
  let planned = '';
  before(async () => {
    planned = await server.freshUrl();
  });

  for (const [name, index] of [
    ['inbox.due', 'message_waiting'],
    ['message.unbound', 'message_open'],
    ['task.due', 'task_due'],
    ['task.nextDue', 'task_due'],
    ['task.waitingFor', 'task_waiting'],
    ['approval.openOf', 'approval_open'],
    ['approval.openOfTask', 'approval_open_of_task'],
    ['approval.due', 'approval_due'],
    ['approval.nextDue', 'approval_due'],
    ['usage.ofRange', 'step_pkey'],
    ['usage.byTask', 'step_pkey'],
    ['operation.newestOf', 'operation_of_conversation'],
    ['operation.due', 'operation_due'],
    ['operation.nextDue', 'operation_due'],
    ['operation.tried', 'operation_tried'],
    ['session.list', 'session_of_conversation'],
    ['step.ofSession', 'turn_of_conversation'],
    ['message.newestSaid', 'message_claimed'],
    ['run.openOf', 'run_of_task'],
    ['task.nextAssessment', 'task_assessable'],
  ] as const) {
    test(`${name} may use ${index}`, async () => {
      // In tables as small as these a scan would be cheaper.
      const url = planned.replace(
        'options=',
        `options=${encodeURIComponent('-c enable_seqscan=off ')}`,
      );
      const store = await openPostgres({ url, ids });
      const { sql } = catalogue('postgres').reads[name].statement;
      const plan = await store.inspect(`explain ${sql.replaceAll(/\$\d+/g, "'1'")}`);
      await store.close();
      const steps = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
      assert.match(steps, new RegExp(`Index.* (on|using) ${index}\\b`));
    });
  }
});

test('what the server says becomes a fault that says what to do', () => {
  const told = (code: string, wasCommitSent = false): string =>
    faultOf(Object.assign(new Error('told'), { code, severity: 'ERROR' }), wasCommitSent).code;
  assert.equal(told('40001'), 'busy');
  assert.equal(told('40P01'), 'busy');
  assert.equal(told('55P03'), 'busy');
  assert.equal(told('53100'), 'disk_full');
  assert.equal(told('53300'), 'disconnected');
  assert.equal(told('57P01'), 'disconnected');
  assert.equal(told('57P01', true), 'unknown');
  assert.equal(told('40001', true), 'busy');
  assert.equal(told('25006'), 'disconnected');
  assert.equal(told('25006', true), 'unknown');
  assert.equal(told('58030'), 'io');
  assert.equal(told('XX001'), 'corrupt');
  assert.equal(told('42P01'), 'bug');
  assert.equal(faultOf(new Error('Connection terminated'), false).code, 'disconnected');
  assert.equal(faultOf(new Error('Connection terminated'), true).code, 'unknown');
});
