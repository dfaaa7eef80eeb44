import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextEntry, verifyChain, type AdminAction } from './chain.ts';
import type { AuditRecord } from './record.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const ACTION: AdminAction = {
  at: 1_800_000_000_000,
  principal: 'key:ops',
  channel: 'api',
  action: 'task.extend',
  subjectId: 'task_7K2M9QX4R1T8WZ3C',
  before: { turnsLimit: 1, deadline: null },
  after: { deadline: null, turnsLimit: 2 },
};

function chainOf(count: number): readonly AuditRecord[] {
  const entries: AuditRecord[] = [];
  for (let at = 0; at < count; at += 1)
    entries.push(nextEntry(entries.at(-1), { ...ACTION, at }, digest));
  return entries;
}

test('each entry has the next number and the hash of the one before it', () => {
  const entries = chainOf(3);
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.deepEqual(
    entries.map(({ previousHash }) => previousHash),
    ['', entries[0]?.hash, entries[1]?.hash],
  );
  assert.deepEqual(verifyChain(entries, digest), { kind: 'whole', last: entries[2] });
});

test('what was and what became of it are told in one order of their keys', () => {
  const [entry] = chainOf(1);
  assert.equal(entry?.before, '{"deadline":null,"turnsLimit":1}');
  assert.equal(entry.after, '{"deadline":null,"turnsLimit":2}');
});

test('a chain is verified in pieces, from the last entry of the one before', () => {
  const entries = chainOf(5);
  const first = verifyChain(entries.slice(0, 2), digest);
  assert.ok(first.kind === 'whole');
  assert.equal(verifyChain(entries.slice(2), digest, first.last).kind, 'whole');
  assert.deepEqual(verifyChain(entries.slice(2), digest), {
    kind: 'broken',
    seq: 1,
    what: 'missing',
  });
  assert.deepEqual(verifyChain([], digest), { kind: 'whole', last: undefined });
});

const CHANGED: Readonly<Record<keyof AuditRecord, string | number>> = {
  seq: 9,
  at: 9,
  principal: 'key:anna',
  channel: 'terminal',
  action: 'task.stop',
  subjectId: 'task_7K2M9QX4R1T8WZ3D',
  before: '{}',
  after: '{}',
  previousHash: 'x',
  hash: 'x',
};

const BREAKS: Readonly<Record<string, string>> = { seq: 'missing', previousHash: 'displaced' };

for (const [column, value] of Object.entries(CHANGED))
  test(`a change of ${column} in any entry breaks the chain there`, () => {
    const entries = chainOf(4);
    for (const place of [0, 1, 2, 3]) {
      const forged = entries.map((entry, index) =>
        index === place ? { ...entry, [column]: value } : entry,
      );
      const what = BREAKS[column] ?? 'altered';
      assert.deepEqual(verifyChain(forged, digest), { kind: 'broken', seq: place + 1, what });
    }
  });

test('an entry that is left out, put twice or moved breaks the chain', () => {
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4]);
  const entries = chainOf(5);
  fc.assert(
    fc.property(order, (picked) => {
      const isPrefix = picked.every((value, index) => value === index);
      const shown = picked.map((index) => entries[index]).filter((entry) => entry !== undefined);
      assert.equal(verifyChain(shown, digest).kind, isPrefix ? 'whole' : 'broken');
    }),
  );
  const [first, second] = entries;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(verifyChain([first, first, second], digest).kind, 'broken');
});

test('an entry forged with a fitting hash of its own breaks the chain at the next', () => {
  const entries = chainOf(3);
  const forged = nextEntry(entries[0], { ...ACTION, principal: 'key:anna' }, digest);
  const [first, , third] = entries;
  assert.ok(first !== undefined && third !== undefined);
  assert.deepEqual(verifyChain([first, forged, third], digest), {
    kind: 'broken',
    seq: 3,
    what: 'displaced',
  });
});
