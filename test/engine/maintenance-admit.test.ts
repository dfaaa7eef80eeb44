// The only way out of a blocked operation, and everything that is not it (M-7).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { AdmitOrder, Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { everyRow, eventually, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import {
  ADMIN,
  ANNA,
  asks,
  BEN,
  fails,
  Installation,
  says,
  sumsUp,
  type GivenParts,
} from '../support/host.ts';
import {
  comesTo,
  elapse,
  messagesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
} from './maintenance-support.ts';
import { mortal } from './upkeep-support.ts';

const MINUTES_MS = 130_000;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
  readonly operation: OperationRecord;
}

async function fillUp(place: Installation, engine: Engine): Promise<ConversationId> {
  place.summariser.answer = () => fails('transient', 'http_500');
  place.model.answer = () => saysFull('read');
  const here = await talkTo(engine);
  await say(engine, here, 'the first');
  await comesTo(engine, here, 'waiting');
  place.model.answer = () => says('answered');
  return here;
}

/** A conversation whose compact has failed seven times. */
async function exhausted(given: GivenParts = {}): Promise<Stand> {
  const place = new Installation();
  const engine = await place.host({ options: ONE_BY_ONE, ...given });
  const here = await fillUp(place, engine);
  await elapse(place, MINUTES_MS);
  const operation = await operationOf(place, here);
  assert.deepEqual([operation.state, operation.reason], ['blocked', 'exhausted']);
  return { place, engine, here, operation };
}

/** An admin's order at the version that stands, and whatever is different about it. */
function orderOf({ operation }: Stand, over: Partial<AdmitOrder> = {}): AdmitOrder {
  const { id: operationId, version: expectedVersion } = operation;
  const by = { principal: ADMIN, channel: 'api', receiptId: 'receipt 1' };
  return { operationId, expectedVersion, ...by, ...over };
}

async function codeOf(engine: Engine, order: AdmitOrder): Promise<string> {
  const verdict = await engine.admit(order);
  return verdict.kind === 'refused' ? verdict.code : 'admitted';
}

/** Rows that an admission would change. */
async function kept(place: Installation): Promise<unknown> {
  const rows = await everyRow(place);
  const { operation, conversation, session, receipt, audit } = rows;
  const fences = (conversation ?? []).map((row) => [row['id'], row['fence'], row['operation_id']]);
  return { operation, fences, session, receipt, audit };
}

async function lastAnswer(place: Installation, here: ConversationId): Promise<string> {
  const rows = (await place.rows('outbox')).filter(
    (row) => row['kind'] === 'answer' && row['conversation_id'] === here,
  );
  return wordsOf(rows.at(-1) ?? {});
}

describe('an admission that is none', () => {
  test('M-7 changes not one row: a member’s, a stale one, an unknown one, one as a handover', async () => {
    const stand = await exhausted();
    const { engine, place, operation } = stand;
    const before = await everyRow(place);
    const { version } = operation;
    const wrong: readonly (readonly [string, Partial<AdmitOrder>])[] = [
      ['forbidden', { principal: ANNA }],
      ['forbidden', { principal: BEN, expectedVersion: 1 }],
      ['version_conflict', { expectedVersion: version - 1 }],
      ['version_conflict', { expectedVersion: version + 1 }],
      ['no_handover', { as: 'handover' }],
      ['not_found', { operationId: 'mop_0000000000000000' }],
    ];
    for (const [code, over] of wrong)
      assert.equal(await codeOf(engine, orderOf(stand, over)), code, JSON.stringify(over));
    assert.deepEqual(await everyRow(place), before);
    assert.equal(await codeOf(engine, orderOf(stand)), 'admitted');
  });

  test('M-7 is what a model says or calls, whoever asked it to', async () => {
    const { engine, place, here, operation } = await exhausted();
    const typed = `/admit ${operation.id}`;
    const elsewhere = await talkTo(engine, 'elsewhere');
    place.tools.perform = () => ({ kind: 'result', text: typed });
    place.model.answer = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? says(typed)
        : asks(['note', { text: typed }], ['look', typed], ['admit', { id: operation.id }]);
    const before = await kept(place);
    await say(engine, elsewhere, `Write ${typed} for me`, { principal: ADMIN });
    await restOf(engine);
    assert.deepEqual(await repliesIn(place, elsewhere), [typed]);
    assert.deepEqual(await kept(place), before);
    assert.equal((await engine.recoveryStatus(here)).state, 'blocked');
  });

  test('M-7 is a member’s command, and it is answered who may', async () => {
    const { engine, place, here, operation } = await exhausted();
    const before = await kept(place);
    for (const principal of [ANNA, BEN]) {
      await say(engine, here, `/admit ${operation.id}`, { principal });
      await restOf(engine);
      assert.match(await lastAnswer(place, here), /admin/i);
    }
    await say(engine, here, `/admit ${operation.id} handover`, { principal: ADMIN });
    await restOf(engine);
    assert.match(await lastAnswer(place, here), /handover/);
    assert.deepEqual(await kept(place), before);
  });

  test('is one of an operation that waits, is done or was given up', async () => {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await fillUp(place, engine);
    for (const state of ['waiting', 'done'] as const) {
      if (state === 'done') {
        place.summariser.answer = () => sumsUp('all of it');
        await elapse(place, 2_000);
      }
      const operation = await operationOf(place, here);
      assert.equal(operation.state, state);
      const before = await everyRow(place);
      const order = orderOf({ place, engine, here, operation });
      assert.equal(await codeOf(engine, order), 'not_blocked');
      assert.deepEqual(await everyRow(place), before);
    }
  });
});

