import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasStrace } from '../crash/syscall-host.ts';
import { ioErrors } from './io-errors.ts';

test(
  `G-6 Y64 an error of the disk at any call ends the host with a sentence, or is outlived, and nothing is lost${hasStrace ? '' : ' (skipped: strace is not installed)'}`,
  { skip: !hasStrace },
  async (t) => {
    const say = (line: string): void => t.diagnostic(line);
    // The first calls are of the file that says where the host is: each error, once and from there on.
    const result = await ioErrors.run({ tier: 'full', from: 1, count: 6, say });
    t.diagnostic(JSON.stringify(result.figures));
    assert.deepEqual(result.failures, []);
    assert.equal(result.ran, 6);
  },
);
