import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts';
import {
  confirmed,
  distrustLeft,
  driftOf,
  observe,
  startGuard,
  type ClockGuard,
  type Clocks,
} from './clock-guard.ts';

const WALL = 1_800_000_000_000;
const START: Clocks = { wall: WALL, uptime: 500 };

/** Both clocks after this time, and the wall's set by so much. */
function after(ms: number, set = 0): Clocks {
  return { wall: WALL + ms + set, uptime: START.uptime + ms };
}

describe('a wall clock that runs with the uptime', () => {
  const { guard, news } = startGuard(START, WALL);

  test('is believed, whatever time passes', () => {
    assert.equal(news, 'none');
    for (const ms of [0, DAY, 400 * DAY])
      assert.deepEqual(observe(guard, after(ms)), { guard, news: 'none' });
    assert.equal(distrustLeft(guard, after(DAY)), 0);
  });

  test('is believed up to one hour away, in both directions', () => {
    for (const set of [HOUR, -HOUR]) {
      assert.equal(observe(guard, after(MINUTE, set)).news, 'none');
      const gone = observe(guard, after(MINUTE, set + Math.sign(set)));
      assert.equal(gone.news, 'distrusted');
      assert.equal(driftOf(gone.guard, after(MINUTE, set)), set);
    }
  });
});

describe('a wall clock that ran away', () => {
  const away = observe(startGuard(START, null).guard, after(MINUTE, 5 * HOUR)).guard;

  test('is told of once and stays so', () => {
    assert.deepEqual(observe(away, after(2 * MINUTE, 5 * HOUR)), { guard: away, news: 'none' });
    assert.equal(distrustLeft(away, after(2 * MINUTE)), LIMITS.clockDistrustMs - MINUTE);
  });

  test('is believed again once it is back, against what it was measured by before', () => {
    const back = observe(away, after(2 * MINUTE));
    assert.equal(back.news, 'trusted');
    assert.equal(driftOf(back.guard, after(HOUR)), 0);
  });

  test('is believed as it stands after ten minutes of the uptime', () => {
    const late = after(MINUTE + LIMITS.clockDistrustMs, 5 * HOUR);
    assert.equal(observe(away, { ...late, uptime: late.uptime - 1 }).news, 'none');
    const over = observe(away, late);
    assert.equal(over.news, 'trusted');
    assert.equal(observe(over.guard, after(DAY, 5 * HOUR)).news, 'none');
    assert.equal(observe(over.guard, after(DAY)).news, 'distrusted', 'the old time is wrong now');
  });

  test('is believed as it stands when a person says so', () => {
    const seen = after(2 * MINUTE, 5 * HOUR);
    assert.deepEqual(observe(confirmed(seen), after(3 * MINUTE, 5 * HOUR)).news, 'none');
  });
});

describe('a wall clock that stands before the last commit at the start', () => {
  test('is not believed, however little it is', () => {
    for (const behind of [1, SECOND, 3 * DAY]) {
      const started = startGuard(START, WALL + behind);
      assert.equal(started.news, 'distrusted');
      assert.equal(driftOf(started.guard, START), -behind);
    }
    assert.equal(startGuard(START, WALL).news, 'none');
    assert.equal(startGuard(START, null).news, 'none');
  });

  test('is believed once it has reached that commit, or after ten minutes', () => {
    const { guard } = startGuard(START, WALL + 5 * MINUTE);
    assert.equal(observe(guard, after(5 * MINUTE - 1)).news, 'none');
    assert.equal(observe(guard, after(5 * MINUTE)).news, 'trusted');
    const set = observe(guard, after(SECOND, 3 * DAY));
    assert.equal(set.news, 'trusted', 'a time server set it right');
    assert.equal(observe(set.guard, after(MINUTE, 3 * DAY)).news, 'none');
    const far = startGuard(START, WALL + 3 * DAY).guard;
    assert.equal(observe(far, after(LIMITS.clockDistrustMs)).news, 'trusted');
  });
});

test('any clock is believed after ten quiet minutes at the latest, and each doubt is told of once', () => {
  const sets = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 15 * MINUTE }),
      set: fc.oneof(fc.constant(0), fc.integer({ min: -5 * HOUR, max: 5 * HOUR })),
    }),
    { maxLength: 50 },
  );
  fc.assert(
    fc.property(sets, fc.integer({ min: -DAY, max: DAY }), (all, ahead) => {
      let seen = START;
      let { guard, news }: { guard: ClockGuard; news: string } = startGuard(seen, WALL + ahead);
      let doubts = news === 'distrusted' ? 1 : 0;
      for (const { ms, set } of all) {
        seen = { wall: seen.wall + ms + set, uptime: seen.uptime + ms };
        const was = guard.distrust !== null;
        ({ guard, news } = observe(guard, seen));
        const is = guard.distrust !== null;
        assert.equal(news, was === is ? 'none' : is ? 'distrusted' : 'trusted');
        if (news !== 'none') doubts += news === 'distrusted' ? 1 : -1;
        assert.equal(doubts, is ? 1 : 0);
        assert.ok(is || Math.abs(driftOf(guard, seen)) <= LIMITS.clockDriftMs);
      }
      const quiet = { wall: seen.wall, uptime: seen.uptime + LIMITS.clockDistrustMs };
      const settled = observe(guard, { ...quiet, wall: seen.wall + LIMITS.clockDistrustMs });
      assert.equal(settled.guard.distrust, null);
    }),
  );
});
