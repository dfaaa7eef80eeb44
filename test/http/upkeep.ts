// Operations of maintenance and the sessions that come of them, put behind a door of the tests.
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { FenceState, SessionRecord } from '../../src/core/session/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Ledger } from '../../src/engine/session/ledger.ts';
import type { ConversationId, OperationId, SessionId } from '../../src/kernel/ids.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { sessionRow } from '../../src/testing/store-rows.ts';
import { until, type Installation } from '../support/host.ts';

export interface Behind {
  readonly engine: Engine;
  readonly installation: Installation;
}

/** What seven failures leave. */
export const EXHAUSTED: Partial<OperationRecord> = {
  state: 'blocked',
  reason: 'exhausted',
  version: 15,
  failures: 7,
  lifetimeFailures: 9,
  attempts: 9,
  epoch: 2,
  nextAttemptAt: null,
  fault: '{"code":"http_500","said":"the server had an error"}',
};

/** A rejected compact of a runtime that keeps its session itself. */
export const UNCERTAIN: Partial<OperationRecord> = {
  state: 'blocked',
  reason: 'uncertain',
  version: 3,
  failures: 1,
  lifetimeFailures: 1,
  attempts: 1,
  nextAttemptAt: null,
  fault: '{"code":"rejected","said":"it did not say why"}',
};

export const TOO_LARGE: Partial<OperationRecord> = {
  state: 'blocked',
  reason: 'base_too_large',
  version: 2,
  nextAttemptAt: null,
  fault: JSON.stringify({
    window: 8_000,
    reserve: 800,
    instructions: 5_000,
    tools: 2_000,
    seed: 400,
    message: 900,
  }),
};

/** Of which the next try has its instant. */
export function waitingUntil(at: number): Partial<OperationRecord> {
  return {
    state: 'waiting',
    version: 3,
    failures: 1,
    lifetimeFailures: 1,
    attempts: 1,
    nextAttemptAt: at,
    fault: '{"code":"eio","said":"input/output error"}',
  };
}

const FENCES: Readonly<Record<OperationRecord['state'], FenceState>> = {
  running: 'shut',
  waiting: 'shut',
  blocked: 'blocked',
  done: 'passed',
  dropped: 'none',
};

/** An operation of the conversation's session, and its fence. */
export async function putOperation(
  { engine, installation }: Behind,
  conversationId: ConversationId,
  over: Partial<OperationRecord>,
): Promise<OperationId> {
  const { clock, ids } = installation;
  const place = await engine.store.query('conversation.byId', { id: conversationId });
  if (place === undefined) throw new Error(`no conversation ${conversationId}`);
  const now = clock.now();
  const row = operationRow({
    id: ids.next('operation'),
    conversationId,
    sessionId: place.sessionId,
    nextAttemptAt: now,
    createdAt: now,
    changedAt: now,
    ...over,
  });
  const fence = FENCES[row.state];
  await mustPut(
    engine.store,
    { write: 'operation.insert', row },
    {
      write: 'conversation.fence',
      id: conversationId,
      fence,
      operationId: fence === 'none' ? null : row.id,
    },
  );
  return row.id;
}

/** Archives the conversation's session as a handover does; the id of the one that goes on from it. */
export async function handOver(
  { engine, installation }: Behind,
  conversationId: ConversationId,
  over: Partial<SessionRecord> = {},
): Promise<SessionId> {
  const { clock, ids } = installation;
  const id = ids.next('session');
  await inLedger({ engine }, conversationId, (ledger, { sessionId: previousId }) => {
    const endedAt = clock.now();
    const { seq: firstSeq } = ledger.event('session.started', { data: { sessionId: id } });
    const times = { startedAt: endedAt, endedAt: null };
    const row = sessionRow({ id, conversationId, firstSeq, ...times, previousId, ...over });
    ledger.add(
      { write: 'session.end', id: previousId, endedAt },
      { write: 'session.insert', row },
      { write: 'session.link', id: previousId, nextId: id },
      { write: 'conversation.session', id: conversationId, sessionId: id },
    );
  });
  return id;
}

/** Resolves once an operation is over: what an admission sets going has come to its end. */
export async function doneOperation(
  { engine }: Pick<Behind, 'engine'>,
  id: OperationId,
): Promise<void> {
  const read = () => engine.store.query('operation.byId', { id });
  const conversationId = (await read())?.conversationId;
  if (conversationId === undefined) throw new Error(`no operation ${id}`);
  await until(engine, conversationId, async () => (await read())?.state === 'done');
}

/** One commit of the host in a conversation. */
export async function inLedger(
  { engine }: Pick<Behind, 'engine'>,
  conversationId: ConversationId,
  act: (ledger: Ledger, conversation: { readonly sessionId: SessionId }) => void,
): Promise<void> {
  await engine.store.commit({
    name: 'test.ledger',
    reads: { conversation: { read: 'conversation.byId', args: { id: conversationId } } },
    decide: ({ conversation }, at) => {
      if (conversation === undefined) throw new Error(`no conversation ${conversationId}`);
      const ledger = new Ledger(conversation, at, 'host');
      act(ledger, conversation);
      return { verdict: undefined, writes: ledger.close() };
    },
  });
  engine.live.hint(conversationId);
}
