import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '../../src/adapters/log/log.ts';

test('X-6 a log line is one JSON object without a secret, and steers no terminal', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.log');
  const redact = (line: string): string => line.replaceAll('hunter2', '[redacted]');
  const log = createLog({ redact, stderr: 'warn', file });
  const words = 'a\u001B[2J \u009B2J \u202Eb\nhunter2';
  log.info('it broke', { error: new Error(words), words });
  log.debug('not kept');
  await log.close();
  const [line = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  assert.deepEqual(rest, ['']);
  assert.match(line, /^[\x20-\x7e]+$/);
  const told = JSON.parse(line) as Record<string, string>;
  assert.deepEqual([told['level'], told['msg']], ['info', 'it broke']);
  assert.equal(told['words'], words.replace('hunter2', '[redacted]'));
  assert.match(told['error'] ?? '', /\n {4}at /);
});
