// A store that is not empty, into which nothing wrong may come.
import assert from 'node:assert/strict';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { Archived, ArchiveKind } from '../../src/core/archive/record.ts';
import { dump, type Dump } from '../../src/testing/store-dump.ts';
import { conversationRow, idOf, sessionRow } from '../../src/testing/store-rows.ts';
import {
  bring,
  everything,
  fileOf,
  IDS,
  linesIn,
  NOW,
  sqlitePlace,
  type Place,
} from './archive.ts';

const cleanups: (() => void)[] = [];
/** What is there already: one conversation, whose place nothing of the file takes. */
const OWN: readonly Archived[] = [
  {
    kind: 'conversation',
    record: conversationRow({
      id: idOf('conversation', 900),
      address: 'own',
      sessionId: idOf('session', 900),
    }),
  },
  {
    kind: 'session',
    record: sessionRow({ id: idOf('session', 900), conversationId: idOf('conversation', 900) }),
  },
];
let place: Place & { readonly path: string };
let untouched: Dump;

export async function dumpOf({ path }: { readonly path: string }): Promise<Dump> {
  const store = openSqlite({ path, clock: { now: () => NOW }, ids: IDS });
  try {
    return await dump(store);
  } finally {
    await store.close();
  }
}

/** Makes a store with one conversation of its own; call it before the tests of a file. */
export async function openTarget(): Promise<void> {
  place = sqlitePlace({ after: (clean: () => void) => void cleanups.push(clean) });
  const filling = await place.filling();
  await filling.insert(OWN);
  await filling.keep();
  await filling.close();
  untouched = await dumpOf(place);
}
/** Takes it away again. */
export function closeTarget(): void {
  for (const clean of cleanups) clean();
}

export interface Wrong {
  readonly line: number;
  readonly problem: RegExp;
  readonly code?: 'no_export' | 'bad_export';
}

/** Nothing of the file is stored, and the refusal says where and why. */
export async function refuses(file: string | Uint8Array, wrong: Wrong, where = ''): Promise<void> {
  const outcome = await bring(file, place.filling, 777);
  assert.ok(outcome.kind === 'refused', `${where}: it was imported`);
  assert.match(outcome.problem, wrong.problem, where);
  assert.equal(outcome.line, wrong.line, `${where}: ${outcome.problem}`);
  assert.equal(outcome.code, wrong.code ?? 'bad_export', where);
  assert.match(outcome.problem, /^[A-Z].*\.$/s, 'one sentence');
}

export async function nothingStored(): Promise<void> {
  assert.deepEqual(await dumpOf(place), untouched);
}

export const RECORDS = everything();
export const FILE = fileOf(RECORDS);
export const LINES = linesIn(FILE);

/** A copy of the records in which one differs. */
export function changed(place_: number, over: object): readonly Archived[] {
  return RECORDS.map((one, at) =>
    at === place_ ? ({ ...one, record: { ...one.record, ...over } } as Archived) : one,
  );
}

export function placeOf(kind: ArchiveKind): number {
  return RECORDS.findIndex((one) => one.kind === kind);
}

/** The store itself. */
export function target(): Place {
  return place;
}
