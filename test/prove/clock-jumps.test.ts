import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canSetClock } from '../crash/clock-jumps.ts';
import { clockJumps } from './clock-jumps.ts';

test(
  `Y39 Y42 a clock that leaps two days ends no wait while it is doubted, and each once when it is believed${canSetClock ? '' : ' (skipped: libfaketime is not installed)'}`,
  { skip: !canSetClock },
  async () => {
    const order = { tier: 'full', from: 13, count: 1, say: () => {} } as const;
    const { ran, failures, figures = {} } = await clockJumps.run(order);
    assert.deepEqual(failures, []);
    assert.deepEqual([ran, figures['jumps'], figures['expired']], [1, 1, 1]);
  },
);

test('a proof in which no clock was set, or none was doubted, is red', () => {
  const judge = (sums: Readonly<Record<string, number>>): number =>
    clockJumps.judge?.(sums, 'full').length ?? 0;
  assert.equal(judge({ jumps: 20, doubts: 34, expired: 3 }), 0);
  for (const sums of [{}, { jumps: 20, doubts: 3, expired: 3 }, { jumps: 20, doubts: 34 }])
    assert.ok(judge(sums) > 0);
});
