import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { enumerate } from './enumerate.ts';
import { describeEnumeration } from './report.ts';
import { SCENARIOS } from './scenarios.ts';

/** The quick tier dies at each so-many-th point; `npm run prove` at every one. */
const EVERY = 24;

/** What each scenario pins, in their order. */
const RULES = [
  'T-1',
  'E-1, E-2',
  'T-16',
  'V14',
  'W-1',
  'V4',
  'E-4, V4',
  'E-6',
  'T-11',
  'T-11',
  'T-11',
  'T-11',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-11, V2',
  'T-12, R-1',
  'T-18',
  'T-13',
  'T-18, V5',
  'T-6, R-1',
  'T-7',
  'R-1, R-3',
  'R-6, R-8',
  'R-4',
  'R-4',
  'B-2, R-1',
  'B-4, B-8',
  'T-15',
  'M-8, M-12',
  'M-3, M-12',
  'V19, M-6',
  'M-16, M-19',
  'M-4, M-7',
  'M-21',
  'M-8, M-17',
  'M-13',
  'M-6, M-7',
  'M-3, M-6',
  'M-18',
];

describe('a host dies, or a person speaks, at points of', () => {
  // The least number of points: a scenario that got shorter must say so here.
  const points: readonly number[] = [
    25, 45, 60, 25, 25, 50, 45, 40, 45, 60, 60, 60, 45, 45, 45, 45, 45, 45, 45, 45, 50, 120, 40,
    100, 40, 45, 90, 120, 90, 70, 90, 110, 80, 120, 110, 180, 350, 330, 130, 130, 110, 190, 200,
    120,
  ];
  for (const [index, scenario] of SCENARIOS.entries()) {
    test(`${RULES[index] ?? 'V2'}: ${scenario.name}`, async (context) => {
      const enumeration = await enumerate(scenario, EVERY);
      context.diagnostic(describeEnumeration(enumeration));
      assert.deepEqual(enumeration.failures, []);
      assert.ok(enumeration.points >= (points[index] ?? 1), `${enumeration.points} points`);
      assert.equal(enumeration.played, Math.ceil(enumeration.points / EVERY));
    });
  }
  test('each scenario has its least number of points', () => {
    assert.equal(points.length, SCENARIOS.length);
    assert.equal(RULES.length, SCENARIOS.length);
  });
});
