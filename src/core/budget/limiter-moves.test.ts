import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../kernel/limits.ts';
import {
  afterFault,
  afterRelease,
  afterSign,
  afterSuccess,
  afterTries,
  openLimiter,
  reserveCheapProbe,
  reserveProbe,
  admit,
} from './limiter.ts';
import { LIMITER_MOVES, type LimiterRecord } from './record.ts';

/** Something that is heard of an account, as its limiter takes it at `now`. */
type News = (row: LimiterRecord, now: number) => LimiterRecord;

const fault = fc.record({
  class: fc.constantFrom('refused', 'transient', 'aborted', 'nonsense'),
  code: fc.constant('http_503'),
  after: fc.option(fc.integer({ min: -1_000, max: 4 * LIMITS.quotaParkMs })),
  scope: fc.constantFrom('account', 'model', 'request'),
  isProbe: fc.boolean(),
});
const news: fc.Arbitrary<News> = fc.oneof(
  fault.map(({ after, isProbe, ...told }): News => {
    return (row, now) => {
      const retryAt = after === null ? null : now + after;
      return afterFault(row, { ...told, retryAt }, { now, isProbe });
    };
  }),
  fc.boolean().map(
    (isProbe): News =>
      (row, now) =>
        afterSuccess(row, { now, isProbe }),
  ),
  fc.boolean().map(
    (isProbe): News =>
      (row, now) =>
        afterRelease(row, { now, isProbe }),
  ),
  fc.constantFrom<News>(
    (row, now) => (admit(row, now).kind === 'probe' ? reserveProbe(row, now) : row),
    (row, now) => (row.state === 'down' ? reserveCheapProbe(row, now) : row),
    (row, now) => afterTries(row, 'timeout', now),
    afterSign,
  ),
);
const steps = fc.array(fc.tuple(fc.nat(2 * LIMITS.probeMaxMs), news), { maxLength: 40 });

test('whatever is heard of an account, its limiter moves as the table says and no other way', () => {
  const made = new Set<string>();
  fc.assert(
    fc.property(steps, (list) => {
      let now = 1_000_000;
      let row = openLimiter('x', now);
      for (const [pause, hear] of list) {
        now += pause;
        const next = hear(row, now);
        if (next.state !== row.state) {
          const allowed: readonly string[] = LIMITER_MOVES[row.state];
          assert.ok(allowed.includes(next.state), `${row.state} to ${next.state}`);
          made.add(`${row.state} ${next.state}`);
        }
        row = next;
      }
    }),
    { numRuns: 2_000 },
  );
  const all = Object.entries(LIMITER_MOVES).flatMap(([from, to]) =>
    to.map((end) => `${from} ${end}`),
  );
  assert.deepEqual([...made].toSorted(), all.toSorted());
});
