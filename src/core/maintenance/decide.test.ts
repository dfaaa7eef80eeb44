import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts';
import {
  admitOperation,
  blockExhausted,
  blockTooLarge,
  dropOperation,
  failStep,
  firstStep,
  isFenced,
  isOpen,
  isRepeatable,
  judgeAttempt,
  leaveUncertain,
  openOperation,
  passStep,
  reopenOperation,
  reserveAttempt,
  stepAfter,
  waitForQuota,
} from './decide.ts';
import {
  MAX_RECOVERY_FAILURES,
  OPERATION_MOVES,
  OPERATION_STEPS,
  type OperationKind,
  type OperationRecord,
  type OperationState,
} from './record.ts';

const NOW = 1_800_000_000_000;
const DELAYS = { firstDelayMs: SECOND, maxDelayMs: MINUTE };
const FAULT = { code: 'http_500', said: 'overloaded' };
const WINDOW = 8_000;

function opened(kind: OperationKind = 'compact'): OperationRecord {
  const of = { id: 'mop_1', conversationId: 'conv_1', sessionId: 'sess_1' } as const;
  return openOperation({ ...of, kind, window: WINDOW }, NOW);
}

function tried(operation: OperationRecord, now = NOW): OperationRecord {
  return reserveAttempt(operation, 'host_1', now);
}

function failed(operation: OperationRecord, times: number, now = NOW): OperationRecord {
  return Array.from({ length: times }).reduce<OperationRecord>(
    (one) => failStep(tried(one, now), FAULT, DELAYS, now),
    operation,
  );
}

function admitted(operation: OperationRecord, as?: 'handover'): OperationRecord {
  return admitOperation(operation, { as, window: WINDOW }, NOW);
}

describe('a new operation', () => {
  test('M-1 has its kind, step, state, counts, next try and version before anything is tried', () => {
    for (const kind of ['compact', 'handover'] as const) {
      const one = opened(kind);
      const { id, state, reason, epoch, failures, lifetimeFailures, attempts, version } = one;
      assert.deepEqual(
        { id, state, reason, epoch, failures, lifetimeFailures, attempts, version },
        {
          id: 'mop_1',
          state: 'running',
          reason: null,
          epoch: 1,
          failures: 0,
          lifetimeFailures: 0,
          attempts: 0,
          version: 1,
        },
      );
      assert.deepEqual([one.kind, one.step], [kind, firstStep(kind)]);
      assert.equal(one.nextAttemptAt, NOW);
      assert.equal(judgeAttempt(one, NOW), 'reserve');
    }
  });

  test('goes through its steps in order and is done after the last', () => {
    for (const kind of ['compact', 'handover'] as const) {
      const steps: string[] = [];
      let one = opened(kind);
      for (; isOpen(one); one = passStep(tried(one), NOW)) steps.push(one.step);
      assert.deepEqual(steps, OPERATION_STEPS[kind]);
      assert.equal(one.state, 'done');
      assert.equal(one.endedAt, NOW);
      assert.deepEqual([one.attemptAt, one.hostId, one.nextAttemptAt], [null, null, null]);
      assert.equal(stepAfter(one), undefined);
    }
  });
});

describe('a try', () => {
  test('is counted when it is reserved, and nothing gives it back', () => {
    const one = tried(opened());
    assert.deepEqual([one.attempts, one.attemptAt, one.hostId], [1, NOW, 'host_1']);
    assert.equal(judgeAttempt(one, NOW + HOUR), 'leave', 'while it is out there is no other');
    assert.equal(failStep(one, FAULT, DELAYS, NOW).attempts, 1);
    assert.equal(passStep(one, NOW).attempts, 1);
    assert.equal(waitForQuota(one, { until: NOW, fault: FAULT }, NOW)?.attempts, 1);
    assert.equal(admitted(leaveUncertain(one, FAULT, NOW), 'handover').attempts, 1);
  });

  test('is made of no operation that is blocked or over', () => {
    const blocked = blockTooLarge(opened(), {}, NOW);
    for (const one of [blocked, passStep(opened(), NOW), dropOperation(blocked, NOW)]) {
      assert.equal(judgeAttempt(one, NOW + HOUR), 'leave', one.state);
    }
  });
});

