import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conversationRow, idOf, sessionRow } from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import type { Archived } from './record.ts';
import { factsOf, readFacts, relationProblem, type Look } from './relations.ts';

const TURN = idOf('turn', 1);
const OPERATION = idOf('operation', 1);
const SESSION = idOf('session', 1);

function told(one: Archived, before: readonly Archived[] = []): string | undefined {
  const look: Look = {
    record: (kind, id) => {
      const found = before.find(
        (other) => other.kind === kind && 'id' in other.record && other.record.id === id,
      );
      return found === undefined ? undefined : readFacts(kind, factsOf(found));
    },
    made: () => undefined,
  };
  return relationProblem(one, look);
}

const conversation = (over: Parameters<typeof conversationRow>[0] = {}): Archived => {
  return { kind: 'conversation', record: conversationRow({ turnId: TURN, seq: 40, ...over }) };
};
const operation = (over: Parameters<typeof operationRow>[0] = {}): Archived => {
  return { kind: 'operation', record: operationRow(over) };
};
const session = (over: Parameters<typeof sessionRow>[0] = {}): Archived => {
  return { kind: 'session', record: sessionRow(over) };
};

test('of what is not in the file nothing is said here', () => {
  for (const one of [session({ endedAt: 5 }), operation()]) assert.equal(told(one), undefined);
});

describe('M-16 a session of a file', () => {
  const here = conversation({ sessionId: SESSION });

  test('has not ended while its conversation is in it', () => {
    const over = 'The session has ended and its conversation is in it.';
    assert.equal(told(session(), [here]), undefined);
    assert.equal(told(session({ endedAt: 5 }), [here]), over);
    assert.equal(told(session({ endedAt: 5, id: idOf('session', 2) }), [here]), undefined);
  });

  test('has a seed of what its conversation has had', () => {
    const seeded = (sinceSeq: number): string | undefined =>
      told(session({ seed: JSON.stringify({ sinceSeq }) }), [here]);
    assert.equal(seeded(40), undefined);
    assert.equal(
      seeded(41),
      'The sinceSeq in the seed of the session lies beyond the 40 of its conversation.',
    );
  });

  test('begins behind the one that it goes on from, and before the one that goes on from it', () => {
    const other = session({ id: idOf('session', 2), firstSeq: 5 });
    const begins = (over: Parameters<typeof sessionRow>[0]): string | undefined =>
      told(session(over), [here, other]);
    const wrong = 'The session does not begin behind the one that it goes on from.';
    const otherId = idOf('session', 2);
    assert.equal(begins({ previousId: otherId, firstSeq: 6 }), undefined);
    assert.equal(begins({ previousId: otherId, firstSeq: 5 }), wrong);
    assert.equal(begins({ nextId: otherId, firstSeq: 4 }), undefined);
    assert.equal(begins({ nextId: otherId, firstSeq: 5 }), wrong);
    assert.equal(begins({ nextId: idOf('session', 3), firstSeq: 5 }), undefined);
  });
});

describe('M-8 an operation of a file', () => {
  const fenced = { operationId: OPERATION, fence: 'shut', turnId: null } as const;
  const over = { state: 'done', endedAt: 9, nextAttemptAt: null } as const;

  test('that is not over is the one that its conversation names, with the fence of its state', () => {
    const named = 'The operation is not over and its conversation does not name it.';
    assert.equal(told(operation(), [conversation(fenced)]), undefined);
    assert.equal(told(operation(), [conversation({ turnId: null })]), named);
    assert.equal(told(operation(over), [conversation({ turnId: null })]), undefined);
    assert.equal(
      told(operation({ state: 'blocked' }), [conversation(fenced)]),
      'The operation is blocked and the fence of its conversation is shut.',
    );
    const passed = { ...fenced, fence: 'passed' } as const;
    assert.equal(told(operation(over), [conversation(passed)]), undefined);
    assert.equal(
      told(operation(), [conversation(passed)]),
      'The operation is running and the fence of its conversation is passed.',
    );
  });

  test('has its conversation without a turn, and no cut beyond its end', () => {
    const held = [conversation({ ...fenced, turnId: TURN })];
    assert.equal(
      told(operation(), held),
      'The operation is not over and its conversation has a turn.',
    );
    const passed = [conversation({ ...fenced, fence: 'passed', turnId: TURN })];
    assert.equal(told(operation(over), passed), undefined);
    const cut = (cutSeq: unknown, before = conversation(fenced)): string | undefined =>
      told(operation({ work: JSON.stringify({ cutSeq }) }), [before]);
    assert.equal(cut(40), undefined);
    assert.equal(
      cut(41),
      'The cutSeq in the work of the operation lies beyond the 40 of its conversation.',
    );
    assert.equal(cut('41'), undefined, 'that it is no number is said elsewhere');
  });

  test('goes over to a session that says so and has not ended before', () => {
    const nextSessionId = idOf('session', 2);
    const next = (more: Parameters<typeof sessionRow>[0]): Archived =>
      session({ id: nextSessionId, previousId: SESSION, ...more });
    const goes = (
      one: Archived,
      more: Parameters<typeof operationRow>[0] = {},
    ): string | undefined =>
      told(operation({ nextSessionId, ...more }), [conversation(fenced), one]);
    assert.equal(goes(next({})), undefined);
    assert.equal(
      goes(next({ previousId: idOf('session', 3) })),
      'The session that follows does not say that it goes on from the session of the operation.',
    );
    assert.equal(
      goes(next({ endedAt: 5 })),
      'The session that follows has ended and the operation is not over.',
    );
    const passed = [conversation({ ...fenced, fence: 'passed' }), next({ endedAt: 5 })];
    assert.equal(told(operation({ ...over, nextSessionId }), passed), undefined);
  });
});
