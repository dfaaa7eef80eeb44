import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conversationRow, idOf, sessionRow } from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { OPERATION_STEPS } from '../maintenance/record.ts';
import { standingProblem } from './standing.ts';

function operation(over: Parameters<typeof operationRow>[0]): string | undefined {
  return standingProblem({ kind: 'operation', record: operationRow(over) });
}

function session(over: Parameters<typeof sessionRow>[0]): string | undefined {
  return standingProblem({ kind: 'session', record: sessionRow(over) });
}

const json = (value: unknown): string => JSON.stringify(value);
const SUMMARY = { summary: 'so far', conditions: [{ at: 5, text: 'Ask before you delete.' }] };
const WORK = { ...SUMMARY, cutSeq: 9, doneSeq: 9 };
const HANDOVER = { kind: 'handover', step: 'seed', nextSessionId: idOf('session', 2) } as const;
const OVER = { nextAttemptAt: null, endedAt: 9 } as const;
const WAITS = { state: 'waiting', fault: json({ code: 'eio', said: 'x' }) } as const;

test('M-8 a conversation has a fence exactly when it names the operation that has it', () => {
  const fenced = (over: Parameters<typeof conversationRow>[0]): string | undefined =>
    standingProblem({ kind: 'conversation', record: conversationRow(over) });
  const wrong = 'The fence of the conversation does not fit its operationId.';
  const operationId = idOf('operation', 1);
  assert.equal(fenced({ fence: 'shut', operationId }), undefined);
  assert.equal(fenced({ fence: 'none', operationId }), wrong);
  assert.equal(fenced({ fence: 'shut' }), wrong);
});

describe('M-16 a session', () => {
  test('goes on from another than itself, and not in a circle of two', () => {
    const wrong = 'The session goes on from itself.';
    const [first, second] = [idOf('session', 2), idOf('session', 3)];
    assert.equal(session({ previousId: first, nextId: second }), undefined);
    assert.equal(session({ previousId: idOf('session', 1) }), wrong);
    assert.equal(session({ nextId: idOf('session', 1) }), wrong);
    assert.equal(session({ previousId: first, nextId: first }), wrong);
  });

  test('is cut or compacted only with what stands for it', () => {
    const wrong = 'The session has no seed and a cut or compactions.';
    assert.equal(session({ cutSeq: 1 }), wrong);
    assert.equal(session({ compactions: 1 }), wrong);
    const seed = json({ ...SUMMARY, sinceSeq: 3, reported: null });
    assert.equal(session({ seed, cutSeq: 1, compactions: 1 }), undefined);
  });

  test('M-17 has a seed that is a summary with its conditions, and what was reported of it', () => {
    const seed = { ...SUMMARY, sinceSeq: 3, reported: null };
    const [condition] = SUMMARY.conditions;
    const reported = { tokens: 5, chars: 9 };
    for (const sound of [
      seed,
      { ...seed, conditions: [] },
      { ...seed, window: 8_000 },
      { ...seed, reported },
    ])
      assert.equal(session({ seed: json(sound) }), undefined, json(sound));
    for (const odd of [
      {},
      SUMMARY,
      { ...seed, sinceSeq: -1 },
      { ...seed, summary: 7 },
      { ...seed, conditions: {} },
      { ...seed, conditions: [condition, 'x'] },
      { ...seed, conditions: [condition, { ...condition, at: -1 }] },
      { ...seed, conditions: [condition, { at: 5 }] },
      { ...seed, reported: undefined },
      { ...seed, reported: [] },
      { ...seed, reported: { ...reported, tokens: -1 } },
      { ...seed, reported: { tokens: 5 } },
      { ...seed, window: 0 },
    ])
      assert.equal(
        session({ seed: json(odd) }),
        'The seed of the session is not a summary with its conditions.',
        json(odd),
      );
  });
});