describe('a failure', () => {
  test('M-3 makes it wait: one second, doubled with each to a minute at most, as an instant', () => {
    const waits = (firstDelayMs: number): readonly (number | null)[] => {
      let one = opened();
      return Array.from({ length: 6 }, () => {
        one = failStep(tried(one), FAULT, { ...DELAYS, firstDelayMs }, NOW);
        assert.equal(one.state, 'waiting');
        return (one.nextAttemptAt ?? 0) - NOW;
      });
    };
    assert.deepEqual(
      waits(SECOND),
      [1, 2, 4, 8, 16, 32].map((seconds) => seconds * SECOND),
    );
    assert.deepEqual(
      waits(20 * SECOND),
      [20, 40, 60, 60, 60, 60].map((seconds) => seconds * SECOND),
    );
    const waiting = failed(opened(), 1);
    assert.equal(judgeAttempt(waiting, NOW + SECOND - 1), 'wait');
    assert.equal(judgeAttempt(waiting, NOW + SECOND), 'reserve');
    assert.equal(judgeAttempt(waiting, NOW + HOUR), 'reserve', 'however late it is looked at');
  });

  test('M-4 blocks it when it is the seventh of an epoch, also when all were the same', () => {
    assert.equal(MAX_RECOVERY_FAILURES, 7);
    assert.equal(failed(opened(), 6).state, 'waiting');
    const same = failed(opened(), 7);
    assert.deepEqual([same.state, same.reason, same.failures], ['blocked', 'exhausted', 7]);
    assert.equal(same.nextAttemptAt, null);
    const codes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const other = codes.reduce(
      (one, code) => failStep(tried(one), { code, said: '' }, DELAYS, NOW),
      opened(),
    );
    assert.deepEqual([other.state, other.reason], ['blocked', 'exhausted']);
  });

  test('keeps what it said, and whether all of an epoch were of one kind', () => {
    const faultOf = (...codes: readonly string[]): unknown => {
      const one = codes.reduce(
        (before, code) => failStep(tried(before), { code, said: '' }, DELAYS, NOW),
        opened(),
      );
      return JSON.parse(one.fault ?? 'null');
    };
    assert.deepEqual(faultOf('a'), { code: 'a', said: '' });
    assert.deepEqual(faultOf('a', 'a'), { code: 'a', said: '' });
    assert.deepEqual(faultOf('a', 'b'), { code: 'b', said: '', isMixed: true });
    assert.deepEqual(faultOf('a', 'b', 'b'), { code: 'b', said: '', isMixed: true });
  });

  test('of an uncertain step blocks it at once', () => {
    const one = leaveUncertain(tried(opened()), FAULT, NOW);
    assert.deepEqual([one.state, one.reason, one.failures], ['blocked', 'uncertain', 1]);
    assert.deepEqual([one.attemptAt, one.nextAttemptAt], [null, null]);
    assert.equal(judgeAttempt(one, NOW + HOUR), 'leave', 'nothing makes it again');
  });

  test('is uncertain of another runtime alone, but for what the host itself does', () => {
    for (const step of [...OPERATION_STEPS.compact, ...OPERATION_STEPS.handover]) {
      assert.equal(isRepeatable(step, 'built-in'), true);
      assert.equal(isRepeatable(step, 'native'), step === 'archive-link' || step === 'seed', step);
    }
  });
});

describe('a quota whose end the provider named', () => {
  const quota = { until: NOW + HOUR, fault: FAULT };

  test('is waited for and is no failure', () => {
    const one = waitForQuota(tried(opened()), quota, NOW);
    assert.deepEqual([one?.state, one?.failures, one?.lifetimeFailures], ['waiting', 0, 0]);
    assert.equal(one?.nextAttemptAt, NOW + HOUR);
  });

  test('counts as a failure after ten in a row, and a failure or a success ends the row', () => {
    let one = opened();
    for (let waits = 0; waits < LIMITS.quotaWaitsMax; waits += 1) {
      const next = waitForQuota(tried(one), quota, NOW);
      assert.ok(next !== undefined);
      one = next;
    }
    assert.equal(waitForQuota(tried(one), quota, NOW), undefined);
    assert.ok(waitForQuota(failed(one, 1), quota, NOW) !== undefined);
    const handover = { ...one, kind: 'handover', step: 'summarise' } as const;
    assert.equal(passStep(tried(handover), NOW).quotaWaits, 0);
  });
});

