import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { writeHostFile } from '../../src/compose/host-file.ts';
import { runningHost } from '../../src/compose/running.ts';
import { storeFileOf } from '../../src/compose/store.ts';

test('R-14 a host is found only while the process that wrote its file holds the lock', async () => {
  const data = mkdtempSync(join(tmpdir(), 'sekisho-running-'));
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const file = {
    url: 'http://127.0.0.1:7420',
    pid: process.pid,
    startedAt: new Date(0).toISOString(),
  };
  try {
    assert.equal(runningHost(data), undefined);
    const store = openSqlite({ path: storeFileOf(data), clock, ids });
    assert.equal(runningHost(data), undefined);
    writeHostFile(data, file);
    assert.deepEqual(runningHost(data), file);
    writeHostFile(data, { ...file, pid: process.pid + 1 });
    assert.equal(
      runningHost(data),
      undefined,
      'the lock is held by another process than the file says',
    );
    writeHostFile(data, file);
    await store.close();
    assert.equal(runningHost(data), undefined, 'a file that a killed host left behind');
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
