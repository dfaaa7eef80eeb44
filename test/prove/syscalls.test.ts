import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasStrace } from '../crash/syscall-host.ts';
import { syscallKills } from './syscalls.ts';

test(
  `T-16 I-1 a host that is killed at a call to the disk has lost nothing and answers once${hasStrace ? '' : ' (skipped: strace is not installed)'}`,
  { skip: !hasStrace },
  async (t) => {
    // One call of each kind: the places of the rare ones come first.
    const result = await syscallKills.run({
      tier: 'full',
      from: 1,
      count: 3,
      say: t.diagnostic.bind(t),
    });
    t.diagnostic(JSON.stringify(result.figures));
    assert.deepEqual(result.failures, []);
    assert.equal(result.ran, 3);
  },
);