describe('a fixed base that does not fit', () => {
  test('blocks it without a try or a failure, and keeps the sizes', () => {
    const sizes = { window: WINDOW, instructions: 9_000 };
    const one = blockTooLarge(opened(), sizes, NOW);
    assert.deepEqual([one.state, one.reason], ['blocked', 'base_too_large']);
    assert.deepEqual([one.attempts, one.failures, one.lifetimeFailures], [0, 0, 0]);
    assert.deepEqual(JSON.parse(one.fault ?? ''), sizes);
  });
});

describe('an admission', () => {
  test('opens a new epoch of the same operation; what it failed in its life stays', () => {
    const exhausted = failed(opened(), 7);
    const one = admitOperation(exhausted, { as: undefined, window: 9_000 }, NOW + HOUR);
    assert.deepEqual([one.id, one.epoch, one.state, one.reason], ['mop_1', 2, 'running', null]);
    assert.deepEqual([one.failures, one.lifetimeFailures], [0, 7]);
    assert.deepEqual([one.nextAttemptAt, one.window, one.fault], [NOW + HOUR, 9_000, null]);
    assert.equal(one.version, exhausted.version + 1);
    assert.equal(one.looksFirst, 'no');
    assert.equal(failed(one, 7).state, 'blocked', 'the epoch has seven of its own');
    assert.equal(failed(one, 7).lifetimeFailures, 14);
  });

  test('of an uncertain compact goes on as a handover from its first step', () => {
    const one = admitted(leaveUncertain(tried(opened()), FAULT, NOW), 'handover');
    assert.deepEqual([one.kind, one.step, one.work], ['handover', 'summarise', null]);
  });

  test('of any other uncertain step has it looked at before it is tried', () => {
    const summarised = leaveUncertain(tried(opened('handover')), FAULT, NOW);
    assert.equal(admitted(summarised).looksFirst, 'yes');
    assert.equal(passStep(tried(admitted(summarised)), NOW).looksFirst, 'no');
  });
});

describe('an operation that freed too little', () => {
  test('is tried again from its beginning with one failure more in the same epoch', () => {
    const done = passStep(tried(failed(opened(), 2)), NOW);
    const one = reopenOperation(done, FAULT, DELAYS, NOW);
    assert.deepEqual([one.id, one.epoch, one.state], ['mop_1', 1, 'waiting']);
    assert.deepEqual([one.failures, one.lifetimeFailures], [3, 3]);
    assert.equal(one.endedAt, null);
    assert.equal(one.nextAttemptAt, NOW + 4 * SECOND);
  });

  test('is a compact of the session that a handover led to', () => {
    const handed = { ...opened('handover'), step: 'seed', nextSessionId: 'sess_2' } as const;
    const one = reopenOperation(passStep(tried(handed), NOW), FAULT, DELAYS, NOW);
    assert.deepEqual([one.kind, one.step], ['compact', 'compact']);
    assert.deepEqual([one.sessionId, one.nextSessionId], ['sess_2', null]);
  });

  test('is blocked when that was the seventh', () => {
    const done = passStep(tried(failed(opened(), 6)), NOW);
    assert.equal(reopenOperation(done, FAULT, DELAYS, NOW).reason, 'exhausted');
  });
});