describe('M-1 an operation', () => {
  test('is at a step of its kind', () => {
    const wrong = 'The step of the operation does not fit its kind.';
    for (const step of OPERATION_STEPS.handover) {
      const work = json(WORK);
      assert.equal(operation({ ...HANDOVER, step, work }), undefined, step);
      assert.equal(operation({ step }), wrong);
    }
    assert.equal(operation({ ...HANDOVER, step: 'compact' }), wrong);
  });

  test('has a reason exactly while it is blocked, and may keep it when it is dropped', () => {
    const wrong = 'The reason of the operation does not fit its state.';
    const blocked = { state: 'blocked', nextAttemptAt: null } as const;
    assert.equal(operation({ ...blocked, reason: 'exhausted' }), undefined);
    assert.equal(operation(blocked), wrong);
    assert.equal(operation({ reason: 'exhausted' }), wrong);
    assert.equal(operation({ ...OVER, state: 'done', reason: 'exhausted' }), wrong);
    assert.equal(operation({ ...OVER, state: 'dropped', reason: 'exhausted' }), undefined);
    assert.equal(operation({ ...OVER, state: 'dropped' }), undefined);
  });

  test('has an end exactly when it is over', () => {
    const wrong = 'The endedAt of the operation does not fit its state.';
    assert.equal(operation({ ...OVER, state: 'done' }), undefined);
    assert.equal(operation({ ...OVER, state: 'done', endedAt: null }), wrong);
    assert.equal(operation({ endedAt: 9 }), wrong);
  });

  test('M-2 has a try out exactly as it says, and otherwise its next', () => {
    const out = {
      attemptAt: 5,
      hostId: idOf('host', 1),
      attempts: 1,
      nextAttemptAt: null,
    } as const;
    const host = 'The hostId of the operation does not fit its attemptAt.';
    const at = 'The operation has a try that is out and is not at one.';
    const when = 'The nextAttemptAt of the operation does not say when it is tried again.';
    const not = 'The operation has a nextAttemptAt and is not tried again.';
    assert.equal(operation(out), undefined);
    assert.equal(operation({ ...out, hostId: null }), host);
    assert.equal(operation({ hostId: idOf('host', 1) }), host);
    assert.equal(operation({ ...out, attempts: 0 }), at);
    assert.equal(operation({ ...out, ...WAITS }), at);
    assert.equal(operation({ nextAttemptAt: null }), when);
    assert.equal(operation({ ...WAITS, nextAttemptAt: null }), when);
    assert.equal(operation(WAITS), undefined);
    assert.equal(operation({ ...out, nextAttemptAt: 9 }), not);
    assert.equal(operation({ state: 'blocked', reason: 'uncertain' }), not);
    assert.equal(operation({ ...OVER, state: 'done', nextAttemptAt: 9 }), not);
  });

  test('M-4 has failed no more in its epoch than in its life', () => {
    const wrong = 'The failures of the operation are more than its lifetimeFailures.';
    assert.equal(operation({ failures: 2, lifetimeFailures: 2 }), undefined);
    assert.equal(operation({ failures: 3, lifetimeFailures: 2 }), wrong);
  });

  test('M-16 has the session that follows where it hands over, once it is made', () => {
    const work = json(WORK);
    const nextSessionId = null;
    const none = 'The operation hands over and has no nextSessionId.';
    assert.equal(
      operation({ nextSessionId: idOf('session', 2) }),
      'The operation compacts and has a nextSessionId.',
    );
    for (const step of ['rotate', 'seed'] as const) {
      assert.equal(operation({ ...HANDOVER, step, work, nextSessionId }), none);
      const dropped = { ...OVER, state: 'dropped' } as const;
      assert.equal(operation({ ...HANDOVER, ...dropped, step, nextSessionId }), undefined);
    }
    for (const step of ['summarise', 'archive-link'] as const)
      assert.equal(operation({ ...HANDOVER, step, work, nextSessionId }), undefined);
  });

  test('M-10 has a notice that is still to leave only while that may be', () => {
    const wrong = 'The noticeAt of the operation is of no notice that is still to leave.';
    const noticeId = idOf('outbox', 5);
    assert.equal(operation({ noticeId, noticeAt: 9 }), undefined);
    assert.equal(operation({ ...WAITS, noticeId, noticeAt: 9 }), undefined);
    assert.equal(operation({ noticeAt: 9 }), wrong);
    const blocked = { state: 'blocked', reason: 'exhausted', nextAttemptAt: null } as const;
    assert.equal(operation({ ...blocked, noticeId, noticeAt: 9 }), wrong);
    assert.equal(operation({ ...OVER, state: 'done', noticeId, noticeAt: 9 }), wrong);
    assert.equal(operation({ ...blocked, noticeId }), undefined);
  });
});

