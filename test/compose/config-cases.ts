// Configurations in folders of their own, and what is wrong with them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadConfig, type Config } from '../../src/compose/config/load.ts';
import { ConfigBroken, type ConfigProblem } from '../../src/compose/config/problem.ts';

interface Case {
  readonly text?: string;
  readonly env?: Record<string, string>;
  readonly flags?: Parameters<typeof loadConfig>[0]['flags'];
}

export function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function load(folder: string, given: Case): Promise<Config> {
  if (given.text !== undefined) writeFileSync(join(folder, 'sekisho.yaml'), given.text);
  return loadConfig({ cwd: folder, env: given.env ?? {}, flags: given.flags ?? {} });
}

export async function problemsOf(folder: string, given: Case): Promise<readonly ConfigProblem[]> {
  const error = await load(folder, given).then(
    () => assert.fail('the configuration was accepted'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConfigBroken, String(error));
  return error.problems;
}

export function keyWith(line: string): string {
  return `api:\n  keys:\n  - name: ops\n    ${line}\n`;
}
