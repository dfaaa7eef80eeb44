// Conversations in every state of their maintenance, and what has to become of them in an installation that
// takes them over: each goes on, or stands behind a fence that an admin can open.
import assert from 'node:assert/strict';
import type { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { isOpen } from '../../src/core/maintenance/decide.ts';
import { waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import { OPERATION_MOVES, type OperationRecord } from '../../src/core/maintenance/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { explainOperation } from '../../src/engine/maintenance/why.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { MINUTE } from '../../src/kernel/time.ts';
import { compactedOut, comesTo, later, saysFull } from '../engine/maintenance-support.ts';
import { EN, restOf, say, talkTo } from './acts.ts';
import { ADMIN, fails, type Installation } from './host.ts';

type Sqlite = ReturnType<typeof openSqlite>;

/** Long conversations: maintained once, handed over, waiting, blocked, given up, and with a try that is out. */
export async function talkLong(place: Installation, engine: Engine, store: Sqlite): Promise<void> {
  const { model, summariser } = place;
  const before = model.answer;
  model.answer = () => saysFull('that was much');
  const full = async (address: string, isOld = false): Promise<ConversationId> => {
    const here = await talkTo(engine, address);
    if (isOld) await compactedOut({ store }, here);
    await say(engine, here, `never forget ${address}`, { principal: ADMIN });
    return here;
  };
  await comesTo(engine, await full('compacted'), 'done');
  const passed = await full('handed over', true);
  await comesTo(engine, passed, 'done');
  model.answer = before;
  await say(engine, passed, 'and then?');
  await restOf(engine);
  model.answer = () => saysFull('that was much');
  summariser.answer = () => fails('transient', 'http_500');
  const lost = await full('lost');
  for (let failures = 0; failures < 7; failures += 1) await later(place, MINUTE);
  await comesTo(engine, lost, 'blocked');
  const given = await full('given up');
  await comesTo(engine, given, 'waiting');
  await say(engine, given, '/new', { principal: ADMIN });
  await comesTo(engine, given, 'dropped');
  await comesTo(engine, await full('waiting', true), 'waiting');
  const tried = Promise.withResolvers<void>();
  summariser.answer = () => {
    tried.resolve();
    return new Promise(() => {});
  };
  await full('tried');
  await tried.promise;
  model.answer = before;
}

type Note = (what: string, detail?: object) => void;

/** Every fence has its operation, that has its next look, and who may opens what is blocked. */
export async function openFences(engine: Engine, note: Note): Promise<void> {
  const { store, parts } = engine;
  const fenced = await store.query('conversation.fenced', { limit: 1_000 });
  for (const { id, operationId, fence } of fenced) {
    const status = await engine.recoveryStatus(id);
    const { operation } = status;
    if (operation === null || operation.id !== operationId || !isOpen(operation))
      note('it is fenced by nothing', { id, fence });
    else if (operation.state === 'blocked') await admit(engine, operation, note);
    else if (operation.nextAttemptAt === null && operation.attemptAt === null)
      note('nobody looks at it', operation);
  }
  for (const state of Object.keys(OPERATION_MOVES))
    for (const { id } of await operationsIn(engine, state)) await explainOperation(parts, id, EN);
}

async function operationsIn({ store }: Engine, state: string): Promise<readonly OperationRecord[]> {
  return store.query('operation.list', { state, conversationId: '', before: '~', limit: 200 });
}

async function admit(engine: Engine, operation: OperationRecord, note: Note): Promise<void> {
  const { id: operationId, version: expectedVersion } = operation;
  const isReconciled = waysOfOperation(operation).some(({ effect }) => effect === 'handover');
  const admitted = await engine.admit({
    operationId,
    expectedVersion,
    receiptId: `admits ${operationId}`,
    as: isReconciled ? 'handover' : undefined,
    principal: ADMIN,
    channel: 'api',
  });
  if (admitted.kind !== 'admitted') note('it cannot be admitted', admitted);
  else assert.equal(admitted.operation.epoch, operation.epoch + 1);
}
