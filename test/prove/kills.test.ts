import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kills } from './kills.ts';

test('T-16 the kill campaign runs as a proof', async () => {
  const {
    ran,
    failures,
    figures = {},
  } = await kills.run({
    tier: 'full',
    from: 1,
    count: 1,
    say: () => {},
  });
  assert.deepEqual(failures, []);
  assert.deepEqual([ran, figures['cycles']], [1, 1]);
  assert.equal(figures['answered'], figures['acked']);
});

test('a kill campaign in which nothing was cut is red', () => {
  const met = { cycles: 400, acked: 900, answered: 900, interrupted: 900, assessments: 900 };
  const all = { ...met, cutStarts: 40, shortened: 200, cutTries: 40, uncertain: 20 };
  const judge = (sums: Readonly<Record<string, number>>): number =>
    kills.judge?.(sums, 'full').length ?? 0;
  assert.equal(judge(all), 0);
  for (const name of ['acked', 'interrupted', 'cutStarts', 'shortened', 'cutTries', 'uncertain'])
    assert.ok(judge({ ...all, [name]: 0 }) > 0, `no ${name} must be red`);
});
