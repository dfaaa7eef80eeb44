// What scripts of units are drawn of: small pools of ids, instants, texts.
import fc from 'fast-check';
import type { Write } from '../../src/ports/store.ts';
import { idOf } from '../../src/testing/store-rows.ts';

export const few = fc.integer({ min: 1, max: 3 });
export const two = fc.integer({ min: 1, max: 2 });
export const seq = fc.integer({ min: 1, max: 12 });
export const time = fc.integer({ min: 0, max: 2 ** 45 });
export const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(one, { nil: null });
export const text = fc.string({ unit: 'binary', maxLength: 12 });
export const conversationId = two.map((n) => idOf('conversation', n));
export const taskId = few.map((n) => idOf('task', n));
export const turnId = few.map((n) => idOf('turn', n));
export const hostId = two.map((n) => idOf('host', n));
export const sessionId = two.map((n) => idOf('session', n));
export const messageId = seq.map((n) => idOf('message', n));

/** A write with these parts, made of independent draws. */
export function write<T>(
  parts: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (drawn: T) => Write,
): fc.Arbitrary<Write> {
  return fc.record(parts).map((drawn) => make(drawn as T));
}