test('M-15 what arrives with its tries used up keeps its counts and is blocked without a try', () => {
  for (const failures of [7, 8, 40]) {
    const imported = { ...opened(), failures, lifetimeFailures: 50, attempts: 60 };
    assert.equal(judgeAttempt(imported, NOW), 'exhausted');
    const one = blockExhausted(imported, NOW);
    assert.deepEqual([one.state, one.reason], ['blocked', 'exhausted']);
    assert.deepEqual([one.failures, one.lifetimeFailures, one.attempts], [failures, 50, 60]);
  }
  const six = { ...opened(), failures: 6, lifetimeFailures: 6 };
  assert.equal(judgeAttempt(six, NOW), 'reserve');
  assert.equal(failed(six, 1).state, 'blocked', 'none gets a fresh budget');
});

describe('a fence', () => {
  test('stands while an operation is neither done nor dropped', () => {
    const states = Object.keys(OPERATION_MOVES) as OperationState[];
    const open = states.filter((state) => isOpen({ state }));
    assert.deepEqual(open, ['running', 'waiting', 'blocked']);
  });

  test('holds turns back while it is shut or blocked', () => {
    const fences = ['none', 'shut', 'blocked', 'passed'] as const;
    assert.deepEqual(
      fences.filter((fence) => isFenced({ fence })),
      ['shut', 'blocked'],
    );
  });
});

test('an operation that is dropped is over and holds nothing', () => {
  for (const one of [tried(opened()), failed(opened(), 1), failed(opened(), 7)]) {
    const dropped = dropOperation({ ...one, work: '{}' }, NOW);
    assert.deepEqual([dropped.state, dropped.endedAt, dropped.work], ['dropped', NOW, null]);
    assert.deepEqual([dropped.attemptAt, dropped.nextAttemptAt], [null, null]);
    assert.throws(() => dropOperation(passStep(opened(), NOW), NOW), /moves from done to dropped/);
  }
});

/** Whatever can happen to an operation, an admission beside. */
const HAPPENINGS: Readonly<
  Record<string, (one: OperationRecord, code: string, now: number) => OperationRecord | undefined>
> = {
  try: (one, _, now) => (judgeAttempt(one, now) === 'reserve' ? tried(one, now) : undefined),
  fail: (one, code, now) =>
    one.attemptAt === null
      ? undefined
      : failStep(one, { code, said: '' }, { firstDelayMs: code.length, maxDelayMs: now }, now),
  quota: (one, code, now) =>
    one.attemptAt === null
      ? undefined
      : waitForQuota(one, { until: now, fault: { code, said: '' } }, now),
  pass: (one, _, now) => (one.attemptAt === null ? undefined : passStep(one, now)),
  unsure: (one, code, now) =>
    one.attemptAt === null ? undefined : leaveUncertain(one, { code, said: '' }, now),
  reopen: (one, code, now) =>
    one.state === 'done' ? reopenOperation(one, { code, said: '' }, DELAYS, now) : undefined,
  large: (one, _, now) => (one.state === 'running' ? blockTooLarge(one, {}, now) : undefined),
  admit: (one) => (one.state === 'blocked' ? admitted(one) : undefined),
};

test('M-5 nothing but an admission takes a failure back, whatever happens and however it differs', () => {
  const happening = fc.record({
    what: fc.constantFrom(...Object.keys(HAPPENINGS)),
    code: fc.constantFrom('eio', 'timeout', 'summary_empty'),
    later: fc.integer({ min: 0, max: 2 * MINUTE }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom<OperationKind>('compact', 'handover'),
      fc.array(happening, { maxLength: 80 }),
      (kind, all) => {
        let one = opened(kind);
        let now = NOW;
        for (const { what, code, later } of all) {
          now += later;
          const next = HAPPENINGS[what]?.(one, code, now);
          if (next === undefined) continue;
          const isNew = what === 'admit';
          assert.equal(next.epoch, one.epoch + (isNew ? 1 : 0), what);
          if (!isNew) assert.ok(next.failures >= one.failures, what);
          assert.ok(next.failures <= MAX_RECOVERY_FAILURES, what);
          assert.ok(next.lifetimeFailures >= one.lifetimeFailures && next.attempts >= one.attempts);
          assert.equal(next.version, one.version + 1, what);
          one = next;
        }
      },
    ),
    { numRuns: 500 },
  );
});
