import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFECTS } from './defects.ts';
import { drillOne } from './drill.ts';

/** Most defects break a rule in nearly every world. */
const SEEDS = 10;
/** Fewer say that the worlds have become too quiet, or their judges blind. */
const CAUGHT_FLOOR = 25;

test('a few seeds catch most of the planted defects; `npm run prove` looks for all', async (context) => {
  let caught = 0;
  for (const defect of DEFECTS) {
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const { caughtAt, problem } = await drillOne(defect, SEEDS);
    if (caughtAt === null) continue;
    caught += 1;
    context.diagnostic(`${defect.name}: seed ${caughtAt}: ${problem}`);
  }
  assert.ok(caught >= CAUGHT_FLOOR, `${caught} of ${DEFECTS.length} defects were caught`);
});
