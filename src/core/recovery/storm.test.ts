import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { HOUR, MINUTE, SECOND, type Instant } from '../../kernel/time.ts';
import type { HostRecord } from '../lease/record.ts';
import type { StormRecord } from './record.ts';
import { judgeStart, stormEndsAt, stormWindowSince } from './storm.ts';

const NOW = 1_800_000_000_000;

/** A host whose unclean end the start at `foundAt` has found. */
function lost(foundAt: Instant, key = foundAt): HostRecord {
  return {
    id: `host_${key}`,
    pid: 1,
    startedAt: foundAt - MINUTE,
    aliveUntil: foundAt - MINUTE + LIMITS.leaseMs,
    stoppedAt: foundAt,
    end: 'lost',
  };
}

function storm(given: Partial<StormRecord> = {}): StormRecord {
  const since = NOW - 20 * MINUTE;
  return { id: 'storm_1', since, lastAt: since, endedAt: null, endedBy: null, ...given };
}

/** The verdict on a start at NOW, by how long before it each unclean end was found. */
function judge(before: readonly number[], last?: StormRecord): string {
  return judgeStart({
    startedAt: NOW,
    now: NOW + SECOND,
    lost: before.map((ms) => lost(NOW - ms)),
    last,
  }).kind;
}

describe('a storm of crashes begins', () => {
  test('with the third unclean start within ten minutes, and not before', () => {
    assert.equal(judge([0]), 'none');
    assert.equal(judge([0, MINUTE]), 'none');
    assert.equal(judge([0, MINUTE, 2 * MINUTE]), 'begin');
    assert.equal(judge([0, MINUTE, 10 * MINUTE]), 'begin');
    assert.equal(judge([0, MINUTE, 10 * MINUTE + 1]), 'none');
  });

  test('and says how many starts it counted', () => {
    const starts = [0, 1, 2, 3].map((minutes) => lost(NOW - minutes * MINUTE));
    const verdict = judgeStart({
      startedAt: NOW,
      now: NOW + SECOND,
      lost: starts,
      last: undefined,
    });
    assert.deepEqual(verdict, { kind: 'begin', starts: 4 });
  });

  test('with no start that found nobody lost, whatever was found before', () => {
    assert.equal(judge([SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND]), 'none');
  });

  test('with a start counted once, however many it found', () => {
    const together = [1, 2, 3].map((key) => lost(NOW, key));
    assert.equal(
      judgeStart({ startedAt: NOW, now: NOW + SECOND, lost: together, last: undefined }).kind,
      'none',
    );
  });

  test('with none that was found before the end of the last storm', () => {
    const ended = storm({ endedAt: NOW - MINUTE, endedBy: 'key:ops' });
    assert.equal(judge([0, MINUTE, 2 * MINUTE, 3 * MINUTE], ended), 'none');
    assert.equal(judge([0, SECOND, MINUTE], ended), 'none');
    assert.equal(judge([0, SECOND, MINUTE - 1], ended), 'begin');
  });

  test('with none that lies ahead, as under a clock that was set back', () => {
    assert.equal(judge([0, -MINUTE, -HOUR]), 'none');
    const ahead = storm({ endedAt: NOW + HOUR, endedBy: 'key:ops' });
    assert.equal(judge([0, MINUTE, 2 * MINUTE], ahead), 'begin');
  });
});

describe('an open storm', () => {
  test('goes on over a clean start until an hour without an unclean end has passed', () => {
    const lastAt = NOW - HOUR;
    assert.equal(judge([], storm({ lastAt: lastAt + 1 })), 'on');
    assert.equal(judge([], storm({ lastAt })), 'over');
    assert.equal(stormEndsAt({ lastAt }), NOW);
  });

  test('begins its calm anew with each unclean start, however late', () => {
    assert.equal(judge([0], storm()), 'again');
    assert.equal(judge([0], storm({ lastAt: NOW - 5 * HOUR })), 'again');
  });

  test('does not last for as long as the clock was set back', () => {
    assert.equal(judge([], storm({ lastAt: NOW + 24 * HOUR })), 'again');
    assert.equal(
      judge([], storm({ lastAt: NOW })),
      'on',
      'at this very instant it was not set back',
    );
  });
});

test('the window holds its own beginning', () => {
  assert.equal(stormWindowSince(NOW), NOW - LIMITS.stormWindowMs - 1);
});

test('an end between a start and its judgement counts: none from before it', () => {
  const ended = storm({ endedAt: NOW + SECOND / 2, endedBy: 'key:ops' });
  assert.equal(judge([0, MINUTE, 2 * MINUTE], ended), 'none');
  const just = { ...ended, endedAt: NOW + SECOND };
  assert.equal(judge([0, MINUTE, 2 * MINUTE], just), 'none', 'one of this instant counts');
  const ahead = storm({ endedAt: NOW + HOUR, endedBy: 'key:ops' });
  assert.equal(judge([0, MINUTE, 2 * MINUTE], ahead), 'begin', 'one of another clock does not');
});