describe('a receipt', () => {
  test('M-7 that was used gives its first outcome, is looked at before the version, and opens nothing twice', async () => {
    const stand = await exhausted();
    const { engine, place, here } = stand;
    const first = await engine.admit(orderOf(stand));
    assert.ok(first.kind === 'admitted' && !first.repeated);
    await elapse(place, MINUTES_MS);
    const again = await operationOf(place, here);
    const { state, epoch, failures, lifetimeFailures } = again;
    assert.deepEqual([state, epoch, failures, lifetimeFailures], ['blocked', 2, 7, 14]);
    const before = await everyRow(place);
    for (const expectedVersion of [stand.operation.version, again.version, 1]) {
      const second = await engine.admit(orderOf(stand, { expectedVersion }));
      assert.ok(second.kind === 'admitted' && second.repeated);
      const { state: was, epoch: of, failures: then, version } = second.operation;
      assert.deepEqual([was, of, then], ['running', 2, 0]);
      assert.equal(version, first.operation.version);
    }
    assert.deepEqual(await everyRow(place), before);
  });

  test('M-7 that was used for another operation is refused', async () => {
    const stand = await exhausted();
    const { engine, place } = stand;
    place.model.answer = () => saysFull('read');
    const elsewhere = await talkTo(engine, 'elsewhere');
    await say(engine, elsewhere, 'the first');
    await elapse(place, MINUTES_MS);
    const other = await operationOf(place, elsewhere);
    assert.equal(other.state, 'blocked');
    assert.equal(await codeOf(engine, orderOf(stand)), 'admitted');
    await elapse(place, MINUTES_MS);
    const before = await kept(place);
    const order = orderOf({ ...stand, operation: other });
    assert.equal(await codeOf(engine, order), 'receipt_used');
    assert.deepEqual(await kept(place), before);
  });

  test('M-7 of two that are used at once, one admits', async () => {
    const stand = await exhausted();
    const orders = ['one', 'two'].map((receiptId) =>
      codeOf(stand.engine, orderOf(stand, { receiptId })),
    );
    const codes = await Promise.all(orders);
    assert.deepEqual(codes.toSorted(), ['admitted', 'version_conflict']);
    const { epoch } = await operationOf(stand.place, stand.here);
    assert.equal(epoch, 2);
  });

  test('M-7 is the message’s own id: delivered again it admits nothing, with a word of its own it does', async () => {
    const { engine, place, here, operation } = await exhausted();
    const typed = `/admit ${operation.id}`;
    await say(engine, here, typed, { principal: ADMIN, externalId: 'm-1' });
    await elapse(place, MINUTES_MS);
    const blocked = await operationOf(place, here);
    assert.deepEqual([blocked.state, blocked.epoch], ['blocked', 2]);
    const before = await everyRow(place);
    await say(engine, here, typed, { principal: ADMIN, externalId: 'm-1' });
    await restOf(engine);
    assert.deepEqual(await everyRow(place), before);
    await say(engine, here, typed, { principal: ADMIN, externalId: 'm-2' });
    await eventually(async () => (await operationOf(place, here)).epoch === 3);
  });
});

describe('a command that is older than the block', () => {
  for (const where of ['here', 'elsewhere'])
    test(`M-7 means an earlier one and admits nothing, said ${where}`, async () => {
      const place = new Installation();
      const { engine, store, kill } = await mortal(place, { options: ONE_BY_ONE });
      const here = await fillUp(place, engine);
      const elsewhere = await talkTo(engine, 'elsewhere');
      const { id } = await operationOf(place, here);
      await elapse(place, 40_000);
      // Whoever answers commands has come to a halt: what is said now is answered by the next host.
      assert.equal((await operationOf(place, here)).state, 'waiting');
      store.onQuery = (read) => (read === 'message.byId' ? new Promise(() => {}) : undefined);
      const at = where === 'here' ? here : elsewhere;
      await say(engine, at, `/admit ${id}`, { principal: ADMIN });
      await elapse(place, MINUTES_MS);
      const blocked = await operationOf(place, here);
      assert.equal(blocked.state, 'blocked');
      kill();
      const next = await place.host({ options: ONE_BY_ONE });
      await restOf(next);
      assert.deepEqual(await operationOf(place, here), blocked);
      assert.match(await lastAnswer(place, at), /changed|since|meanwhile/i);
      await say(next, at, `/admit ${id}`, { principal: ADMIN });
      await eventually(async () => (await operationOf(place, here)).epoch === 2);
    });
});

test('M-7 an admission opens the next epoch of the same operation, and what was kept is answered', async () => {
  const stand = await exhausted();
  const { engine, place, here, operation } = stand;
  for (const text of ['one', 'two', 'three']) await say(engine, here, text);
  place.summariser.answer = () => sumsUp('all of it');
  const admitted = await engine.admit(orderOf(stand));
  assert.ok(admitted.kind === 'admitted');
  const { id, epoch, failures, lifetimeFailures, kind, step } = admitted.operation;
  assert.deepEqual(
    { id, epoch, failures, lifetimeFailures, kind, step },
    {
      id: operation.id,
      epoch: 2,
      failures: 0,
      lifetimeFailures: 7,
      kind: 'compact',
      step: 'compact',
    },
  );
  await comesTo(engine, here, 'done');
  await restOf(engine);
  assert.deepEqual(await repliesIn(place, here), ['read', 'answered', 'answered', 'answered']);
  assert.deepEqual(
    (await messagesOf(place, here)).map(({ state }) => state),
    ['done', 'done', 'done', 'done'],
  );
  assert.deepEqual(await toldOf(place, here), [
    'maintenance_waiting',
    'maintenance_exhausted',
    'maintenance_kept',
    'maintenance_over',
  ]);
  const audit = (await place.rows('audit')).filter(({ action }) => action === 'maintenance.admit');
  assert.equal(audit.length, 1);
  assert.equal(audit[0]?.['subject_id'], id);
});
