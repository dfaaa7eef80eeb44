// What the tests of the rules do again and again with a host, and what they look at.
import assert from 'node:assert/strict';
import type { AcceptedRun, Engine } from '../../src/engine/engine.ts';
import type { ConversationId, MessageId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Store, Unit, UnitReads, Write } from '../../src/ports/store.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { ANNA, type Installation } from './host.ts';

type Row = Readonly<Record<string, unknown>>;

export const EN = { locale: 'en', timeZone: 'UTC' } as const;

/** Opens a conversation of Anna's on the channel `api`. */
export async function talkTo(engine: Engine, address = 'here'): Promise<ConversationId> {
  return engine.openConversation({ channel: 'api', address, principal: ANNA });
}

/** Says something and fails the test when it is refused. */
export async function say(
  engine: Engine,
  conversationId: ConversationId,
  text: string,
  by: { readonly principal?: Principal; readonly externalId?: string } = {},
): Promise<MessageId> {
  const verdict = await engine.acceptMessage({ conversationId, text, principal: ANNA, ...by });
  if (verdict.kind !== 'accepted') assert.fail(verdict.code);
  return verdict.messageId;
}

/** Orders a run of Anna's and fails the test when it is refused. */
export async function order(
  engine: Engine,
  input: string,
  conversationId?: ConversationId,
): Promise<AcceptedRun> {
  const where = conversationId === undefined ? {} : { conversationId };
  const verdict = await engine.acceptRun({ input, principal: ANNA, ...where });
  if (verdict.kind !== 'accepted') assert.fail(verdict.code);
  return verdict;
}

/** Every row of every table: equal dumps are equal records. */
export async function everyRow(
  place: Installation,
): Promise<Readonly<Record<string, readonly Row[]>>> {
  const tables = (await place.rows('sqlite_master'))
    .filter(({ type }) => type === 'table')
    .map(({ name }) => String(name));
  const rows: Record<string, readonly Row[]> = {};
  for (const table of tables) rows[table] = await place.rows(table);
  return rows;
}

/** Lets every promise that can go on go on; nothing here waits for time. */
export async function pass(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise(setImmediate);
}

/** Resolves once this holds, asked again after whatever can go on has gone on; fails when it never does. */
export async function eventually(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let round = 0; round < 2_000; round += 1) {
    if (await holds()) return;
    await new Promise(setImmediate);
  }
  assert.fail(`it never holds: ${holds.toString()}`);
}

/** Lets seconds pass until this holds; fails when it never does. */
export async function inTime(
  { clock }: Pick<Installation, 'clock'>,
  holds: () => Promise<boolean> | boolean,
): Promise<void> {
  for (let seconds = 0; seconds < 2_000; seconds += 1) {
    await pass(4);
    if (await holds()) return;
    clock.advance(SECOND);
  }
  assert.fail(`it never holds: ${holds.toString()}`);
}

/** Resolves when no turn runs, nothing is due and no command is open. */
export async function restOf(engine: Engine): Promise<void> {
  await pass(2);
  await eventually(() => isAtRest(engine));
}

async function isAtRest(engine: Engine): Promise<boolean> {
  if (engine.health().runningTurns > 0) return false;
  const { store } = engine;
  const due = await store.query('inbox.due', { generatedSince: 0, limit: 1 });
  const commands = await store.query('message.openCommands', { limit: 1 });
  return due.length === 0 && commands.length === 0;
}

/** A model call that is held until it is let go, or for ever. */
export function heldCall(): {
  readonly begun: Promise<void>;
  readonly hold: () => Promise<ModelOutcome>;
  readonly release: (outcome: ModelOutcome) => void;
} {
  const begun = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<ModelOutcome>();
  return {
    begun: begun.promise,
    hold: () => {
      begun.resolve();
      return outcome.promise;
    },
    release: outcome.resolve,
  };
}

/** The newest words of a person in a request. */
export function askedIn(request: ModelRequest): string {
  return request.messages.findLast(({ role }) => role === 'user')?.text ?? '';
}

/** What an outbox row says to a person. */
export function wordsOf(row: Row): string {
  if (row['kind'] !== 'notice') return String(row['text']);
  return renderStoredNotice(EN, String(row['code']), row['params'] as string | null);
}

/** A unit as it was committed: its name and what it wrote. */
export interface CommittedUnit {
  readonly name: string;
  readonly writes: readonly Write[];
}

/** A store that shows each unit after its commit, before whoever committed it learns of it. */
export function watched(
  store: Store,
  onCommit: (unit: CommittedUnit) => Promise<void> | void,
): Store {
  return {
    traits: store.traits,
    async commit<R extends UnitReads, V>(unit: Unit<R, V>) {
      let writes: readonly Write[] = [];
      const committed = await store.commit<R, V>({
        ...unit,
        decide: (rows, at) => {
          const decision = unit.decide(rows, at);
          writes = decision.writes;
          return decision;
        },
      });
      if (committed.kind === 'done') await onCommit({ name: unit.name, writes });
      return committed;
    },
    query: (read, args) => store.query(read, args),
    close: () => Promise.resolve(),
  };
}
