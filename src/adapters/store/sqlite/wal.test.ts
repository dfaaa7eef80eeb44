import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../../kernel/limits.ts';
import { WalWatch } from './wal.ts';

test('commits look at the log now and then, whoever asks looks at once', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-wal-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const told: string[] = [];
  const say = (message: string): void => void told.push(message);
  const watch = new WalWatch({ path, clock: { now: () => 7 }, log: { info: say, warn: say } });
  writeFileSync(`${path}-wal`, '');
  truncateSync(`${path}-wal`, LIMITS.storeLogAlarmBytes + 1);
  watch.committed();
  assert.deepEqual(told, []);
  for (let commits = 1; commits < 64; commits += 1) watch.committed();
  assert.equal(told.length, 1);
  truncateSync(`${path}-wal`, 0);
  assert.equal(watch.alarm, null);
  assert.equal(told.length, 2);
});