describe('M-10 the fault of an operation', () => {
  const sizes = { window: 9, reserve: 1, instructions: 2, tools: 3, seed: 4, message: 5 };
  const blocked = { state: 'blocked', nextAttemptAt: null } as const;
  const tooLarge = { ...blocked, reason: 'base_too_large' } as const;

  test('says why it waits', () => {
    const why = 'The operation waits and its fault does not say why.';
    assert.equal(operation({ ...WAITS, fault: null }), why);
    assert.equal(operation({ ...blocked, reason: 'exhausted', fault: null }), undefined);
  });

  test('is what a notice repeats: a code and what was said, or what does not fit', () => {
    const said = { code: 'eio', said: 'x' };
    const sound: readonly (readonly [object, object])[] = [
      [WAITS, said],
      [WAITS, { ...said, isMixed: true }],
      [tooLarge, sizes],
      [tooLarge, { ...sizes, ends: '/stop all' }],
      [tooLarge, { ...sizes, ends: `/stop ${idOf('task', 1)}` }],
    ];
    for (const [stands, fault] of sound)
      assert.equal(operation({ ...stands, fault: json(fault) }), undefined, json(fault));
    const odd: readonly (readonly [object, object])[] = [
      [WAITS, {}],
      [WAITS, { code: 'eio' }],
      [WAITS, { ...said, code: 7 }],
      [WAITS, { ...said, isMixed: 'yes' }],
      [WAITS, { ...said, more: 'x' }],
      [WAITS, sizes],
      [tooLarge, said],
      ...Object.keys(sizes).map((name) => [tooLarge, { ...sizes, [name]: -1 }] as const),
      [tooLarge, { window: 9 }],
      ...['/stop', '/stop all now', '/stop x', '/run all', 7, `/stop ${idOf('run', 1)}`].map(
        (ends) => [tooLarge, { ...sizes, ends }] as const,
      ),
    ];
    for (const [stands, fault] of odd)
      assert.equal(
        operation({ ...stands, fault: json(fault) }),
        'The fault of the operation is not what its reason has.',
        json(fault),
      );
    assert.match(operation({ ...tooLarge, fault: null }) ?? '', /^The fault of the operation/);
  });
});

describe('M-16 the work of an operation', () => {
  test('is how far a summary has come, and no farther than it goes', () => {
    for (const sound of [WORK, { ...WORK, doneSeq: 3 }, { ...WORK, conditions: [] }])
      assert.equal(operation({ work: json(sound) }), undefined, json(sound));
    for (const odd of [
      SUMMARY,
      { ...SUMMARY, cutSeq: 9 },
      { ...SUMMARY, doneSeq: 9 },
      { ...WORK, doneSeq: 10 },
      { ...WORK, doneSeq: -1 },
      { ...WORK, cutSeq: 9.5 },
      { ...WORK, summary: null },
    ])
      assert.equal(
        operation({ work: json(odd) }),
        'The work of the operation is not how far a summary has come.',
        json(odd),
      );
  });

  test('holds the whole summary once a handover is behind it', () => {
    const wrong = 'The operation is behind its summary and its work does not hold it.';
    const half = json({ ...WORK, doneSeq: 3 });
    for (const step of ['archive-link', 'rotate', 'seed'] as const) {
      assert.equal(operation({ ...HANDOVER, step, work: half }), wrong);
      assert.equal(operation({ ...HANDOVER, step }), wrong);
      assert.equal(operation({ ...HANDOVER, ...OVER, state: 'done', step }), undefined);
    }
    assert.equal(operation({ ...HANDOVER, step: 'summarise', work: half }), undefined);
    assert.equal(operation({ work: half }), undefined);
  });
});
