import assert from 'node:assert/strict';
import type { Committed, ReadName, Reads, Store, UnitReads, Write } from '../ports/store.ts';

/** Commits writes that need no decision. */
export function put(store: Store, ...writes: readonly Write[]): Promise<Committed<null>> {
  const reads: UnitReads = {};
  return store.commit({ name: 'test.put', reads, decide: () => ({ verdict: null, writes }) });
}

/** Commits writes that must find everything as they expect it. */
export async function mustPut(store: Store, ...writes: readonly Write[]): Promise<void> {
  assert.equal((await put(store, ...writes)).kind, 'done');
}

/** Commits writes whose guard must refuse them. */
export async function mustLose(store: Store, ...writes: readonly Write[]): Promise<void> {
  assert.deepEqual(await put(store, ...writes), { kind: 'lost' });
}

/** What a read gives, as plain objects: rows of a store may lack a prototype. */
export async function read<N extends ReadName>(
  store: Store,
  name: N,
  args: Reads[N]['args'],
): Promise<Reads[N]['rows']> {
  return plain(await store.query(name, args));
}

/** A copy in plain objects. */
export function plain<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}

/** The ids, or another field, of a list. */
export function field<T, K extends keyof T>(rows: readonly T[], key: K): T[K][] {
  return rows.map((row) => row[key]);
}
