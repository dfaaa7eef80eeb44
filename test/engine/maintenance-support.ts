// Conversations that are maintained: how they come to it, and what is looked at while they are.
import assert from 'node:assert/strict';
import type { OperationRecord, OperationState } from '../../src/core/maintenance/record.ts';
import { writeSeed } from '../../src/core/maintenance/summary.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import type { Runtime } from '../../src/ports/runtime.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { pass, wordsOf } from '../support/acts.ts';
import { OPTIONS, says, until, type GivenParts, type Installation } from '../support/host.ts';

type Row = Readonly<Record<string, unknown>>;

/** Options of a host in which each message has its own turn and its own answer. */
export const ONE_BY_ONE = { ...OPTIONS, whileBusy: 'wait' } as const;

/** An answer whose request took so many tokens, as its provider reports. */
export function saysFull(text: string, inputTokens = 110_000): ModelOutcome {
  const said = says(text);
  return { ...said, usage: { inputTokens, outputTokens: 5, cost: 3 } };
}

/** Parts of a host whose agent has a runtime that keeps the model's sessions itself. */
export function keptBy(
  place: Installation,
  runtime: Runtime,
  given: GivenParts = {},
): GivenParts & Pick<Required<GivenParts>, 'agents'> {
  const [agent] = place.parts(given).agents;
  return { ...given, agents: [{ ...agent, runtime }] };
}

/** The newest operation of a conversation. */
export async function operationOf(
  { store }: Pick<Installation, 'store'>,
  conversationId: ConversationId,
): Promise<OperationRecord> {
  const operation = await store.query('operation.newestOf', { conversationId });
  assert.ok(operation, 'the conversation has an operation');
  return operation;
}

/** Resolves with the newest operation once it is in this state. */
export async function comesTo(
  engine: Engine,
  conversationId: ConversationId,
  state: OperationState,
): Promise<OperationRecord> {
  return until(engine, conversationId, async () => {
    const found = await engine.store.query('operation.newestOf', { conversationId });
    return found?.state === state ? found : undefined;
  });
}

/** Leaves the conversation's session compacted as often as it may be: what comes next is a handover. */
export async function compactedOut(
  { store }: Pick<Installation, 'store'>,
  conversationId: ConversationId,
): Promise<void> {
  const place = await store.query('conversation.byId', { id: conversationId });
  assert.ok(place);
  const seed = writeSeed({
    summary: 'what was said at first',
    conditions: [],
    sinceSeq: 0,
    reported: null,
  });
  const compactions = LIMITS.compactionsPerSession;
  await mustPut(store, {
    write: 'session.seed',
    id: place.sessionId,
    seed,
    cutSeq: 0,
    compactions,
  });
}

/** Codes of what was told of maintenance in a conversation and has left, in order. */
export async function toldOf(
  place: Installation,
  conversationId: ConversationId,
): Promise<readonly string[]> {
  return (await noticesOf(place, conversationId)).map(({ code }) => String(code));
}

/** Notices about maintenance of a conversation that have left, in order. */
export async function noticesOf(
  place: Installation,
  conversationId: ConversationId,
): Promise<readonly Row[]> {
  return (await place.rows('outbox'))
    .filter((row) => row['conversation_id'] === conversationId && row['kind'] === 'notice')
    .filter(({ code, state }) => String(code).startsWith('maintenance_') && state === 'delivered')
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']));
}

/** What the person has read in a conversation from the model, in order. */
export async function repliesIn(
  place: Installation,
  conversationId: ConversationId,
): Promise<readonly string[]> {
  return (await place.rows('outbox'))
    .filter((row) => row['conversation_id'] === conversationId && row['kind'] === 'reply')
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']))
    .map(wordsOf);
}

/** Messages of persons in a conversation, oldest first. */
export async function messagesOf(
  place: Installation,
  conversationId: ConversationId,
): Promise<readonly Row[]> {
  return (await place.rows('message'))
    .filter((row) => row['conversation_id'] === conversationId && row['kind'] === 'genuine')
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']));
}

/** Lets so much time pass at once, and whatever then goes on. */
export async function later({ clock }: Pick<Installation, 'clock'>, ms: number): Promise<void> {
  await pass(6);
  clock.advance(ms);
  await pass(30);
}

/** Lets time pass second by second. */
export async function elapse(place: Pick<Installation, 'clock'>, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SECOND) await later(place, Math.min(left, SECOND));
}

/** When the tries of a conversation's operations were counted, oldest first. */
export async function triesOf(
  place: Installation,
  conversationId: ConversationId,
): Promise<readonly number[]> {
  return (await place.rows('event'))
    .filter((row) => row['type'] === 'operation.reserved')
    .filter((row) => row['conversation_id'] === conversationId)
    .map(({ at }) => Number(at));
}
