import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasStrace } from '../crash/syscall-host.ts';
import { powerCuts } from './power-cuts.ts';

test(
  `T-1 I-1 a power cut at any point loses no acknowledged message, and a store that syncs less does${hasStrace ? '' : ' (skipped: strace is not installed)'}`,
  { skip: !hasStrace },
  async (t) => {
    const say = (line: string): void => t.diagnostic(line);
    const result = await powerCuts.run({ tier: 'full', from: 1, count: 20, say });
    t.diagnostic(JSON.stringify(result.figures));
    assert.deepEqual(result.failures, []);
    assert.equal(result.ran, 20);
    assert.deepEqual(powerCuts.judge?.(result.figures ?? {}, 'full'), []);
  },
);
