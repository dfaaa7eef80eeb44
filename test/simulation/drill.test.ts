import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFECTS } from './defects.ts';
import { drillOne } from './drill.ts';

describe('a planted defect is caught:', () => {
  for (const defect of DEFECTS) {
    test(defect.name, async (context) => {
      const drilled = await drillOne(defect);
      const other = drilled.problem === null ? '' : `; it broke ${drilled.problem}`;
      assert.notEqual(drilled.caughtAt, null, `not caught in ${drilled.seeds} seeds${other}`);
      context.diagnostic(`seed ${drilled.caughtAt}: ${drilled.problem}`);
    });
  }
});
