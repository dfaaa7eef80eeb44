import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killCycles } from './kill.ts';

/** The quick tier; `npm run kill -- --cycles 200` is the long one. */
const CYCLES = 3;

test('T-16 E-1 V2 kill -9 under load loses nothing, repeats nothing and answers everything once', async (t) => {
  const tally = await killCycles(CYCLES, 11);
  t.diagnostic(JSON.stringify(tally));
  assert.equal(tally.cycles, CYCLES);
  assert.ok(tally.answered > 0 && tally.acked > CYCLES, 'the load must have done something');
  assert.ok(tally.interrupted > 0 && tally.assessments > 0, 'the kills must have cut something');
  assert.ok(tally.shortened > 0, 'sessions must have outgrown their window');
  assert.equal(tally.answered, tally.acked);
});
