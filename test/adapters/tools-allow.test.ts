// A command that begins as configured runs unasked: the strict reading of a command that this needs,
// and the wide one of what a command could name.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import { simpleWords, wordsIn } from '../../src/adapters/tools/command-words.ts';
import { bench, clock } from './tools-workbench.ts';

const NO_SANDBOX = { unavailable: 'bubblewrap is not installed' };
const posix = { skip: process.platform === 'win32' };

describe('an allowed beginning', posix, () => {
  const ALLOW = [['git', 'status'], ['ls'], []];

  async function asks(command: string): Promise<boolean> {
    await using at = await bench({ sandbox: NO_SANDBOX, command: { allow: ALLOW } });
    return (await at.examine('command', { command })).needsApproval;
  }

  for (const command of [
    'ls',
    'ls -la',
    '  ls\t-la ',
    'ls \'a; b\' "c & d"',
    "'ls' -l",
    'l""s',
    'git status',
    'git   status --short -- a/b.txt',
    'git "status"',
  ]) {
    test(`lets this run unasked: ${command}`, async () => {
      assert.equal(await asks(command), false);
    });
  }

  for (const command of [
    'git',
    'git log',
    'git stat',
    'git statusx',
    'gitstatus',
    'GIT status',
    './git status',
    '/usr/bin/git status',
    'env git status',
    'x=1 git status',
    'PATH=. ls',
    'ls; id',
    'ls;id',
    'ls & id',
    'ls && id',
    'ls || id',
    'ls | sh',
    'ls > /etc/passwd',
    'ls >> a',
    'ls < a',
    'ls <(id)',
    'ls `id`',
    'ls $(id)',
    'ls $((1))',
    'ls $HOME',
    'ls ${HOME}',
    'ls "$(id)"',
    'ls "`id`"',
    'ls "\\"; id; \\""',
    "ls '\\''; id; '\\'",
    "ls $'a'",
    'ls \nid',
    'ls\rid',
    'ls "a\nid"',
    'ls \\\nid',
    'ls a\\ b',
    'ls *',
    'ls ?',
    'ls [a]',
    'ls ~',
    'ls {a,b}',
    'ls # id',
    'ls !id',
    'ls "!id"',
    'ls ^id',
    '! ls',
    '{ ls; }',
    '(ls)',
    "ls 'a",
    'ls "a',
    'ls\u00a0a',
    'ls\u2028id',
    'ls\0id',
    'ls \u001b[2J',
    'ls()',
    '',
  ]) {
    test(`does not cover ${JSON.stringify(command)}`, async () => {
      assert.equal(simpleWords(command)?.[0] === 'ls', false);
      if (command !== '' && !command.includes('\0')) assert.equal(await asks(command), true);
    });
  }

  test('is no name for a program that the workspace holds', async () => {
    await using at = await bench();
    await mkdir(join(at.workspace, 'bin'));
    await writeFile(join(at.workspace, 'bin/ls'), '#!/bin/sh\n', { mode: 0o755 });
    for (const path of [`${at.workspace}/bin:/bin`, 'bin:/bin', ':/bin']) {
      const tools = builtInTools({
        workspace: at.workspace,
        clock,
        environment: { PATH: path },
        sandbox: NO_SANDBOX,
        command: { allow: [['ls']] },
      });
      const folder = path.startsWith(':') ? 'bin' : '.';
      const args = JSON.stringify({ command: 'ls', folder });
      const call = { name: 'command', args, stepId: 's' };
      assert.equal((await tools.examine(call)).needsApproval, true, path);
    }
  });

  test('runs exactly what was read', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX, command: { allow: [['printf']] } });
    const command = `printf '%s|' 'a; b' "c & d" e'f'"g"`;
    assert.deepEqual(simpleWords(command), ['printf', '%s|', 'a; b', 'c & d', 'efg']);
    assert.equal((await at.call('command', { command })).text, 'a; b|c & d|efg|');
  });
});

test('the words of a command are found wherever a shell could find them', () => {
  const words = wordsIn(
    `A=b.txt x"y z"'w' \\q "in\\"ner" \`cat t1\` $(cat t2) (t3);t4&&t5|t6>t7<t8 sh -c "sh -c 'cat t9'" l\\\nong`,
  );
  const named = 'b.txt|xy zw|q|in"ner|t1|t2|t3|t4|t5|t6|t7|t8|t9|long'.split('|');
  assert.deepEqual(
    named.filter((word) => !words.includes(word)),
    [],
  );
});
