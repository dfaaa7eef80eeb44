// What becomes of the maintenance that an import brings once a host starts on it: no count begins anew.
import assert from 'node:assert/strict';
import { before, describe, test, type TestContext } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { Archived } from '../../src/core/archive/record.ts';
import { MAX_RECOVERY_FAILURES, type OperationRecord } from '../../src/core/maintenance/record.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { MINUTE } from '../../src/kernel/time.ts';
import { later } from '../engine/maintenance-support.ts';
import { pass, say } from '../support/acts.ts';
import { bring, fileOf, sqlitePlace } from '../support/archive.ts';
import { lived } from '../support/hostile.ts';
import { ADMIN, fails, Installation, OPTIONS, says } from '../support/host.ts';

let records: readonly Archived[] = [];
before(async () => {
  const cleanups: (() => void)[] = [];
  records = await lived(sqlitePlace({ after: (clean: () => void) => void cleanups.push(clean) }));
  for (const clean of cleanups) clean();
});

/** The operation of the conversation with this address, as the file has it. */
function operationAt(address: string): OperationRecord {
  const home = records.find(
    ({ kind, record }) => kind === 'conversation' && record.address === address,
  );
  const found = records.findLast(
    ({ kind, record }) =>
      kind === 'operation' &&
      home !== undefined &&
      'id' in home.record &&
      record.conversationId === home.record.id,
  );
  assert.ok(found?.kind === 'operation');
  return found.record;
}

/** The file with these fields of one operation. */
function withOperation(id: string, over: Partial<OperationRecord>): readonly Archived[] {
  return records.map((one) =>
    one.kind === 'operation' && one.record.id === id
      ? { kind: 'operation', record: { ...one.record, ...over } }
      : one,
  );
}

interface Started {
  readonly place: Installation;
  readonly engine: Engine;
  readonly now: (id: OperationRecord['id']) => Promise<OperationRecord>;
  /** Notices about the operation that have left since, by their codes. */
  readonly told: (id: OperationRecord['id']) => Promise<readonly string[]>;
}

/** A host on an installation that has taken the file over; every summary fails in it. */
async function start(t: TestContext, file: readonly Archived[]): Promise<Started> {
  const target = sqlitePlace(t);
  const outcome = await bring(fileOf(file), target.filling);
  assert.equal(outcome.kind, 'imported', JSON.stringify(outcome));
  const place = new Installation();
  place.clock.jump(MINUTE * 60);
  place.summariser.answer = () => fails('transient', 'http_500');
  const store = openSqlite({ path: target.path, clock: place.clock, ids: place.ids });
  const engine = createEngine(place.parts({ store, options: OPTIONS }));
  await engine.start();
  t.after(async () => {
    await engine.stop(0);
    await store.close();
  });
  const known = new Set(file.flatMap(({ kind, record }) => (kind === 'outbox' ? [record.id] : [])));
  return {
    place,
    engine,
    now: async (id) => {
      const found = await store.query('operation.byId', { id });
      assert.ok(found);
      return found;
    },
    told: async (id) => {
      const rows = await store.inspect(
        `select id, code from outbox where subject_id = '${id}' and state = 'delivered' order by seq`,
      );
      return rows.filter((row) => !known.has(row['id'] as never)).map(({ code }) => String(code));
    },
  };
}

describe('M-15: of an import', () => {
  for (const failures of [MAX_RECOVERY_FAILURES, 9_000]) {
    test(`an operation with ${failures} failures is blocked at the first look, and told of once`, async (t) => {
      const { id, conversationId, attempts } = operationAt('waiting');
      const file = withOperation(id, { failures, lifetimeFailures: failures });
      const { engine, now, told, place } = await start(t, file);
      await later(place, MINUTE);
      const { state, reason, nextAttemptAt, ...rest } = await now(id);
      assert.deepEqual([state, reason, nextAttemptAt], ['blocked', 'exhausted', null]);
      assert.deepEqual([rest.failures, rest.attempts], [failures, attempts], 'and no try was made');
      const answered = place.model.requests.length;
      await say(engine, conversationId, 'are you there?', { principal: ADMIN });
      for (let looks = 0; looks < 3; looks += 1) await later(place, MINUTE);
      assert.deepEqual(await told(id), ['maintenance_exhausted', 'maintenance_kept']);
      assert.equal(place.model.requests.length, answered, 'no turn begins behind it');
      place.model.answer = () => says('here I am');
      const order = { operationId: id, expectedVersion: rest.version, receiptId: 'r' };
      const admitted = await engine.admit({ ...order, principal: ADMIN, channel: 'api' });
      assert.ok(admitted.kind === 'admitted', JSON.stringify(admitted));
      assert.equal(admitted.operation.lifetimeFailures, failures);
    });
  }

  test('an operation with five failures has two left', async (t) => {
    const { id } = operationAt('waiting');
    const five = { failures: 5, lifetimeFailures: 5, attempts: 5 };
    const { now, told, place } = await start(t, withOperation(id, five));
    for (let looks = 0; looks < 6; looks += 1) await later(place, MINUTE);
    const { state, reason, failures, lifetimeFailures, attempts } = await now(id);
    assert.deepEqual([state, reason], ['blocked', 'exhausted']);
    assert.deepEqual([failures, lifetimeFailures, attempts], [7, 7, 7]);
    assert.deepEqual(await told(id), ['maintenance_waiting', 'maintenance_exhausted']);
  });

  test('a try that was out is one failure at the start, whoever made it', async (t) => {
    const { id, attempts, attemptAt } = operationAt('tried');
    assert.notEqual(attemptAt, null);
    const { now } = await start(t, records);
    await pass(6);
    const cut = await now(id);
    assert.deepEqual([cut.state, cut.failures, cut.attempts], ['waiting', 1, attempts]);
    const last = { failures: 6, lifetimeFailures: 6, attempts: 7 };
    const second = await start(t, withOperation(id, last));
    const lost = await second.now(id);
    assert.deepEqual([lost.state, lost.reason, lost.failures], ['blocked', 'exhausted', 7]);
    assert.deepEqual(await second.told(id), ['maintenance_exhausted']);
  });

  test('a blocked operation stays blocked as it was, and nobody is told again', async (t) => {
    const was = operationAt('lost');
    const { now, told, place, engine } = await start(t, records);
    for (let looks = 0; looks < 3; looks += 1) await later(place, MINUTE);
    assert.deepEqual(await now(was.id), was);
    assert.deepEqual(await told(was.id), []);
    const status = await engine.recoveryStatus(was.conversationId);
    assert.deepEqual(
      status.ways.map(({ command }) => command),
      [`/admit ${was.id}`, '/new'],
    );
  });
});
