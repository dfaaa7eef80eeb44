import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFECTS } from './defects.ts';
import { drillOne } from './drill.ts';

/** One defect of so many. */
const EVERY = 8;
/** Most defects break a rule in nearly every world. */
const SEEDS = 10;
/** Fewer say that the worlds have become too quiet, or their judges blind. */
const CAUGHT_FLOOR = 4;

test('a few seeds catch planted defects; `npm run prove` looks for all of them', async (context) => {
  const sample = DEFECTS.filter((_, at) => at % EVERY === 0);
  let caught = 0;
  for (const defect of sample) {
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const { caughtAt, problem } = await drillOne(defect, SEEDS);
    if (caughtAt === null) continue;
    caught += 1;
    context.diagnostic(`${defect.name}: seed ${caughtAt}: ${problem}`);
  }
  assert.ok(caught >= CAUGHT_FLOOR, `${caught} of ${sample.length} defects were caught`);
});
