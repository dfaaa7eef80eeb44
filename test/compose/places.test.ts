import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/compose/config/load.ts';
import { problemLine } from '../../src/compose/config/problem.ts';
import { folderOf, keyWith, load, problemsOf } from './config-cases.ts';

describe('G-1: what is named and is not on the disk as it must be', () => {
  const cases: readonly [what: string, text: string, expected: RegExp][] = [
    [
      'instructions that are not there',
      'locale: en\nagent: { instructions: NONE.md }\n',
      /^sekisho\.yaml:2: agent\.instructions: .*NONE\.md: there is no such file/,
    ],
    [
      'instructions of an agent that are not there',
      'agents:\n- name: A\n  instructions: NONE.md\n',
      /^sekisho\.yaml:3: agents\.0\.instructions: .*there is no such file/,
    ],
    [
      'instructions that are a folder',
      'agent: { instructions: . }\n',
      /agent\.instructions: .*is a folder/,
    ],
    ['a workspace that is a file', 'workspace: sekisho.yaml\n', /:1: workspace: .*is no folder/],
    ['data that is a file', 'data: sekisho.yaml\n', /:1: data: .*is no folder/],
    ['a workspace around the records', 'workspace: .\n', /:1: workspace: .*lie in one another/],
    ['a workspace in the records', 'workspace: data/x\n', /:1: workspace: .*lie in one another/],
    [
      'an agent that works in the records',
      'agents:\n- { name: A, workspace: a }\n- { name: B, workspace: data/b }\n',
      /:3: agents\.1\.workspace: .*lie in one another/,
    ],
  ];
  for (const [what, text, expected] of cases) {
    test(what, async (t) => {
      const folder = folderOf(t);
      const problems = await problemsOf(folder, { text });
      assert.match(problems.map(problemLine).join('\n'), expected);
      assert.deepEqual(readdirSync(folder), ['sekisho.yaml']);
    });
  }

  test('the default instructions may be missing, named or not', async (t) => {
    await load(folderOf(t), { text: 'agent: { instructions: ./AGENT.md }\n' });
    await load(folderOf(t), {});
  });

  test('and no secret is looked for by who needs none', async (t) => {
    const cwd = folderOf(t);
    const text = keyWith('secret: { env: NOT_SET }\n    scopes: [run]');
    writeFileSync(join(cwd, 'sekisho.yaml'), `agent: { instructions: NONE.md }\n${text}`);
    const config = await loadConfig({ cwd, env: {}, use: 'records' });
    assert.deepEqual(config.secrets.apiKeys, []);
    await assert.rejects(loadConfig({ cwd, env: {} }), /NOT_SET is not set/);
  });
});
