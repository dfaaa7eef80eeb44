import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogFile } from './file.ts';

test('a full log becomes the older one, and only one older one is kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'sekisho.log');
  const file = openLogFile(path, 10);
  for (const line of ['first\n', 'second\n', 'third\n']) file.write(line);
  file.close();
  assert.equal(readFileSync(path, 'utf8'), 'third\n');
  assert.equal(readFileSync(`${path}.1`, 'utf8'), 'second\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a log that others could read is closed to them, and what it held stays', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'sekisho.log');
  writeFileSync(path, 'before\n');
  chmodSync(path, 0o644);
  const file = openLogFile(path);
  file.write('after\n');
  file.close();
  assert.equal(readFileSync(path, 'utf8'), 'before\nafter\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a folder that is gone costs lines and nothing else', () => {
  const path = join(tmpdir(), 'sekisho-none', 'none', 'sekisho.log');
  const file = openLogFile(path);
  assert.doesNotThrow(() => {
    file.write('line\n');
    file.close();
  });
  assert.equal(existsSync(path), false);
});
